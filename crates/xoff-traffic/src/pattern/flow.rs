//! One flow: a message, an endless flow, or a source of constant rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, MessageSize, NicChoice, Rate, Time};

use super::{Common, Params, common};
use crate::connections::ConnectionMapping;
use crate::error::{Fault, Misfit};
use crate::generate::{FlowSpec, Plan, Scope};
use crate::sizes;

/// One flow from a host to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
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
    /// When the flow starts.
    #[serde(default)]
    pub start: Time,
    /// Name of the sending host.
    pub src: String,
    /// Name of the receiving host.
    pub dst: String,
    /// Payload, up to 1 TB; without it, the flow is endless until `stop` or the end of the run.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// When the flow ends even if bytes are left.
    #[serde(default)]
    pub stop: Option<Time>,
    /// Constant rate at which the application makes its bytes, of payload; without it, all bytes are ready at the
    /// start.
    #[serde(default)]
    pub rate: Option<Rate>,
}

impl Flow {
    /// A message of `size` that starts at time zero.
    pub fn message(src: impl Into<String>, dst: impl Into<String>, size: Bytes) -> Flow {
        Flow {
            label: None,
            priority: 0,
            nic: None,
            connection: ConnectionMapping::PerMessage,
            start: Time::ZERO,
            src: src.into(),
            dst: dst.into(),
            size: Some(size),
            stop: None,
            rate: None,
        }
    }
}

/// Checks size and stop of a flow that may be endless, and returns them.
pub(super) fn ends(
    scope: &Scope<'_>,
    start: Time,
    size: Option<Bytes>,
    stop: Option<Time>,
) -> Result<(MessageSize, Time), Misfit> {
    let size = size.map(sizes::check).transpose()?;
    if scope.end(start, stop)?.is_none() && size.is_none() {
        return Err(Fault::Missing("this key, `stop`, or `duration` in [run]").at("size"));
    }
    Ok((size.into(), stop.unwrap_or(Time::NEVER)))
}

impl Params for Flow {
    const NAME: &'static str = "flow";
    const TITLE: &'static str = "one flow between two hosts: a message, endless, or at a constant rate";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let src = scope.hosts.find(&self.src).map_err(|fault| fault.at("src"))?;
        let dst = scope.hosts.find(&self.dst).map_err(|fault| fault.at("dst"))?;
        if src == dst {
            return Err(Fault::ToItself(self.dst.clone()).at("dst"));
        }
        let (size, stop) = ends(scope, self.start, self.size, self.stop)?;
        let line = scope.hosts.rate(src);
        if let Some(rate) = self.rate
            && (rate == Rate(0) || rate > line)
        {
            let expected = format!("a rate above 0 and up to the host's line rate of {line}");
            return Err(Fault::bounds(rate, expected).at("rate"));
        }
        Ok(Plan {
            flows: 1,
            cause: "one flow".into(),
            emit: Box::new(move |sink| {
                let blank = sink.blank(src, dst, self.start);
                sink.flow(FlowSpec { size, stop, app_rate: self.rate.unwrap_or(Rate::UNLIMITED), ..blank });
            }),
        })
    }
}
