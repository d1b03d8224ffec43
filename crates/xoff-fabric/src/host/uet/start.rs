//! A message starts.

use xoff_engine::{Domain, Time, stream};
use xoff_schemes::nscc::{NsccEnv, Window};
use xoff_schemes::rccc::Credit;
use xoff_schemes::uet::max_window;

use super::UetNic;
use super::entropy::Entropy;
use super::sender::{Outstanding, UetSender};
use crate::ctx::Ctx;
use crate::host::Hosts;
use crate::host::message::Message;
use crate::ids::FlowId;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::DATA;
use crate::settings::BaseRtt;

/// Number of the first connection's stream for EVs.
const FIRST_STREAM: u64 = 1 << 41;

impl Hosts<UetNic> {
    pub(super) fn uet_start<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, flow: FlowId) {
        let net = ctx.net.clone();
        let (f, connection) = (net.flows.of(flow), net.connections.of(flow));
        let port = net.data_path(flow)[0];
        let paused_before = links.stopped_for(ctx.now, port, DATA + f.priority);
        let message = Message::new(flow, f, ctx.now, ctx.simulated(), paused_before);
        ctx.changes += 1;
        ctx.probes.on_flow_start(ctx.now, flow);
        let nic = self.nic_of(links, port);
        self.nics[nic as usize].counts.open_out += 1;
        let env = net.flow_env(connection);
        let control = net.scheme.uet().unwrap_or_default();
        let (rate, size) = (env.line_rate, f.size.bytes().unwrap_or(0));
        let network_rtt = net.uet_rtt();
        let base_rtt = match net.settings.host.base_rtt {
            BaseRtt::Max => network_rtt,
            BaseRtt::PerPair => env.base_rtt,
        };
        let nscc = NsccEnv {
            now: ctx.now,
            line_rate: rate,
            network_rtt,
            base_rtt,
            mtu: net.wire.frame(),
            payload: net.wire.payload,
            trims: net.settings.switch.trimming.is_some(),
        };
        let max = max_window(rate, base_rtt);
        let uet = &net.settings.host.uet;
        let packets_of_window = (max / net.wire.frame()) as u32;
        let random = stream(net.seed, Domain::Routing, FIRST_STREAM + u64::from(connection.0));
        self.shared.senders[connection.index()] = Some(Box::new(UetSender {
            out: Outstanding::default(),
            message,
            left: size,
            packets: size.div_ceil(net.wire.payload) as u32,
            requests: 0,
            requested_at: None,
            nic,
            priority: f.priority,
            window: control.nscc.map(|params| Box::new(Window::new(&params, &nscc))),
            credit: control.rccc.map(|_| Credit::new(max)),
            base_rtt,
            entropy: Entropy::new(uet.entropy, uet.paths, packets_of_window, random),
            is_ready: false,
            armed: Time::NEVER,
        }));
        self.uet_make_ready(ctx, links, connection);
    }
}
