//! Checks of all settings, and of each table against the others and against the scheme.

use xoff_engine::Violation;
use xoff_schemes::AnyScheme;

use super::{AckClass, FlowControl, MAX_FRAME, NicTimer, Order, Queueing, Settings, Transport, WireSizes};

impl Settings {
    /// What is wrong with the settings, by themselves and with `scheme`. Keys begin with the table: `packets.mtu`. Checks
    /// that need the topology are elsewhere.
    pub fn validate(&self, scheme: &AnyScheme) -> Vec<Violation> {
        let tables = [
            ("packets", self.packets.validate()),
            ("host", self.host.validate()),
            ("switch", self.switch.validate()),
            ("flow_control", self.flow_control.validate()),
            ("link", self.link.validate()),
        ];
        // Sizes beyond their bounds could overflow the calculations of `validate_frames`.
        let sound = tables[0].1.is_empty();
        let mut all: Vec<Violation> = tables
            .into_iter()
            .flat_map(|(table, found)| found.into_iter().map(|violation| violation.inside(table)))
            .collect();
        if sound {
            self.validate_frames(scheme, &mut all);
        }
        self.validate_flow_control(scheme, &mut all);
        self.validate_transport(&mut all);
        self.host.validate_costs(self.quirks.nic == NicTimer::Ns3, &mut all);
        self.validate_uet(scheme, &mut all);
        self.link.validate_beside(self, &mut all);
        all
    }

    /// Refuses transports that the imitated NIC of another simulator does not have.
    fn validate_transport(&self, all: &mut Vec<Violation>) {
        let name = match self.host.transport {
            Transport::GoBackN => return,
            Transport::SelectiveRepeat => "selective_repeat",
            Transport::Unordered => "unordered",
            Transport::Uet => "uet",
        };
        if self.quirks.nic == NicTimer::Ns3 {
            let found = format!("is `{name}`, and `nic = \"ns3\"` in [quirks] knows `go_back_n` alone");
            all.push(Violation::new("host.transport", found, "`go_back_n`, or `nic = \"next_to_send\"`"));
        }
    }

    /// Checks Ultra Ethernet's transport against its schemes and the other tables, and limits of queues.
    fn validate_uet(&self, scheme: &AnyScheme, all: &mut Vec<Violation>) {
        let is_uet = self.host.transport == Transport::Uet;
        if scheme.uet().is_some() && !is_uet {
            let found = format!("is another, and scheme `{}` is of Ultra Ethernet's", scheme.name());
            all.push(Violation::new("host.transport", found, "`uet`"));
        }
        if is_uet && scheme.uet().is_none() {
            let found = format!("is `uet`, and scheme `{}` is of another", scheme.name());
            let expected = "`nscc`, `rccc` or `nscc_rccc` in [scheme], or another `transport`";
            all.push(Violation::new("host.transport", found, expected));
        }
        if is_uet && self.throttle.is_some() {
            let found = "is `uet`, and [throttle] slows NICs of the other transports alone";
            all.push(Violation::new("host.transport", found, "another `transport`, or no [throttle]"));
        }
        if is_uet && !matches!(self.flow_control, FlowControl::None | FlowControl::Pfc(_)) {
            let found = format!("is `{}`, which transport `uet` does not know", self.flow_control.name());
            all.push(Violation::new("flow_control.name", found, "`none` or `pfc`"));
        }
        if let Some(limit) = self.switch.queue_limit {
            if !self.lossy {
                let found = "is set, and the network loses nothing";
                all.push(Violation::new("switch.queue_limit", found, "`lossy = true` beside it, or none"));
            }
            let frame = WireSizes::new(self, &scheme.signals()).frame();
            if limit.0 < frame {
                let found = format!("is {limit}, less than one frame");
                all.push(Violation::new("switch.queue_limit", found, format!("at least {frame}B")));
            }
            if self.switch.queueing == Some(Queueing::VirtualOutput) {
                let found = "is set, and packets wait at the inputs";
                let expected = "`queueing = \"output\"`, or no `queue_limit`";
                all.push(Violation::new("switch.queue_limit", found, expected));
            }
            if self.switch.trimming.is_some() && !is_uet {
                let found = "is set, and only transport `uet` answers trimmed packets";
                all.push(Violation::new(
                    "switch.trimming",
                    found,
                    "`transport = \"uet\"` in [host], or none",
                ));
            }
        }
    }

    /// Checks sizes together with the scheme's signals.
    fn validate_frames(&self, scheme: &AnyScheme, all: &mut Vec<Violation>) {
        let (packets, name) = (&self.packets, scheme.name());
        let wire = WireSizes::new(self, &scheme.signals());
        let ack = wire.ack + wire.ack_growth * u64::from(packets.int_hops);
        if ack > MAX_FRAME {
            let signals = ack - packets.ack.0;
            let found = format!(
                "makes ACKs of {ack}B with the signals of scheme `{name}`, {signals}B for {} switches",
                packets.int_hops
            );
            all.push(Violation::new("packets.ack", found, format!("at most {}B", MAX_FRAME - signals)));
        }
        let overhead = wire.data_overhead;
        let (header, signals) = (packets.header.0, overhead - packets.header.0);
        let parts = format!("the header, {header}B, and the signals of scheme `{name}`, {signals}B");
        match packets.payload {
            None if packets.mtu.0 <= overhead => {
                let found = format!("is {}B, which leaves no payload beside {parts}", packets.mtu.0);
                all.push(Violation::new("packets.mtu", found, format!("more than {overhead}B")));
            }
            Some(payload) if payload.0 + overhead > MAX_FRAME => {
                let found = format!("makes frames of {}B with {parts}", payload.0 + overhead);
                all.push(Violation::new("packets.payload", found, format!("frames of at most {MAX_FRAME}B")));
            }
            _ => {}
        }
        let small = wire.ack.min(wire.cnp).min(wire.pfc);
        let frame = if self.quirks.order == Order::Scheduled { wire.frame() } else { small };
        if let Some(buffer) = self.switch.buffer.filter(|buffer| buffer.0 < frame) {
            let found = format!("is {buffer}, less than one frame");
            all.push(Violation::new("switch.buffer", found, format!("at least {frame}B")));
        }
    }

    /// Checks flow control and hosts against the other tables and the scheme.
    fn validate_flow_control(&self, scheme: &AnyScheme, all: &mut Vec<Violation>) {
        let (control, name) = (&self.flow_control, self.flow_control.name());
        let is_pfc = matches!(control, FlowControl::Pfc(_));
        if scheme.signals().pause_threshold && !is_pfc {
            let found = format!("is `{name}`, and scheme `{}` uses the threshold of PFC", scheme.name());
            let expected = "`pfc`, or the threshold as `q_pfc` in [scheme]";
            all.push(Violation::new("flow_control.name", found, expected));
        }
        if scheme.signals().credits.is_some() {
            self.validate_credited(scheme.name(), all);
        }
        let ack_every = self.host.ack_every;
        if scheme.signals().label && ack_every > 1 {
            let found =
                format!("is {ack_every}, and scheme `{}` needs an ACK for each packet", scheme.name());
            all.push(Violation::new("host.ack_every", found, "1"));
        }
        if self.switch.watchdog.is_some() && !is_pfc {
            let found = format!("acts on PAUSE, and [flow_control] is `{name}`");
            all.push(Violation::new("switch.watchdog", found, "`pfc` in [flow_control], or no `watchdog`"));
        }
        if self.lossy && *control != FlowControl::None {
            let found = format!("is true, and [flow_control] `{name}` prevents loss");
            all.push(Violation::new("lossy", found, "`name = \"none\"` in [flow_control], or no `lossy`"));
        }
        if let FlowControl::Pfc(pfc) = control
            && (pfc.alpha.is_some() && pfc.xoff.is_none())
            && self.switch.buffer.is_none()
        {
            let found = "shares a memory of unknown size";
            all.push(Violation::new("flow_control.alpha", found, "`buffer` in [switch], such as \"32MB\""));
        }
        if control.has_credits() {
            self.validate_credits(all);
        }
        if matches!(control, FlowControl::Bfc(_)) {
            self.validate_flows(all);
        }
    }

    /// Refuses settings that a scheme excludes in which data needs receivers' credits.
    fn validate_credited(&self, scheme: &str, all: &mut Vec<Violation>) {
        if self.host.ack_every != 1 {
            let found =
                format!("is {}, and credits of scheme `{scheme}` acknowledge data", self.host.ack_every);
            all.push(Violation::new("host.ack_every", found, "1, which then concerns last packets alone"));
        }
        if !matches!(self.host.transport, Transport::GoBackN | Transport::Uet) {
            let found = format!("is another, and scheme `{scheme}` sends a packet again only with a credit");
            all.push(Violation::new("host.transport", found, "`go_back_n`"));
        }
        if self.quirks.nic == NicTimer::Ns3 {
            let found = format!("is `ns3`, which knows no credits of scheme `{scheme}`");
            all.push(Violation::new("quirks.nic", found, "`next_to_send`, or another scheme"));
        }
    }

    /// Refuses settings that exclude queues by flow.
    fn validate_flows(&self, all: &mut Vec<Violation>) {
        if self.switch.queueing == Some(Queueing::VirtualOutput) {
            let found = "is `virtual_output`, and [flow_control] `bfc` has queues by flow";
            all.push(Violation::new("switch.queueing", found, "`output`, or another [flow_control]"));
        }
        if self.quirks.nic == NicTimer::Ns3 {
            let found = "is `ns3`, which holds no single flow back as [flow_control] `bfc` asks";
            all.push(Violation::new("quirks.nic", found, "`next_to_send`, or another [flow_control]"));
        }
        if self.host.ack_class != AckClass::Control {
            let found = "puts ACKs among data, which [flow_control] `bfc` holds back by flow";
            all.push(Violation::new("host.ack_class", found, "`control`, or another [flow_control]"));
        }
    }

    /// Refuses settings that exclude credits of either kind.
    fn validate_credits(&self, all: &mut Vec<Violation>) {
        let name = self.flow_control.name();
        if let Some(buffer) = self.switch.buffer {
            let found = format!("is {buffer}, and with [flow_control] `{name}` buffers belong to links");
            let expected = match self.flow_control {
                FlowControl::Cbfc(_) | FlowControl::UeCbfc(_) => {
                    "`buffer` in [flow_control], for each port and lane"
                }
                _ => "`credits` in [flow_control], for each port and priority",
            };
            all.push(Violation::new("switch.buffer", found, expected));
        }
        if self.host.ack_class == AckClass::ControlAtHost {
            let found = format!(
                "is `control_at_host`, which would take places in switches without credits of [flow_control] `{name}`"
            );
            all.push(Violation::new("host.ack_class", found, "`control` or `data`"));
        }
        if self.quirks.nic == NicTimer::Ns3 {
            let found = format!("is `ns3`, which knows no credits, and [flow_control] is `{name}`");
            all.push(Violation::new("quirks.nic", found, "`next_to_send`, or `pfc` in [flow_control]"));
        }
    }
}
