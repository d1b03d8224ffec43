//! The list of schemes. A new scheme adds one line here and its `mod` line in the crate's root, nothing elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time, Violation};

use crate::catalogue::CatalogueEntry;
use crate::detector::AnyDetector;
use crate::foreign::{Foreign, ForeignCongestion, ForeignNotification, ForeignReaction, SchemeFailure};
use crate::signals::Signals;
use crate::traits::{
    Ack, Arrival, Carry, Cnm, Cnp, CongestionPoint, Credit, FlowEnv, Labelled, NetworkEnv, NotificationPoint,
    Outgoing, PacketView, PortEnv, QueueView, ReactionPoint, Scheme, SendLimits, Sent, SlEnv, SwitchEnv,
    SwitchPoint, sends_messages,
};
use crate::uet::Uet;

/// Forwards one method to the current variant.
macro_rules! forward {
    ($self:ident, $enum:ident { $($variant:ident),* }, $inner:ident => $call:expr) => {
        match $self { $($enum::$variant($inner) => $call,)* $enum::Foreign($inner) => $call }
    };
}

macro_rules! schemes {
    ($($(#[$doc:meta])* $variant:ident = $params:ty;)*) => {
        /// A scheme by name with its parameters.
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(tag = "name", rename_all = "snake_case")]
        pub enum AnyScheme {
            $($(#[$doc])* $variant($params),)*
            /// A scheme that is not in the registry, under a name that the scenario's caller gives.
            #[serde(skip)]
            Foreign(Foreign),
        }

        impl Serialize for AnyScheme {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                #[serde(tag = "name", rename_all = "snake_case")]
                enum BuiltIn<'a> { $($variant(&'a $params)),* }
                match self {
                    $(AnyScheme::$variant(s) => BuiltIn::$variant(s).serialize(serializer),)*
                    AnyScheme::Foreign(s) => s.serialize(serializer),
                }
            }
        }

        /// A reaction point of any scheme.
        #[derive(Debug)]
        pub enum AnyReaction {
            $($(#[$doc])* $variant(<$params as Scheme>::Reaction),)*
            /// Of a scheme that is not in the registry; boxed, so that the variant is no larger than the others.
            Foreign(ForeignReaction),
        }

        /// A notification point of any scheme.
        #[derive(Debug)]
        pub enum AnyNotification {
            $($(#[$doc])* $variant(<$params as Scheme>::Notification),)*
            /// Of a scheme that is not in the registry; boxed, so that the variant is no larger than the others.
            Foreign(ForeignNotification),
        }

        /// A congestion point of any scheme.
        #[derive(Debug)]
        pub enum AnyCongestion {
            $($(#[$doc])* $variant(<$params as Scheme>::Congestion),)*
            /// Of a scheme that is not in the registry; boxed, so that the variant is no larger than the others.
            Foreign(ForeignCongestion),
        }

        /// Every scheme, in the order of the registry.
        pub fn catalogue() -> Vec<CatalogueEntry> {
            vec![$(CatalogueEntry::of::<$params>(
                <$params as Scheme>::NAME,
                <$params as Scheme>::TITLE,
                <$params as Scheme>::SOURCE,
            )),*]
        }

        impl AnyScheme {
            /// The names of all schemes.
            pub const NAMES: &'static [&'static str] = &[$(<$params as Scheme>::NAME),*];

            /// The scheme called `name`, with parameters read from `source`; `None` if no scheme has that name.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $(if name == <$params as Scheme>::NAME {
                    return Some(<$params>::deserialize(source).map(AnyScheme::$variant));
                })*
                let _ = source;
                Option::None
            }
            /// The name in scenarios.
            pub fn name(&self) -> &str {
                match self {
                    $(AnyScheme::$variant(_) => <$params as Scheme>::NAME,)*
                    AnyScheme::Foreign(s) => s.name(),
                }
            }
            /// See [`Scheme::validate`].
            pub fn validate(&self) -> Result<(), Violation> {
                forward!(self, AnyScheme { $($variant),* }, s => s.validate())
            }
            /// See [`Scheme::resolve`].
            pub fn resolve(self, env: &NetworkEnv) -> Self {
                match self {
                    $(AnyScheme::$variant(s) => AnyScheme::$variant(s.resolve(env)),)*
                    AnyScheme::Foreign(s) => AnyScheme::Foreign(s.resolve(env).unwrap_or(s)),
                }
            }
            /// See [`Scheme::signals`].
            pub fn signals(&self) -> Signals {
                forward!(self, AnyScheme { $($variant),* }, s => s.signals())
            }
            /// See [`Scheme::detector`].
            pub fn detector(&self) -> AnyDetector {
                match self {
                    $(AnyScheme::$variant(s) => s.detector().into(),)*
                    AnyScheme::Foreign(s) => s.detector(),
                }
            }
            /// Whether the scheme's receivers or switches may send messages of their own: CNPs or CNMs.
            pub fn notifies(&self) -> bool {
                match self {
                    $(AnyScheme::$variant(s) => sends_messages(s),)*
                    AnyScheme::Foreign(s) => s.notifies(),
                }
            }
            /// The same scheme for one run.
            pub fn for_run(&self) -> Self {
                match self {
                    AnyScheme::Foreign(s) => AnyScheme::Foreign(s.for_run().unwrap_or_else(|| s.clone())),
                    built_in => built_in.clone(),
                }
            }
            /// Whether all points of the scheme must be called from one thread.
            pub fn needs_one_thread(&self) -> bool {
                matches!(self, AnyScheme::Foreign(s) if s.needs_one_thread())
            }
            /// Whether the scheme has failed in this run; only a foreign scheme can fail.
            #[inline]
            pub fn is_broken(&self) -> bool {
                matches!(self, AnyScheme::Foreign(s) if s.is_broken())
            }
            /// The scheme's failure in this run.
            pub fn failure(&self) -> Option<SchemeFailure> {
                match self {
                    AnyScheme::Foreign(s) => s.failure(),
                    _ => Option::None,
                }
            }
            /// See [`Scheme::reaction`].
            pub fn reaction(&self, env: &FlowEnv) -> AnyReaction {
                match self {
                    $(AnyScheme::$variant(s) => AnyReaction::$variant(s.reaction(env)),)*
                    AnyScheme::Foreign(s) => AnyReaction::Foreign(s.reaction(env)),
                }
            }
            /// See [`Scheme::sl_reaction`].
            pub fn sl_reaction(&self, env: &SlEnv) -> Option<AnyReaction> {
                match self {
                    $(AnyScheme::$variant(s) => s.sl_reaction(env).map(AnyReaction::$variant),)*
                    AnyScheme::Foreign(s) => s.sl_reaction(env).map(AnyReaction::Foreign),
                }
            }
            /// See [`Scheme::notification`].
            pub fn notification(&self, env: &FlowEnv) -> AnyNotification {
                match self {
                    $(AnyScheme::$variant(s) => AnyNotification::$variant(s.notification(env)),)*
                    AnyScheme::Foreign(s) => AnyNotification::Foreign(s.notification(env)),
                }
            }
            /// See [`Scheme::switch`].
            pub fn switch(&self, env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
                forward!(self, AnyScheme { $($variant),* }, s => s.switch(env))
            }
            /// See [`Scheme::uet`].
            pub fn uet(&self) -> Option<Uet> {
                match self {
                    $(AnyScheme::$variant(s) => s.uet(),)*
                    AnyScheme::Foreign(_) => Option::None,
                }
            }
            /// See [`Scheme::congestion`].
            pub fn congestion(&self, env: &PortEnv) -> AnyCongestion {
                match self {
                    $(AnyScheme::$variant(s) => AnyCongestion::$variant(s.congestion(env)),)*
                    AnyScheme::Foreign(s) => AnyCongestion::Foreign(s.congestion(env)),
                }
            }
        }

        impl AnyReaction {
            /// A copy of the point; `None` of a foreign one.
            pub fn try_clone(&self) -> Option<Self> {
                match self {
                    $(AnyReaction::$variant(s) => Some(AnyReaction::$variant(s.clone())),)*
                    AnyReaction::Foreign(_) => Option::None,
                }
            }
            /// The limits that the point sets now.
            pub fn limits(&self) -> SendLimits {
                forward!(self, AnyReaction { $($variant),* }, s => SendLimits::of(s))
            }
            /// [`ReactionPoint::on_send`]; the `limits` that follow are written in the same step.
            #[inline]
            pub fn send_and_limit(&mut self, sent: &Sent, limits: &mut SendLimits) {
                forward!(self, AnyReaction { $($variant),* }, s => {
                    s.on_send(sent);
                    *limits = SendLimits::of(s)
                })
            }
            /// [`ReactionPoint::on_ack`]; the `limits` that follow are written in the same step.
            #[inline]
            pub fn ack_and_limit(&mut self, ack: &Ack<'_>, limits: &mut SendLimits) {
                forward!(self, AnyReaction { $($variant),* }, s => {
                    s.on_ack(ack);
                    *limits = SendLimits::of(s)
                })
            }
        }

        impl ReactionPoint for AnyReaction {
            #[inline]
            fn on_send(&mut self, sent: &Sent) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_send(sent))
            }
            #[inline]
            fn on_ack(&mut self, ack: &Ack<'_>) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_ack(ack))
            }
            fn label(&self, packet: &Outgoing) -> u8 {
                forward!(self, AnyReaction { $($variant),* }, s => s.label(packet))
            }
            fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_cnp(now, cnp))
            }
            fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_cnm(now, cnm))
            }
            fn on_credit(&mut self, now: Time, number: u16) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_credit(now, number))
            }
            fn spend_credit(&mut self) -> Option<u16> {
                forward!(self, AnyReaction { $($variant),* }, s => s.spend_credit())
            }
            fn on_loss(&mut self, now: Time) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_loss(now))
            }
            fn on_timeout(&mut self, now: Time) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_timeout(now))
            }
            fn on_idle(&mut self, now: Time) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_idle(now))
            }
            fn on_busy(&mut self, now: Time) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_busy(now))
            }
            fn on_timer(&mut self, now: Time) {
                forward!(self, AnyReaction { $($variant),* }, s => s.on_timer(now))
            }
            #[inline]
            fn next_timer(&self) -> Time {
                forward!(self, AnyReaction { $($variant),* }, s => s.next_timer())
            }
            #[inline]
            fn rate(&self) -> Rate {
                forward!(self, AnyReaction { $($variant),* }, s => s.rate())
            }
            #[inline]
            fn window(&self) -> u64 {
                forward!(self, AnyReaction { $($variant),* }, s => s.window())
            }
            fn burst(&self) -> u64 {
                forward!(self, AnyReaction { $($variant),* }, s => s.burst())
            }
            fn carry(&mut self, carry: &Carry) -> bool {
                forward!(self, AnyReaction { $($variant),* }, s => s.carry(carry))
            }
            fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
                match (self, earlier) {
                    $((AnyReaction::$variant(s), AnyReaction::$variant(e)) => s.repeats(e, carry),)*
                    _ => false,
                }
            }
            fn variables(&self, now: Time, probe: &mut dyn FnMut(&str, f64)) {
                forward!(self, AnyReaction { $($variant),* }, s => s.variables(now, probe))
            }
        }

        impl NotificationPoint for AnyNotification {
            #[inline]
            fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
                forward!(self, AnyNotification { $($variant),* }, s => NotificationPoint::on_data(s, arrival))
            }
            fn on_timer(&mut self, now: Time) -> Option<Cnp> {
                forward!(self, AnyNotification { $($variant),* }, s => NotificationPoint::on_timer(s, now))
            }
            fn on_request(&mut self, now: Time, wants: bool) {
                forward!(self, AnyNotification { $($variant),* }, s => NotificationPoint::on_request(s, now, wants))
            }
            fn credit(&mut self, now: Time) -> Option<Credit> {
                forward!(self, AnyNotification { $($variant),* }, s => NotificationPoint::credit(s, now))
            }
            #[inline]
            fn next_timer(&self) -> Time {
                forward!(self, AnyNotification { $($variant),* }, s => NotificationPoint::next_timer(s))
            }
        }

        impl CongestionPoint for AnyCongestion {
            fn on_enqueue(&mut self, queue: &QueueView, packet: &PacketView) {
                forward!(self, AnyCongestion { $($variant),* }, s => CongestionPoint::on_enqueue(s, queue, packet))
            }
            fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) {
                forward!(self, AnyCongestion { $($variant),* }, s => CongestionPoint::on_dequeue(s, queue, packet))
            }
            fn on_label(&mut self, queue: &QueueView, packet: &Labelled, out: &mut Vec<Cnm>) -> u8 {
                forward!(self, AnyCongestion { $($variant),* }, s => CongestionPoint::on_label(s, queue, packet, out))
            }
            fn on_timer(&mut self, queue: &QueueView, out: &mut Vec<Cnm>) {
                forward!(self, AnyCongestion { $($variant),* }, s => CongestionPoint::on_timer(s, queue, out))
            }
            fn next_timer(&self) -> Time {
                forward!(self, AnyCongestion { $($variant),* }, s => CongestionPoint::next_timer(s))
            }
        }
    };
}

schemes! {
    /// No congestion control.
    None = crate::none::NoControl;
    /// DCQCN: rate from congestion notification packets.
    Dcqcn = crate::dcqcn::Dcqcn;
    /// HPCC: window from telemetry on data packets.
    Hpcc = crate::hpcc::Hpcc;
    /// FNCC: window from telemetry on ACKs.
    Fncc = crate::fncc::Fncc;
    /// RoCC: fair rate from switches.
    Rocc = crate::rocc::Rocc;
    /// DCTCP: window from the share of marked bytes.
    Dctcp = crate::dctcp::Dctcp;
    /// Swift: window from the delay's distance to a target.
    Swift = crate::swift::Swift;
    /// SRCC: target rates straight from switches to the flows that block others.
    Srcc = crate::srcc::Srcc;
    /// PCN: rate from what the receiver gets.
    Pcn = crate::pcn::Pcn;
    /// TIMELY: rate from the gradient of the round-trip time.
    Timely = crate::timely::Timely;
    /// Patched TIMELY: TIMELY with a fixed point.
    PatchedTimely = crate::patched_timely::PatchedTimely;
    /// SQCC: patched TIMELY with steps by the number of flows.
    Sqcc = crate::sqcc::Sqcc;
    /// InfiniBand congestion control: delays between packets from a table.
    IbCc = crate::ib_cc::IbCc;
    /// PowerTCP: window from power, by telemetry.
    Powertcp = crate::powertcp::PowerTcp;
    /// θ-PowerTCP: window from power, by round-trip times.
    ThetaPowertcp = crate::powertcp::theta::ThetaPowerTcp;
    /// Bolt: window from messages and tokens of switches.
    Bolt = crate::bolt::Bolt;
    /// ExpressPass: credits from receivers, which every port limits.
    Expresspass = crate::expresspass::ExpressPass;
    /// NSCC: Ultra Ethernet's window from marks and delay.
    Nscc = crate::nscc::Nscc;
    /// RCCC: Ultra Ethernet's credits from receivers.
    Rccc = crate::rccc::Rccc;
    /// NSCC and RCCC together.
    NsccRccc = crate::nscc_rccc::NsccRccc;
}
