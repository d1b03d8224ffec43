//! Synchronized bursts: at each moment every sender sends one message.
//!
//! With sizes after a distribution each moment has one size for all senders, as with generators that run synchronously
//! (Zhang et al., TCD, SIGCOMM 2021, sections 3.1 and 5.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Time};

use super::destinations::Destinations;
use super::{Common, Params, common};
use crate::connections::ConnectionMapping;
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope};
use crate::hosts::HostList;
use crate::moments::{Moments, Repeat};
use crate::sizes::Sizes;

/// One message from each sender at the same moment, once or repeatedly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Burst {
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
    /// The first moment.
    #[serde(default)]
    pub start: Time,
    /// Who sends.
    pub senders: HostList,
    /// Who may receive: each message goes to one of these, other than its sender, drawn uniformly.
    #[serde(default)]
    pub receivers: HostList,
    /// Whether instead the first sender always sends to the first receiver, the second to the second, and so on, from
    /// the first receiver again if there are fewer receivers.
    #[serde(default)]
    pub paired: bool,
    /// Payload of each message, up to 1 TB. One of this, `workload` and `cdf` is needed.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// Name of the size distribution; one size is drawn at each moment for all senders.
    #[serde(default)]
    pub workload: Option<String>,
    /// Path of a size distribution's file (a line `SIZE_IN_BYTES PROBABILITY` a point), used as `workload` is.
    #[serde(default)]
    pub cdf: Option<String>,
    /// Number of moments. Without it a single moment or, with `every`, all moments before `stop` and the end of the run.
    #[serde(default)]
    pub count: Option<u64>,
    /// Time from one moment to the next, on average where `poisson` is set.
    #[serde(default)]
    pub every: Option<Time>,
    /// No moment at or after this time.
    #[serde(default)]
    pub stop: Option<Time>,
    /// Whether the moments are a Poisson process that begins at `start`, instead of periodic.
    #[serde(default)]
    pub poisson: bool,
}

impl Params for Burst {
    const NAME: &'static str = "burst";
    const TITLE: &'static str = "synchronized messages from a set of senders to given or random receivers";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let senders = scope.hosts.resolve(&self.senders).map_err(|fault| fault.at("senders"))?;
        if senders.is_empty() {
            return Err(Fault::bounds(0, "two hosts or more").at("senders"));
        }
        let receivers = Destinations::resolve(scope, &self.receivers, &senders, "receivers")?;
        if self.paired {
            let alone = senders.iter().enumerate().find(|&(n, &src)| src == receivers.nth(n));
            if let Some((_, &src)) = alone {
                return Err(Fault::ToItself(scope.hosts.name(src).into()).at("receivers"));
            }
        }
        let sizes = Sizes::resolve(self.size, self.workload.as_deref(), self.cdf.as_deref(), scope.files)?;
        let moments = Moments::resolve(
            scope,
            Repeat {
                start: self.start,
                every: self.every,
                count_key: "count",
                count: self.count,
                stop: self.stop,
                poisson: self.poisson,
            },
        )?;
        Ok(Plan {
            flows: moments.expected() * senders.len() as u128,
            cause: format!("{} moments of {} senders", moments.expected(), senders.len()),
            emit: Box::new(move |sink| {
                let mut stream = scope.stream();
                let mut walk = moments.walk();
                while let Some(at) = walk.next(&mut stream) {
                    let size = sizes.sample(&mut stream);
                    for (n, &src) in senders.iter().enumerate() {
                        let dst =
                            if self.paired { receivers.nth(n) } else { receivers.draw(&mut stream, src) };
                        sink.message(src, dst, size, at);
                    }
                }
            }),
        })
    }
}
