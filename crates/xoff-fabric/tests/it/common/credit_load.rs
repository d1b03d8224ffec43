//! A load that keeps credits scarce, for checks of what they must never do.
//!
//! Sixteen hosts of a fat-tree at 100 Gbps send to each other, and a third of their flows to one of four, so that buffers are
//! full all the time. Flows have packets of all sizes, ACKs travel in the data's class, and there are two lanes. While it runs
//! the assertions of [`xoff_fabric::link::flow_control::counters`] see every packet at every link: no more credits are spent than there
//! are, no buffer holds more than it has, no credit comes back that was not spent.

use serde_json::json;
use xoff_engine::{Bytes, MessageSize, Rate, Time};
use xoff_fabric::ids::NodeId;
use xoff_fabric::network::Flow;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{
    AckClass, Cbfc, CounterWidth, CreditGranularity, CreditUnit, FlowControl, Host, LinkCredits, Settings,
    Switch, UeCbfc,
};
use xoff_fabric::topology::AnyTopology;
use xoff_fabric::{Network, Recording, Simulation, Stop};
use xoff_schemes::throttle::AnyThrottle;

use crate::common::scheme;

/// What a load came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Packets of data and ACKs put on a wire.
    pub transmissions: u64,
    /// Time for which queues lacked credits, of all of them.
    pub stopped: Time,
    /// Credits spent on the link that spent most, which 12 bits count again from 0 after 4096.
    pub most_spent: u64,
}

/// Each kind of credits by name, with buffers of a few packets.
pub fn kinds() -> Vec<(&'static str, FlowControl, bool)> {
    let cbfc = |counters, on_change, buffer| {
        let update_period = Time::from_us(3);
        let buffer = Some(Bytes(buffer));
        let undersized = true;
        FlowControl::Cbfc(Cbfc { buffer, update_period, on_change, counters, undersized, ..Cbfc::default() })
    };
    let credit = |unit, credits| {
        let credits = Some(credits);
        FlowControl::Credit(LinkCredits { unit, credits, undersized: true, ..LinkCredits::default() })
    };
    let flit_by_flit = FlowControl::Credit(LinkCredits {
        granularity: CreditGranularity::Flit,
        credits: Some(997),
        undersized: true,
        ..LinkCredits::default()
    });
    // One packet of each lane, ACKs of up to 9,000 B not being there, and a few that both lanes share.
    let shared_flits = FlowControl::Credit(LinkCredits {
        credits: Some(64),
        shared_credits: 900,
        undersized: true,
        ..LinkCredits::default()
    });
    let (buffer, shared_buffer) = (Some(Bytes(1_024)), Bytes(15_040));
    let shared_blocks = FlowControl::Cbfc(Cbfc {
        buffer,
        shared_buffer,
        update_period: Time::from_us(3),
        undersized: true,
        ..Cbfc::default()
    });
    let shared_cells =
        FlowControl::UeCbfc(UeCbfc { buffer, shared_buffer, undersized: true, ..UeCbfc::default() });
    vec![
        ("shared flits", shared_flits.clone(), false),
        ("shared flits, PFT", shared_flits, true),
        ("shared blocks", shared_blocks, false),
        ("shared cells", shared_cells, false),
        ("CBFC", cbfc(CounterWidth::Wide, false, 20_032), false),
        ("CBFC of 12 bits, on change", cbfc(CounterWidth::TwelveBit, true, 300_032), false),
        ("flits, PFT", credit(CreditUnit::Flit, 997), true),
        ("flits one by one, PFT", flit_by_flit.clone(), true),
        ("flits one by one", flit_by_flit, false),
        ("packets", credit(CreditUnit::Packet, 7), false),
    ]
}

/// Runs a load whose senders make data for `time`, and says what came of it; panics where anything is lost or left over.
pub fn run(flow_control: FlowControl, throttled: bool, time: Time) -> Outcome {
    const HOSTS: u32 = 16;
    let topology = AnyTopology::read("fat_tree", json!({"k": 4, "rate": "100Gbps", "delay": "500ns"}));
    let topology = topology.expect("known").expect("valid").build().expect("a fat-tree");
    let pft = || AnyThrottle::read("pft", json!({})).expect("known").expect("valid").resolve();
    let settings = Settings {
        flow_control,
        throttle: throttled.then(pft),
        switch: Switch { priorities: 2, ..Switch::default() },
        host: Host { ack_class: AckClass::Data, ..Host::default() },
        ..Settings::default()
    };
    // Three flows of each host: to another one, to one of four, and one of small packets, made as slowly as that.
    let flow = |src: u32, dst: u32, priority, source_rate| Flow {
        src: NodeId(src),
        dst: NodeId(dst),
        size: MessageSize::ENDLESS,
        start: Time(u64::from(src) * 1_000),
        stop: time,
        source_rate,
        priority,
    };
    let flows = (0..HOSTS).flat_map(|src| {
        let (other, hot) = ((src + 5) % HOSTS, src % 4 * 4 + u32::from(src == src % 4 * 4));
        let slow = Rate::from_gbps(2 + u64::from(src));
        [
            flow(src, other, 0, Rate::UNLIMITED),
            flow(src, hot, 1, Rate::UNLIMITED),
            flow(src, (src + 9) % HOSTS, 1, slow),
        ]
    });
    let mut flows: Vec<Flow> = flows.collect();
    flows.sort_by_key(|f| f.start);
    let none = scheme("none", json!({}), Time::ZERO);
    let net = Network::build(topology, &Routing::default(), settings, none, flows, 1).expect("a network");
    // A host that many send to makes more ACKs than its lane carries, so those that wait for it grow with time. They are gone
    // long before this.
    let drained = time * 4 + Time::from_us(500);
    let mut sim = Simulation::new(net, None, Recording::default(), Some(drained));
    sim.run_to_duration();
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration), "a lossless network");
    assert!(sim.records().outcomes().iter().all(|f| f.fct.is_some()), "every flow has ended");
    assert_eq!((sim.buffered_bytes(), sim.open_receptions()), ((0, 0), 0), "nothing is left");
    let mut outcome = Outcome::default();
    for port in sim.network().topology.port_ids() {
        outcome.transmissions += sim.port(port).tx_packets - sim.records().totals.credit_updates.of(port);
        for priority in 0..2 {
            let (sending, receiving) = sim.credits(port, priority).expect("credits");
            assert_eq!(sending.sent(), receiving.received(), "what was sent has come");
            assert_eq!((receiving.occupied(), sending.used()), (0, 0), "all places and credits are back");
            outcome.stopped += sim.paused(port, priority);
            outcome.most_spent = outcome.most_spent.max(sending.sent());
        }
    }
    outcome
}
