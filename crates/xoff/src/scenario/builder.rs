//! Scenarios built in code.

use std::io;
use web_time::Instant;

use serde::Serialize;
use toml::{Table, Value};
use xoff_engine::Time;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{FlowControl, Host, LinkSettings, Packets, Quirks, Switch};
use xoff_fabric::topology::AnyTopology;
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::{AnyScheme, AnyThrottle};
use xoff_traffic::Pattern;
use xoff_traffic::files::Texts;

use super::error::{self, Source};
use super::needs::Effort;
use super::{Event, Record, Run, Scenario, ScenarioError, Sweep, check, default_seed, read};

/// The name in messages of a scenario that was built in code. Its lines are those of [`ScenarioBuilder::to_toml`].
const ORIGIN: &str = "scenario built in code";

/// Builds a [`Scenario`] from typed values, with the checks that a scenario file gets.
///
/// ```
/// use xoff::prelude::*;
///
/// let star = Star { hosts: 3, ..Star::default() };
/// let scenario = ScenarioBuilder::new(star, AnyScheme::Dctcp(Default::default()))
///     .traffic(FlowPattern::message("host0", "host2", Bytes(1_000_000)))
///     .traffic(FlowPattern::message("host1", "host2", Bytes(1_000_000)))
///     .build()?;
/// assert_eq!(scenario.flows().flows.len(), 2);
/// # Ok::<(), ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScenarioBuilder(Scenario);

impl ScenarioBuilder {
    /// A scenario on `topology` with `scheme`, without traffic; everything else has its default.
    pub fn new(topology: impl Into<AnyTopology>, scheme: AnyScheme) -> Self {
        ScenarioBuilder(Scenario {
            title: None,
            seed: default_seed(),
            lossy: false,
            run: Run::default(),
            topology: topology.into(),
            routing: Routing::default(),
            scheme,
            detector: None,
            throttle: None,
            packets: Packets::default(),
            host: Host::default(),
            switch: Switch::default(),
            flow_control: FlowControl::default(),
            link: LinkSettings::default(),
            quirks: Quirks::default(),
            traffic: Vec::new(),
            event: Vec::new(),
            record: Record::default(),
            sweep: Sweep::default(),
            tune: None,
            warnings: Vec::new(),
            needs: 0,
            is_counted: false,
            built: Default::default(),
        })
    }

    /// Sets the scenario's name in reports.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.0.title = Some(title.into());
        self
    }

    /// Sets the seed of all random streams.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// Allows losses for lack of buffer.
    pub fn lossy(mut self, lossy: bool) -> Self {
        self.0.lossy = lossy;
        self
    }

    /// Sets the latest end in simulated time.
    pub fn duration(mut self, duration: Time) -> Self {
        self.0.run.duration = Some(duration);
        self
    }

    /// Sets when the run ends.
    pub fn run(mut self, run: Run) -> Self {
        self.0.run = run;
        self
    }

    /// Sets how packets find their path.
    pub fn routing(mut self, routing: Routing) -> Self {
        self.0.routing = routing;
        self
    }

    /// Sets the detector that marks packets.
    pub fn detector(mut self, detector: AnyDetector) -> Self {
        self.0.detector = Some(detector);
        self
    }

    /// Sets the throttle that holds back the hosts' NIC ports.
    pub fn throttle(mut self, throttle: AnyThrottle) -> Self {
        self.0.throttle = Some(throttle);
        self
    }

    /// Sets sizes on the wire.
    pub fn packets(mut self, packets: Packets) -> Self {
        self.0.packets = packets;
        self
    }

    /// Sets host NICs and their transport.
    pub fn host(mut self, host: Host) -> Self {
        self.0.host = host;
        self
    }

    /// Sets switches.
    pub fn switch(mut self, switch: Switch) -> Self {
        self.0.switch = switch;
        self
    }

    /// Sets flow control between neighbours.
    pub fn flow_control(mut self, flow_control: FlowControl) -> Self {
        self.0.flow_control = flow_control;
        self
    }

    /// Sets errors on links and their repair.
    pub fn link(mut self, link: LinkSettings) -> Self {
        self.0.link = link;
        self
    }

    /// Sets behaviour taken over from other simulators.
    pub fn quirks(mut self, quirks: Quirks) -> Self {
        self.0.quirks = quirks;
        self
    }

    /// Adds a traffic pattern.
    pub fn traffic(mut self, pattern: impl Into<Pattern>) -> Self {
        self.0.traffic.push(pattern.into());
        self
    }

    /// Adds something that breaks.
    pub fn event(mut self, event: Event) -> Self {
        self.0.event.push(event);
        self
    }

    /// Sets what the run records beside its flows.
    pub fn record(mut self, record: Record) -> Self {
        self.0.record = record;
        self
    }

    /// The scenario as the text of a scenario file. Settings with their default are left out.
    ///
    /// # Errors
    /// If TOML cannot represent a value, such as a whole number of more than 63 bits.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        let s = &self.0;
        let failed = |error: toml::ser::Error| error::unreadable(ORIGIN, &error.to_string());
        let mut all = Table::try_from(s).map_err(failed)?;
        for (key, default) in [
            ("run", defaults::<Run>()),
            ("packets", defaults::<Packets>()),
            ("host", defaults::<Host>()),
            ("switch", defaults::<Switch>()),
            ("link", defaults::<LinkSettings>()),
            ("quirks", defaults::<Quirks>()),
            ("record", defaults::<Record>()),
        ] {
            let default = default.map_err(failed)?;
            let Some(Value::Table(table)) = all.get_mut(key) else { continue };
            table.retain(|key, value| default.get(key) != Some(value));
            if table.is_empty() {
                all.remove(key);
            }
        }
        toml::to_string(&all).map_err(failed)
    }

    /// Builds the scenario, with the same checks as for one from a file.
    ///
    /// # Errors
    /// All problems, at the lines of [`ScenarioBuilder::to_toml`].
    pub fn build(self) -> Result<Scenario, ScenarioError> {
        self.build_with(Effort::Build)
    }

    /// Builds the scenario of a [session](crate::cosim): as [`ScenarioBuilder::build`], but there may be no traffic.
    ///
    /// # Errors
    /// Those of [`ScenarioBuilder::build`].
    pub fn build_for_session(self) -> Result<Scenario, ScenarioError> {
        self.build_with(Effort::Session)
    }

    fn build_with(self, effort: Effort) -> Result<Scenario, ScenarioError> {
        let began = Instant::now();
        let text = self.to_toml()?;
        let source = Source { text: &text, origin: ORIGIN, overrides: &[] };
        let root = read::tree(&source)?;
        let files = |_: &str| Err(io::Error::new(io::ErrorKind::Unsupported, "this scenario has no folder"));
        check::scenario(self.0, &root, &source, &Texts(&files), began, effort)
    }
}

/// The default of a table as TOML.
fn defaults<T: Default + Serialize>() -> Result<Table, toml::ser::Error> {
    Table::try_from(T::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::Bytes;
    use xoff_fabric::settings::Pfc;
    use xoff_fabric::topology::Star;
    use xoff_traffic::pattern::Flow;

    fn flow(src: &str) -> Flow {
        Flow::message(src, "host0", Bytes(1_000_000))
    }

    fn builder() -> ScenarioBuilder {
        let scheme = AnyScheme::Dctcp(Default::default());
        ScenarioBuilder::new(Star { hosts: 3, ..Star::default() }, scheme).traffic(flow("host1"))
    }

    #[test]
    fn a_built_scenario_is_the_one_that_its_text_is_read_as() {
        let packets = Packets { payload: Some(Bytes(1000)), ..Packets::default() };
        let builder = builder().traffic(flow("host2")).seed(7).packets(packets).duration(Time::from_ms(2));
        let text = builder.to_toml().expect("TOML");
        assert!(!text.contains("mtu") && text.contains("payload"), "{text}");
        let (built, read) = (builder.build().expect("a scenario"), Scenario::parse(&text, "text", &[]));
        let json = |s: &Scenario| serde_json::to_string(s).expect("JSON");
        assert_eq!(json(&built), json(&read.expect("a scenario")));
        assert_eq!(built.flows().flows.len(), 2);
        assert_eq!(built.packets.mtu, Bytes(1062));
    }

    #[test]
    fn a_built_scenario_is_refused_as_a_file_is() {
        let pfc = Pfc { xoff: Some(Bytes(0)), ..Pfc::default() };
        let error = builder().flow_control(FlowControl::Pfc(pfc)).build().expect_err("a threshold of zero");
        let text = error.to_string();
        assert!(
            text.contains("`xoff` in [flow_control] is zero") && text.contains("xoff = \"0B\""),
            "{text}"
        );
        let none = ScenarioBuilder::new(Star::default(), AnyScheme::Dctcp(Default::default())).build();
        assert!(none.expect_err("no traffic").to_string().contains("makes no flow"));
    }
}
