//! Open-loop traffic: Poisson arrivals at each host, sizes after a distribution, destinations uniform.
//!
//! A host of line rate C starts a new flow after an exponential time of mean `8 E[size] / (load C)`, so that `load` is
//! the share of its link that its payload takes on average. This is the model of HPCC's traffic generator (Li et al.,
//! SIGCOMM 2019) and of most evaluations since pFabric (Alizadeh et al., SIGCOMM 2013). Each host draws from a stream of its
//! own: which hosts take part does not change the draws of the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Rate, Time};

use super::destinations::Destinations;
use super::{Common, Params, common};
use crate::connections::ConnectionMapping;
use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::{Load, Plan, Scope};
use crate::hosts::HostList;
use crate::sizes::Sizes;

/// Poisson arrivals of flows at each host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: none do (`"per_message"`), all from a host to another
    /// (`"per_pair"`), or this many connections from a host to another take them in turn (a number).
    #[serde(default)]
    pub connection: ConnectionMapping,
    /// Beginning of the process; the first flow of a host comes an exponential time later.
    #[serde(default)]
    pub start: Time,
    /// Payload that each host sends on average, as a share of the line rate of all its NICs together: above 0, up to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: f64,
    /// Name of the size distribution. One of this, `cdf` and `size` is needed.
    #[serde(default)]
    pub workload: Option<String>,
    /// Path of a size distribution's file (a line `SIZE_IN_BYTES PROBABILITY` a point).
    #[serde(default)]
    pub cdf: Option<String>,
    /// Payload of each flow if all flows have one size, up to 1 TB.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// Who sends.
    #[serde(default)]
    pub hosts: HostList,
    /// Who may receive: each flow goes to one of these, other than its sender, drawn uniformly.
    #[serde(default)]
    pub destinations: HostList,
    /// No flow starts at or after this time; where neither this nor `duration` is given, the end of the run.
    #[serde(default)]
    pub stop: Option<Time>,
    /// The same end, as a time from `start`.
    #[serde(default)]
    pub duration: Option<Time>,
}

/// Bits of a byte times picoseconds of a second.
const BIT_PS: f64 = 8e12;

impl Poisson {
    /// The end of the window: the earlier of the end of the run and `stop`, or the end of `duration`.
    fn window_end(&self, scope: &Scope<'_>) -> Result<Time, Misfit> {
        let stop = match (self.stop, self.duration) {
            (Some(_), Some(_)) => return Err(Fault::Unneeded("`stop` ends the process").at("duration")),
            (None, Some(Time::ZERO)) => {
                return Err(Fault::bounds(Time::ZERO, "a time above 0").at("duration"));
            }
            (stop, duration) => stop.or(duration.map(|d| self.start.saturating_add(d))),
        };
        let missing = || Fault::Missing("this key, `duration`, or `duration` in [run]").at("stop");
        scope.end(self.start, stop)?.ok_or_else(missing)
    }
}

impl Params for Poisson {
    const NAME: &'static str = "poisson";
    const TITLE: &'static str = "Poisson arrivals at each host, sizes after a workload, uniform destinations";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        if !(self.load > 0.0 && self.load <= 1.0) {
            let expected =
                "a share of the line rate above 0 and up to 1, such as 0.5; beyond 1 queues grow without end";
            return Err(Fault::bounds(self.load, expected).at("load"));
        }
        let senders = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?;
        if let Some(&host) = senders.iter().find(|&&host| scope.hosts.rate(host) == Rate(0)) {
            let value = format!("`{}` at {}", scope.hosts.name(host), Rate(0));
            return Err(Fault::bounds(value, "hosts whose line rate is above 0").at("hosts"));
        }
        let destinations = Destinations::resolve(scope, &self.destinations, &senders, "destinations")?;
        let sizes = Sizes::resolve(self.size, self.workload.as_deref(), self.cdf.as_deref(), scope.files)?;
        let (start, end) = (self.start, self.window_end(scope)?);
        let window = end.saturating_sub(start).ps() as f64;
        let rate: f64 = senders.iter().map(|&host| scope.hosts.rate(host).bps() as f64).sum();
        let mean = sizes.mean();
        let expected = window * self.load * rate / (mean * BIT_PS);
        let cause = format!(
            "{} hosts at load {} for {}, flows of {mean:.0} bytes on average",
            senders.len(),
            self.load,
            end.saturating_sub(start)
        );
        let emit = move |sink: &mut crate::generate::Sink| {
            let (mut flows, mut bytes) = (0u64, 0u64);
            for &src in &senders {
                let gap = mean * BIT_PS / (self.load * scope.hosts.rate(src).bps() as f64);
                let mut stream = scope.host_stream(src);
                let mut at = start;
                loop {
                    at = at.saturating_add(draw::exponential(&mut stream, gap));
                    if at >= end {
                        break;
                    }
                    let size = sizes.sample(&mut stream);
                    let dst = destinations.draw(&mut stream, src);
                    sink.message(src, dst, size, at);
                    flows += 1;
                    bytes = bytes.saturating_add(size);
                }
            }
            sink.load(Load {
                pattern: 0,
                label: 0,
                senders: senders.clone(),
                workload: sizes.name(),
                start,
                end,
                asked: self.load,
                offered: bytes as f64 * BIT_PS / (rate * window),
                flows,
                bytes,
                mean_sampled: if flows == 0 { 0.0 } else { bytes as f64 / flows as f64 },
                mean,
            });
        };
        Ok(Plan { flows: expected as u128, cause, emit: Box::new(emit) })
    }
}
