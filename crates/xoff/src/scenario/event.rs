//! `[[event]]`: what breaks during a run, at stated times or at random.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Domain, Rate, Stream, Time, Violation, stream};
use xoff_fabric::fault::{Broken, Fault, FrameLoss};

use super::event_targets::Targets;

/// The stream of the first event: links' numbers are below.
const FIRST_STREAM: u64 = 1 << 40;

/// Maximum number of times that the events of a scenario come.
pub const MAX_FAULTS: usize = 10_000;

/// When an event comes, and how long it lasts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timing {
    pub at: Option<Time>,
    pub length: Option<Time>,
    pub every: Option<Time>,
    pub mean_time_between: Option<Time>,
    pub mean_length: Option<Time>,
    pub until: Option<Time>,
}

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $variant {
                $($(#[$field_doc])* pub $field: $type,)*
                /// When it comes; with `mean_time_between`, when the first interval begins.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub at: Option<Time>,
                /// How long it lasts; without it and `mean_for`, to the end of the run.
                #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
                pub length: Option<Time>,
                /// Time from one to the next if it comes again and again.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub every: Option<Time>,
                /// Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub mean_time_between: Option<Time>,
                /// Mean of the time that it lasts, which is exponential, in place of `for`.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub mean_for: Option<Time>,
                /// The latest time at which it comes again; by default the run's duration.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub until: Option<Time>,
            }
        )*

        /// Something that breaks during the run.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Event {
            $($(#[$doc])* $variant($variant),)*
        }

        impl Event {
            /// When it comes, and how long it lasts.
            pub(super) fn timing(&self) -> Timing {
                match self {
                    $(Event::$variant(e) => Timing {
                        at: e.at,
                        length: e.length,
                        every: e.every,
                        mean_time_between: e.mean_time_between,
                        mean_length: e.mean_for,
                        until: e.until,
                    },)*
                }
            }
        }
    };
}

events! {
    /// A link goes down, in both directions.
    LinkDown {
        /// The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for any
        /// link between switches.
        link: String,
    }
    /// A link has a lower rate, in both directions.
    Degrade {
        /// The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for any
        /// link between switches.
        link: String,
        /// Its rate; a link that is slower anyway keeps its own.
        rate: Rate,
    }
    /// A link loses frames, in both directions: `ber` or `loss`.
    BitErrors {
        /// The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for any
        /// link between switches.
        link: String,
        /// Probability that a bit is wrong, which spoils its frame.
        #[serde(skip_serializing_if = "Option::is_none")]
        ber: Option<f64>,
        /// Probability that a frame is lost, whatever its size.
        #[serde(skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
    }
    /// A switch reboots: its links are down for the time, and what it holds is lost.
    SwitchReboot {
        /// The switch; `"random"` for any switch each time.
        switch: String,
    }
    /// The NIC of a host sends PAUSE without end.
    PauseStorm {
        /// The host; `"random"` for any host each time. All its NICs babble.
        host: String,
        /// The data priority that it pauses; all without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        priority: Option<u8>,
    }
    /// A host takes no data: its NICs keep what comes, and then pause their neighbours.
    ReceiverStop {
        /// The host; `"random"` for any host each time.
        host: String,
        /// What a NIC keeps of a priority before it sends PAUSE; without flow control, what it keeps before it drops. Default
        /// 100 KB.
        #[serde(skip_serializing_if = "Option::is_none")]
        buffer: Option<Bytes>,
    }
    /// A host takes data more slowly than its links carry it, as over a PCIe link or into memory that others use: its NICs keep
    /// what comes, and then pause their neighbours.
    ReceiverSlow {
        /// The host; `"random"` for any host each time.
        host: String,
        /// The rate, in bits of frames a second, at which it takes what each of its NICs keeps, packet by packet.
        rate: Rate,
        /// As of `receiver_stop`.
        #[serde(skip_serializing_if = "Option::is_none")]
        buffer: Option<Bytes>,
    }
}

/// What a NIC of a stopped host keeps by default.
const BUFFER: Bytes = Bytes(100_000);

impl Event {
    /// The names of all kinds.
    pub const NAMES: &'static [&'static str] = &[
        "link_down",
        "degrade",
        "bit_errors",
        "switch_reboot",
        "pause_storm",
        "receiver_stop",
        "receiver_slow",
    ];

    /// The event of this kind, with keys read from `source`; `None` if there is no such kind.
    pub fn read<'de, D: serde::Deserializer<'de>>(kind: &str, source: D) -> Option<Result<Self, D::Error>> {
        Some(match kind {
            "link_down" => LinkDown::deserialize(source).map(Event::LinkDown),
            "degrade" => Degrade::deserialize(source).map(Event::Degrade),
            "bit_errors" => BitErrors::deserialize(source).map(Event::BitErrors),
            "switch_reboot" => SwitchReboot::deserialize(source).map(Event::SwitchReboot),
            "pause_storm" => PauseStorm::deserialize(source).map(Event::PauseStorm),
            "receiver_stop" => ReceiverStop::deserialize(source).map(Event::ReceiverStop),
            "receiver_slow" => ReceiverSlow::deserialize(source).map(Event::ReceiverSlow),
            _ => return None,
        })
    }

    /// Whether links go down by it.
    pub fn takes_links_down(&self) -> bool {
        matches!(self, Event::LinkDown(_) | Event::SwitchReboot(_))
    }

    /// What is wrong with its own keys.
    pub(super) fn validate(&self) -> Vec<Violation> {
        let mut all = self
            .timing()
            .validate(matches!(self, Event::Degrade(_) | Event::BitErrors(_) | Event::ReceiverSlow(_)));
        if let Event::BitErrors(BitErrors { ber, loss, .. }) = self {
            if ber.is_some() == loss.is_some() {
                let found =
                    if ber.is_some() { "stands beside `loss`" } else { "is missing, and so is `loss`" };
                all.push(Violation::new("ber", found, "one of them"));
            }
            for (key, value) in [("ber", ber), ("loss", loss)] {
                if let Some(value) = value.filter(|v| !(*v > 0.0 && *v < 1.0)) {
                    all.push(Violation::new(key, format!("is {value}"), "a number above 0 and below 1"));
                }
            }
        }
        all
    }

    /// What it breaks each time; `draw` picks a target by name among those that may be random.
    fn broken(&self, targets: &Targets<'_>, random: &mut Stream) -> Result<Vec<Broken>, Violation> {
        let one = |what| Ok(vec![what]);
        match self {
            Event::LinkDown(e) => one(Broken::Link(targets.link(&e.link, random)?)),
            Event::Degrade(e) => one(Broken::Rate { link: targets.link(&e.link, random)?, rate: e.rate }),
            Event::BitErrors(e) => {
                let by_frames = || FrameLoss::Share(e.loss.unwrap_or_default());
                let loss = e.ber.map_or_else(by_frames, FrameLoss::BitErrorRate);
                one(Broken::Frames { link: targets.link(&e.link, random)?, loss })
            }
            Event::SwitchReboot(e) => one(Broken::Switch(targets.switch(&e.switch, random)?)),
            Event::PauseStorm(e) => {
                let host = targets.host(&e.host, random)?;
                let priorities = e.priority.map_or(u8::MAX, |priority| 1 << priority);
                let ports = targets.ports_of(host).into_iter();
                Ok(ports.map(|port| Broken::PauseStorm { port, priorities }).collect())
            }
            Event::ReceiverStop(e) => {
                let host = targets.host(&e.host, random)?;
                one(Broken::Receiver { host, rate: None, buffer: e.buffer.unwrap_or(BUFFER).0 })
            }
            Event::ReceiverSlow(e) => {
                let host = targets.host(&e.host, random)?;
                one(Broken::Receiver { host, rate: Some(e.rate), buffer: e.buffer.unwrap_or(BUFFER).0 })
            }
        }
    }

    /// The faults that the event number `event` of a scenario with this `seed` and duration makes.
    pub(super) fn faults(
        &self,
        event: usize,
        targets: &Targets<'_>,
        seed: u64,
        duration: Option<Time>,
    ) -> Result<Vec<Fault>, Violation> {
        let mut random = stream(seed, Domain::Faults, FIRST_STREAM + event as u64);
        let timing = self.timing();
        let last = timing.until.or(duration).unwrap_or(Time::ZERO);
        let mut faults = Vec::new();
        let mut at = timing.at.unwrap_or(Time::ZERO);
        if let Some(mean) = timing.mean_time_between {
            at = at.saturating_add(exponential(mean, &mut random));
            if at > last {
                return Ok(faults);
            }
        }
        loop {
            let mean = |mean| exponential(mean, &mut random).max(Time(1));
            let length = timing.length.or_else(|| timing.mean_length.map(mean));
            let until = length.map_or(Time::NEVER, |length| at.saturating_add(length));
            let what = self.broken(targets, &mut random)?.into_iter();
            faults.extend(what.map(|what| Fault { what, from: at, until, event: event as u32 }));
            at = match (timing.every, timing.mean_time_between) {
                (Some(every), _) => at.saturating_add(every),
                (None, Some(mean)) => until.saturating_add(exponential(mean, &mut random).max(Time(1))),
                (None, None) => return Ok(faults),
            };
            if at > last || faults.len() > MAX_FAULTS {
                return Ok(faults);
            }
        }
    }
}

/// A time with an exponential distribution.
fn exponential(mean: Time, random: &mut Stream) -> Time {
    // 53 random bits from (0, 1]: the logarithm is finite.
    let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    Time((-libm::log(uniform) * mean.ps() as f64) as u64)
}

impl Timing {
    /// What is wrong with the times; an event that `may_last` the whole run needs none.
    fn validate(&self, may_last: bool) -> Vec<Violation> {
        let mut all = Vec::new();
        let mut add = |key, found: &str, expected: &str| all.push(Violation::new(key, found, expected));
        let again = self.every.is_some() || self.mean_time_between.is_some();
        let lasts = self.length.is_some() || self.mean_length.is_some();
        if self.at.is_none() && self.mean_time_between.is_none() && (!may_last || again) {
            add("at", "is missing", "a time such as \"1ms\", or `mean_time_between`");
        }
        if self.every.is_some() && self.mean_time_between.is_some() {
            add("every", "stands beside `mean_time_between`", "one of them");
        }
        if self.length.is_some() && self.mean_length.is_some() {
            add("for", "stands beside `mean_for`", "one of them");
        }
        if again && !lasts {
            let key = if self.every.is_some() { "every" } else { "mean_time_between" };
            add(key, "lets an event come again that never ends", "`for` or `mean_for` as well");
        }
        if self.until.is_some() && !again {
            add(
                "until",
                "has no meaning for an event that comes once",
                "`every`, `mean_time_between`, or no `until`",
            );
        }
        let times = [
            ("for", self.length),
            ("every", self.every),
            ("mean_time_between", self.mean_time_between),
            ("mean_for", self.mean_length),
        ];
        for (key, _) in times.into_iter().filter(|(_, time)| *time == Some(Time::ZERO)) {
            add(key, "is zero", "a time such as \"1ms\"");
        }
        if let (Some(every), Some(length)) = (self.every, self.length)
            && every <= length
        {
            add("every", &format!("is {every}, and `for` is {length}"), &format!("more than {length}"));
        }
        all
    }
}
