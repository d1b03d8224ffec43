//! Two flows through one switch, built in code and run under two schemes: `cargo run -p xoff --example two_flows`.

use xoff::prelude::*;

/// Mean slowdown of two messages of 1 MB that meet at their receiver.
fn slowdown(scheme: AnyScheme) -> Result<f64, Box<dyn std::error::Error>> {
    let star = Star { hosts: 3, ..Star::default() };
    let scenario = ScenarioBuilder::new(star, scheme)
        .title("two flows")
        .traffic(FlowPattern::message("host0", "host2", Bytes(1_000_000)))
        .traffic(FlowPattern::message("host1", "host2", Bytes(1_000_000)))
        .build()?;
    let output = run(&scenario, &mut |_| true)?;
    let slowdown = output.summary().slowdown.ok_or("no flow is complete")?;
    Ok(slowdown.mean)
}

/// The completion time of one message, on a network that is built node by node.
fn alone() -> Result<Time, Box<dyn std::error::Error>> {
    let mut net = NetworkBuilder::new();
    let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("switch"));
    for host in [a, b] {
        net.link(host, switch, Rate::from_gbps(100), Time::from_ns(1500));
    }
    let flow = net.flow(a, b, Bytes(1_000_000), Time::ZERO);
    let mut simulation = net.simulation()?;
    simulation.run(&mut |_| true)?;
    Ok(simulation.records().outcomes()[flow.index()].fct.ok_or("the flow is incomplete")?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("alone: {}", alone()?);
    println!("dctcp: slowdown {:.2}", slowdown(AnyScheme::Dctcp(Default::default()))?);
    println!("hpcc: slowdown {:.2}", slowdown(AnyScheme::Hpcc(Default::default()))?);
    Ok(())
}
