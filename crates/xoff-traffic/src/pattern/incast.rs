//! Incast: many hosts send one message each to one receiver at the same moment.
//!
//! Repeated with a random choice of hosts, the pattern is the incast of HPCC's evaluation (Li et al., SIGCOMM 2019).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Time};

use super::{Common, Params, common};
use crate::connections::ConnectionMapping;
use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope};
use crate::hosts::Senders;
use crate::moments::{Moments, Repeat};
use crate::sizes;

/// Messages of one size from many senders to one receiver, at the same moment or nearly, once or repeatedly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
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
    /// Who sends: a number (that many of the first hosts, without the receiver), `"all"` others, or hosts by name.
    pub senders: Senders,
    /// Name of the receiving host, or `"random"`: another at each moment, where `senders` is a number or `"all"`.
    pub receiver: String,
    /// Whether a number of senders is drawn at random from all hosts, anew at each moment.
    #[serde(default)]
    pub random: bool,
    /// Payload of each message, up to 1 TB.
    pub size: Bytes,
    /// Each message starts less than this after its moment, by a time drawn uniformly; those that would start after
    /// the end of the run are left out.
    #[serde(default)]
    pub spread: Time,
    /// Number of moments. Without it a single moment or, with `every`, all moments before `stop` and the end of the run.
    #[serde(default)]
    pub repeat: Option<u64>,
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

/// The word for a receiver that is drawn at each moment.
const RANDOM: &str = "random";

/// Who sends at a moment.
enum Who {
    /// The same hosts each time.
    These(Vec<u32>),
    /// This many of the first hosts, without the receiver.
    First(usize),
    /// This many, drawn from all hosts other than the receiver.
    Drawn(usize),
}

impl Incast {
    fn who(&self, scope: &Scope<'_>, receiver: Option<u32>) -> Result<Who, Misfit> {
        let others = scope.hosts.len().saturating_sub(1);
        match &self.senders {
            Senders::Count(count) => {
                if *count == 0 || *count > u64::from(others) {
                    let expected = format!("1 to {others}, the hosts beside the receiver");
                    return Err(Fault::bounds(count, expected).at("senders"));
                }
                let count = *count as usize;
                Ok(if self.random { Who::Drawn(count) } else { Who::First(count) })
            }
            Senders::Hosts(_) if self.random => {
                Err(Fault::Unneeded("it takes a number of `senders`, to be drawn from all hosts")
                    .at("random"))
            }
            Senders::Hosts(hosts) if hosts.is_all() => {
                if others == 0 {
                    return Err(Fault::bounds(0, "two hosts or more").at("senders"));
                }
                Ok(Who::First(others as usize))
            }
            Senders::Hosts(hosts) => {
                let Some(receiver) = receiver else {
                    let why = "a random receiver takes a number of `senders` or \"all\"";
                    return Err(Fault::Unneeded(why).at("receiver"));
                };
                let senders = scope.hosts.resolve(hosts).map_err(|fault| fault.at("senders"))?;
                if senders.contains(&receiver) {
                    return Err(Fault::ToItself(self.receiver.clone()).at("senders"));
                }
                Ok(Who::These(senders))
            }
        }
    }
}

impl Params for Incast {
    const NAME: &'static str = "incast";
    const TITLE: &'static str = "many senders to one receiver at the same moment, once or repeatedly";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let receiver = match self.receiver.as_str() {
            RANDOM => None,
            name => Some(scope.hosts.find(name).map_err(|fault| fault.at("receiver"))?),
        };
        let who = self.who(scope, receiver)?;
        let size = sizes::check(self.size)?;
        let (spread, end) = (self.spread.0, scope.horizon.unwrap_or(Time::NEVER));
        if self.start.saturating_add(self.spread) > end {
            return Err(
                Fault::bounds(self.spread, format!("less than is left of the run, {end}")).at("spread")
            );
        }
        let moments = Moments::resolve(
            scope,
            Repeat {
                start: self.start,
                every: self.every,
                count_key: "repeat",
                count: self.repeat,
                stop: self.stop,
                poisson: self.poisson,
            },
        )?;
        let senders = match &who {
            Who::These(list) => list.len(),
            Who::First(count) | Who::Drawn(count) => *count,
        };
        Ok(Plan {
            flows: moments.expected() * senders as u128,
            cause: format!("{} moments of {senders} senders", moments.expected()),
            emit: Box::new(move |sink| {
                let count = scope.hosts.len();
                // Distances from the receiver, around the list of hosts, to all other hosts.
                let mut others: Vec<u32> = (1..count).collect();
                let mut stream = scope.stream();
                let mut walk = moments.walk();
                while let Some(at) = walk.next(&mut stream) {
                    let to = receiver.unwrap_or_else(|| draw::below(&mut stream, count.into()) as u32);
                    if let Who::Drawn(n) = &who {
                        draw::choose(&mut stream, &mut others, *n);
                    }
                    let mut send = |src: u32| {
                        let late = if spread == 0 { 0 } else { draw::below(&mut stream, spread) };
                        let start = at.saturating_add(Time(late));
                        if start < end {
                            sink.message(src, to, size, start);
                        }
                    };
                    match &who {
                        Who::These(list) => list.iter().for_each(|&src| send(src)),
                        Who::First(n) => (0..count).filter(|&src| src != to).take(*n).for_each(send),
                        Who::Drawn(n) => {
                            let around = |d: &u32| (u64::from(to) + u64::from(*d)) % u64::from(count);
                            others[..*n].iter().for_each(|distance| send(around(distance) as u32));
                        }
                    }
                }
            }),
        })
    }
}
