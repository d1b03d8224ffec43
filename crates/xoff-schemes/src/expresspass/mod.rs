//! ExpressPass: data goes only with credits from its receiver (Cho, Jang, Han: Credit-Scheduled Delay-Bounded Congestion
//! Control for Datacenters, SIGCOMM 2017).
//!
//! - A sender with data asks for credits. Its receiver then sends small credit packets, one for each full data packet, and
//!   the sender answers a credit with one data packet at once. With its last data packet the sender stops the credits.
//! - Every port, of hosts and of switches, lets only so many credits through that the data packets that answer them fit the
//!   link in the other direction: 84 of 84 + 1,538 bytes. A short queue holds a few credits, and what finds no room
//!   there is dropped. So credits are lost where data would be, and the data that follow the credits' path backwards find
//!   next to no queue. [`Signals::credits`] asks the network for that.
//! - The receiver measures which share of its credits was lost, by the numbers that data packets bring back, and sets the
//!   rate of its credits once a round trip by Algorithm 1 ([`CreditPacer`]), so that flows share and few credits are lost.
//!
//! # Readings
//!
//! - Algorithm 1 is the paper's, with its constants: target loss 0.1, w from 0.01 to 0.5, and 1/16 for both the initial rate
//!   and the initial w (its section on realistic workloads). The authors' simulator differs: its decrease has no factor of
//!   1 + target loss, its target loss shrinks with the rate, its rate has the link's as a bound, and its w moves in other steps.
//! - The period is a round trip from a credit to its data, smoothed by 0.8 and 0.2 as in the authors' simulator, where the first
//!   round trip is taken as it is and here the unloaded one comes before it. A period ends with the data that comes after it (in
//!   the authors' simulator with a credit that goes), so that one in which no data came does not end: nothing is known of its
//!   credits. The rate stays at one credit in a round trip or more (the authors' simulator), but within the link's.
//! - The time between two credits varies at random by up to a tenth either way, and their size by 8 bytes (the authors'
//!   simulator), so that flows do not lose credits in step. The size matters at switches: a receiver whose own port limits
//!   its credits sends them at even distances, and one that is in step with a full queue would take each place that
//!   becomes free. The paper varies the size from 84 to 92 bytes; with 76 to 92 the mean is that of the limit.
//! - A port lets one credit through in the time that the credit and a full data packet take, in proportion to the credit's
//!   size: a bucket without bursts (the authors' simulator lets two go at once).
//! - The paper counts preamble and gap of 20 B with each frame, hence 84 and 1,538. [`ExpressPass::credit`] is the frame in the
//!   sense of `packets.mtu`: where `packets.gap` is 20 B, 64 B of credit are the same.
//! - Credits bring the receiver's cumulative acknowledgement, and only a message's last packet is answered by an ACK: ACKs of
//!   all packets would take link time that no credit has accounted for.
//! - A sender without credits asks again after `host.retransmit_timeout`, and a receiver that gets no data for
//!   [`ExpressPass::timeout`] sends no more credits until it is asked.
//!
//! # Reordering
//!
//! Credits and data of a flow keep to one path and its way back, so nothing is reordered; routing by packet is refused.
//!
//! # Idle
//!
//! An idle connection has no credits. The next message asks anew, and the rate begins at the initial one.

mod pacer;
mod sender;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Time, Violation};

use crate::check;
use crate::detector::red::Red;
use crate::signals::{CreditPackets, Signals};
use crate::traits::{FlowEnv, NoOp, PortEnv, Scheme};
pub use pacer::CreditPacer;
pub use sender::CreditedSender;

/// Parameters of ExpressPass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExpressPass {
    /// A credit on the wire in the mean, in bytes. Default 84 B, which counts preamble and gap (section 3.1).
    pub credit: Bytes,
    /// By how many bytes a credit's size varies either way. Default 8 B: 76 to 92 B (the authors' simulator).
    pub credit_spread: Bytes,
    /// Credits that a port holds while its limit does not let them go. Default 8 (section 3.1).
    pub credit_queue: u32,
    /// Share of lost credits that the receiver aims at, without unit, from 0 to 0.5. Default 0.1 (Algorithm 1).
    pub target_loss: f64,
    /// Credits at first, as a share of the most that the link lets through, above 0 and at most 1. Default 1/16.
    pub initial_rate: f64,
    /// w at first: weight of the maximum rate in an increase, from `w_min` to `w_max`. Default 1/16.
    pub w_init: f64,
    /// Minimum w, without unit, above 0. Default 0.01 (Algorithm 1).
    pub w_min: f64,
    /// Maximum w, without unit, at most 1. Default 0.5 (Algorithm 1).
    pub w_max: f64,
    /// By how much the time between two credits varies either way, as a share of that time, from 0 to 0.5. Default 0.1 (the authors'
    /// simulator).
    pub jitter: f64,
    /// Time without data after which a receiver sends no more credits until it is asked. Default 2 ms.
    pub timeout: Time,
}

impl Default for ExpressPass {
    fn default() -> Self {
        ExpressPass {
            credit: Bytes(84),
            credit_spread: Bytes(8),
            credit_queue: 8,
            target_loss: 0.1,
            initial_rate: 1.0 / 16.0,
            w_init: 1.0 / 16.0,
            w_min: 0.01,
            w_max: 0.5,
            jitter: 0.1,
            timeout: Time::from_ms(2),
        }
    }
}

impl Scheme for ExpressPass {
    const NAME: &'static str = "expresspass";
    const TITLE: &'static str = "ExpressPass: credits from receivers, which every port limits";
    const SOURCE: &'static str =
        "Cho, Jang, Han: Credit-Scheduled Delay-Bounded Congestion Control for Datacenters, SIGCOMM 2017";
    type Reaction = CreditedSender;
    type Notification = Box<CreditPacer>;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        if self.credit.0 == 0 || self.credit.0 > 1_500 {
            return Err(Violation::new("credit", format!("is {}", self.credit), "1B to 1500B"));
        }
        if self.credit_spread >= self.credit {
            let found = format!("is {}", self.credit_spread);
            return Err(Violation::new(
                "credit_spread",
                found,
                format!("less than `credit`, {}", self.credit),
            ));
        }
        if self.credit_queue == 0 || self.credit_queue > 1_000_000 {
            return Err(Violation::new("credit_queue", format!("is {}", self.credit_queue), "1 to 1000000"));
        }
        check::within("target_loss", self.target_loss, 0.0, 0.5)?;
        check::above("initial_rate", self.initial_rate, 0.0, 1.0)?;
        check::above("w_min", self.w_min, 0.0, 1.0)?;
        check::within("w_max", self.w_max, self.w_min, 1.0)?;
        check::within("w_init", self.w_init, self.w_min, self.w_max)?;
        check::within("jitter", self.jitter, 0.0, 0.5)?;
        check::time("timeout", self.timeout)
    }
    fn signals(&self) -> Signals {
        let credits = CreditPackets { size: self.credit.0 as u16, queue: self.credit_queue };
        Signals { credits: Some(credits), symmetric_paths: true, acks: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> CreditedSender {
        CreditedSender::new(env)
    }
    fn notification(&self, env: &FlowEnv) -> Box<CreditPacer> {
        Box::new(CreditPacer::new(self, env))
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
