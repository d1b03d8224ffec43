//! Stop-and-go, as in Myrinet (Boden et al., IEEE Micro 15(1), 1995): a receiver whose slack buffer fills to one threshold
//! sends STOP, and when the buffer has drained to another one GO. The symbols travel beside the data.
//!
//! This smallest flow control has its settings and its control in one file. It is the example of CONTRIBUTING.md and is
//! compiled only for tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, MessageSize, Time, Violation};

use super::{Accounting, Ctx, LinkControl, Links, Network, Overflow, QueueId};
use crate::settings::{FlowControlKind, Thresholds};

/// Stop-and-go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StopAndGo {
    /// STOP when a port's ingress bytes of a priority exceed this.
    pub stop: Bytes,
    /// GO when those bytes fall to this.
    pub go: Bytes,
    /// Room above `stop`.
    pub slack: Bytes,
}

impl Default for StopAndGo {
    fn default() -> Self {
        StopAndGo { stop: Bytes(100_000), go: Bytes(80_000), slack: Bytes(100_000) }
    }
}

impl FlowControlKind for StopAndGo {
    const NAME: &'static str = "stop_and_go";

    fn validate(&self) -> Vec<Violation> {
        let above = self.go > self.stop;
        let violation = || {
            let found = format!("is {}, above `stop`, {}", self.go, self.stop);
            Violation::new("go", found, format!("at most {}", self.stop))
        };
        above.then(violation).into_iter().collect()
    }

    fn thresholds(&self) -> Option<Thresholds> {
        Some(Thresholds { stop: self.stop.0, go: self.go.0, slack: self.slack.0 })
    }
}

/// The values of a symbol.
const GO: u32 = 0;
const STOP: u32 = 1;

/// The control of a link's two ends. The other state is in the ingress queue's accounting and in the egress queue's stop.
pub(crate) struct Control {
    /// When the last GO of an ingress queue arrives at its peer, by queue.
    freed_at: Vec<Time>,
}

impl Control {
    /// Tells the peer of an ingress queue to stop or to go on, with a symbol of one byte.
    fn tell(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        symbol: u32,
    ) {
        accounting.set_pausing(queue, symbol == STOP);
        let now = ctx.now;
        if symbol == GO {
            let port = queue.port(links.priorities);
            links.control.freed_at[queue.index()] = links.ports[port.index()].symbol_arrival(now, 1);
        }
        links.signal_peer(ctx, queue, symbol, now, 1);
    }
}

impl LinkControl for Control {
    fn new(net: &Network) -> Self {
        let queues = net.topology.ports() as usize * usize::from(net.settings.switch.priorities);
        Control { freed_at: vec![Time::ZERO; queues] }
    }

    fn admit(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) -> Result<(), Overflow> {
        if accounting.charge(queue, size)? {
            Self::tell(links, ctx, accounting, queue, STOP);
        }
        Ok(())
    }

    fn release(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) {
        if accounting.release(queue, size) {
            Self::tell(links, ctx, accounting, queue, GO);
        }
    }

    /// A symbol has come for an egress queue.
    fn on_event(links: &mut Links<Self>, ctx: &mut Ctx, _: &mut Accounting, _: u32, index: u32, symbol: u32) {
        match symbol {
            GO => links.resume(ctx, QueueId(index)),
            _ => links.stop(ctx, QueueId(index)),
        }
    }

    /// The ingress is still over its threshold, and no GO is under way, which would let a packet go before the STOP behind it.
    fn is_blocked(
        here: &Links<Self>,
        there: &Links<Self>,
        accounting: &Accounting,
        queue: QueueId,
        now: Time,
    ) -> bool {
        let ingress = queue.other_end(here.priorities).index();
        accounting.buffers[ingress].is_pausing() && there.control.freed_at[ingress] <= now
    }
}

#[cfg(test)]
mod tests {
    use xoff_engine::Rate;
    use xoff_schemes::AnyScheme;

    use super::*;
    use crate::ids::NodeId;
    use crate::ids::PortId;
    use crate::path::topology::{AnyTopology, Star, TopologyKind};
    use crate::routing::{Routing, StaticRoute, StaticRoutes};
    use crate::settings::{FlowControl, Settings};
    use crate::{Flow, Recording, Simulation};

    const FRAME: u64 = 1518;

    /// h0 and h1 send to h2 through one switch for 10 us; 100 Gbps and 1 us a link.
    fn two_to_one(slack: u64) -> (Simulation, Result<crate::Stop, crate::Failure>) {
        let star = Star { hosts: 3, rate: Rate::from_gbps(100), delay: Time::from_us(1) };
        let bytes = |frames| Bytes(frames * FRAME);
        let params = StopAndGo { stop: bytes(10), go: bytes(8), slack: bytes(slack) };
        let settings = Settings { flow_control: FlowControl::StopAndGo(params), ..Settings::default() };
        let flow = |src| Flow::new(src, NodeId(2), MessageSize::ENDLESS, Time::ZERO, 0);
        let scheme = AnyScheme::read("none", serde_json::json!({})).expect("known").expect("no parameters");
        let topology = star.build().expect("a star");
        let flows = vec![flow(NodeId(0)), flow(NodeId(1))];
        let net =
            crate::Network::build(topology, &Routing::default(), settings, scheme, flows, 1).expect("built");
        let recording = Recording { pauses: true, ..Recording::default() };
        let mut sim = Simulation::new(net, None, recording, Some(Time::from_us(10)));
        let end = sim.run(&mut |_| true);
        (sim, end)
    }

    /// A frame takes T = 121.44 ns. Frames arrive in pairs, pair k at a_k = 1 us + k T, and one leaves each T, h0's first. After
    /// pair k the switch has ceil(k/2) frames of h1, so the 21st makes 11 of them, above the threshold of 10. The symbol
    /// takes 80 ps and 1 us. h1 is stopped at a_21 + 1.00008 us = 4.55032 us, in its 38th frame (37.5 T).
    ///
    /// All pairs up to the 38th come, so h1's frame j is the 2j-th to leave, at a_1 + (2j - 1) T. 8 of the 38 are left when
    /// the 30th leaves, at a_1 + 59 T, and the symbol is there 1.00008 us later.
    #[test]
    fn a_queue_stops_at_one_threshold_and_goes_on_at_the_other() {
        let (sim, end) = two_to_one(20);
        assert_eq!(end, Ok(crate::Stop::Duration));
        let frame = Time(FRAME * 80);
        let a_1 = Time::from_us(1) + frame;
        let way = Time::from_us(1) + Time(80);
        let h1 = PortId(2); // link 1, end a
        let stop = sim.records().pauses.iter().find(|stop| stop.port == h1).expect("h1 was stopped");
        assert_eq!((stop.start, stop.end), (a_1 + frame * 20 + way, a_1 + frame * 59 + way));
    }

    /// Links of the ring of 1, 200, 400 and 400 us carry symbols so late that at times all four queues are stopped and all four
    /// ingresses over their thresholds, while a GO that an ingress sent before its last STOP is still under way. The queue that it
    /// frees sends a frame, so all flows complete.
    #[test]
    fn a_go_under_way_is_no_deadlock() {
        let ring = AnyTopology::read("ring", serde_json::json!({ "rate": "10Gbps" }));
        let mut topology = ring.expect("listed").expect("valid").build().expect("a ring");
        for (link, us) in [(5, 200), (6, 400), (7, 400)] {
            let link = &mut topology.links[link];
            (link.delay_ab, link.delay_ba) = (Time::from_us(us), Time::from_us(us));
        }
        let route = |i: u32| StaticRoute {
            from: format!("host{i}"),
            to: format!("host{}", (i + 2) % 4),
            via: (0..=2).map(|hop| format!("switch{}", (i + hop) % 4)).collect(),
        };
        let routes = StaticRoutes { routes: (0..4).map(route).collect(), ..StaticRoutes::default() };
        let params = StopAndGo { stop: Bytes(20_000), go: Bytes(10_000), slack: Bytes(10_000_000) };
        let settings = Settings { flow_control: FlowControl::StopAndGo(params), ..Settings::default() };
        let flow = |(i, us, bytes): (u32, u64, u64)| {
            Flow::new(NodeId(i), NodeId((i + 2) % 4), bytes.into(), Time::from_us(us), 0)
        };
        let flows = [(2, 37, 505_000), (3, 169, 573_000), (1, 203, 697_000), (0, 290, 691_000)].map(flow);
        let scheme = AnyScheme::read("none", serde_json::json!({})).expect("known").expect("no parameters");
        let routing = Routing::StaticRoutes(routes);
        let net =
            crate::Network::build(topology, &routing, settings, scheme, flows.to_vec(), 1).expect("built");
        let mut sim = Simulation::new(net, None, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(crate::Stop::FlowsDone));
    }

    /// 38 frames of h1 arrive before h1 has stopped. When the last one arrives, 37/2 = 18 of them have left, so that 20 are
    /// there: 10 above the threshold, and there is slack for 5.
    #[test]
    fn too_little_slack_ends_the_run() {
        assert!(matches!(two_to_one(5).1, Err(crate::Failure::Drop { .. })));
    }
}
