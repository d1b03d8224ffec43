//! The scenario: one TOML file that describes a run completely.
//!
//! [`Scenario::parse`] reads it, refuses what cannot be run, and names the place, what was expected and the nearest
//! valid name. Nothing is ignored, and nothing is defaulted in silence: a [`Scenario`] serializes to the resolved
//! form, which holds every default and is itself a scenario. [`schema()`] is its JSON schema, from the types that are
//! read; [`keys`] is the same as a list.
//!
//! ```
//! let text = r#"
//!     [topology]
//!     name = "star"
//!     [scheme]
//!     name = "none"
//!     [[traffic]]
//!     pattern = "flow"
//!     src = "host1"
//!     dst = "host0"
//!     size = "1MB"
//! "#;
//! let set = [("seed".to_string(), "7".to_string())];
//! let scenario = xoff::Scenario::parse(text, "example.toml", &set)?;
//! assert_eq!(scenario.seed, 7);
//! # Ok::<(), xoff::ScenarioError>(())
//! ```

mod builder;
mod check;
mod check_credit;
mod check_effect;
mod check_event;
mod check_link;
mod check_load;
mod check_network;
mod check_record;
mod check_settings;
mod check_thresholds;
mod check_traffic;
mod check_uet;
mod de;
mod error;
mod event;
mod event_targets;
mod explain;
mod fast_forward;
mod in_flight;
mod needs;
mod own;
mod range;
mod read;
mod read_sweep;
mod record;
mod schema;
mod sweep;
mod tree;
mod tune;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use web_time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Time;
use xoff_fabric::fault::Fault;
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{FlowControl, Host, LinkSettings, Packets, Quirks, Settings, Switch};
use xoff_fabric::topology::{AnyTopology, Topology};
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::{AnyScheme, AnyThrottle, NetworkEnv};
use xoff_traffic::files::Texts;
use xoff_traffic::{FileSource, Pattern, Traffic};

use crate::files::{self, Folder, MAX_SCENARIO, check_size};

pub use builder::ScenarioBuilder;
pub(crate) use check_network::MAX_PATH;
pub use check_record::MAX_ROWS;
pub(crate) use check_traffic::MAX_DURATION;
pub use error::{Location, Problem, ScenarioError};
pub use event::{
    BitErrors, Degrade, Event, LinkDown, MAX_FAULTS, PauseStorm, ReceiverSlow, ReceiverStop, SwitchReboot,
};
pub use fast_forward::FastForward;
pub use needs::Effort;
pub(crate) use needs::{rows_text, rows_that_fit};
pub use own::{NameError, OwnSchemes, ParamFault};
pub use range::{Range, Unit};
pub use record::{Queues, Rates, Record, States};
pub use schema::{KeyDoc, keys, schema};
pub use sweep::{Axis, Point, Setting, Sweep};
pub use tune::{Keys, Measure, Sampler, Tune};

/// A scenario, checked, with every default.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scenario {
    /// The scenario's name in reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Seed of every random stream.
    #[schemars(default = "default_seed")]
    pub seed: u64,
    /// Packets may be dropped for lack of buffer, and are then sent again; otherwise a drop ends the run.
    #[schemars(default)]
    pub lossy: bool,
    /// When a run ends.
    #[schemars(default)]
    pub run: Run,
    /// Hosts, switches and links.
    pub topology: AnyTopology,
    /// How packets find their path.
    #[schemars(default)]
    pub routing: Routing,
    /// Congestion control.
    pub scheme: AnyScheme,
    /// What marks packets if the scheme uses marks; without it, the scheme's own detector, which is RED unless the scheme says
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<AnyDetector>,
    /// What holds back the hosts' NIC ports by their used credits; nothing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<AnyThrottle>,
    /// Sizes on the wire.
    #[schemars(default)]
    pub packets: Packets,
    /// Host NICs and their transport.
    #[schemars(default)]
    pub host: Host,
    /// Switches.
    #[schemars(default)]
    pub switch: Switch,
    /// Flow control between neighbours.
    #[schemars(default)]
    pub flow_control: FlowControl,
    /// Errors on links, and their repair by link-level retry.
    #[schemars(default)]
    #[serde(skip_serializing_if = "LinkSettings::is_default")]
    pub link: LinkSettings,
    /// Behaviour taken over from other simulators, for comparison with them.
    #[schemars(default)]
    pub quirks: Quirks,
    /// What hosts send: any number of patterns, which add up.
    pub traffic: Vec<Pattern>,
    /// What breaks during the run: links, switches, NICs and receivers, at stated times or at random; nothing without it.
    #[schemars(default)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<Event>,
    /// What a run records beside its flows.
    #[schemars(default)]
    pub record: Record,
    /// Keys with lists of values or ranges, for whose combinations the scenario stands: `"scheme.name" = ["hpcc",
    /// "fncc"]`, `"flow_control.xoff" = { from = "50KB", to = "500KB", steps = 4 }`. A single run takes the scenario
    /// as it stands without them.
    #[schemars(default)]
    #[serde(skip_serializing_if = "Sweep::is_empty")]
    pub sweep: Sweep,
    /// A search for good values of some keys. A single run takes the scenario as it stands without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tune: Option<Tune>,
    /// See [`Scenario::warnings`].
    #[serde(skip)]
    warnings: Vec<String>,
    /// See [`Scenario::needs`].
    #[serde(skip)]
    needs: u64,
    /// See [`Scenario::is_counted`].
    #[serde(skip)]
    is_counted: bool,
    /// See [`Scenario::network`] and [`Scenario::flows`].
    #[serde(skip)]
    built: Arc<Built>,
}

/// The network, routing and flows that were built to check the scenario. A run uses them instead of building them again.
#[derive(Debug, Default)]
struct Built {
    topology: Arc<Topology>,
    traffic: Traffic,
    router: Router,
    env: NetworkEnv,
    /// What its events break.
    faults: Vec<Fault>,
    /// Wall time that reading and building took.
    took: Duration,
}

/// The default seed.
const fn default_seed() -> u64 {
    1
}

/// When a run ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// The latest end in simulated time; without it, the run ends when the last flow is complete.
    pub duration: Option<Time>,
    /// What ends the run.
    pub stop: Stop,
    /// A run of more events than this is broken off with an error.
    pub max_events: Option<u64>,
    /// An outcome that would otherwise be an error: with `"deadlock"`, a run that ends in one keeps its results and its exit
    /// status of 0; with `"unfinished"`, so does a run whose last flows an `[[event]]` keeps from completing.
    pub expect: Option<Expect>,
    /// Carries time forward over steady states, `{ tolerance = 0.01 }`; without it, every packet is simulated. The run then
    /// has one thread, and records flows, totals and samples only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_forward: Option<FastForward>,
}

/// An outcome of a run that would otherwise be an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Ports wait for each other for ever.
    Deadlock,
    /// Something broken keeps flows from completing.
    Unfinished,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The completion of the last flow, or `duration` if it comes first.
    #[default]
    Flows,
    /// `duration`, even when all flows are complete.
    Time,
}

/// Gives the text of a file that a scenario names; the name is as written there.
pub type Files<'a> = &'a dyn Fn(&str) -> io::Result<String>;

impl Scenario {
    /// Reads a scenario that names no files. `origin` is its name in messages; `overrides` are keys with dots, and
    /// values in TOML or bare strings, set in order before anything is read.
    pub fn parse(text: &str, origin: &str, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let none = |_: &str| Err(io::Error::new(io::ErrorKind::Unsupported, "this scenario has no folder"));
        Scenario::parse_with(text, origin, overrides, &none)
    }

    /// Reads a scenario; `files` gives the text of the files that it names.
    pub fn parse_with(
        text: &str,
        origin: &str,
        overrides: &[(String, String)],
        files: Files<'_>,
    ) -> Result<Self, ScenarioError> {
        Scenario::parse_among(text, origin, overrides, files, &OwnSchemes::default(), Effort::Build)
    }

    /// Reads a scenario that may name one of these schemes as well, with so much effort.
    pub fn parse_among(
        text: &str,
        origin: &str,
        overrides: &[(String, String)],
        files: Files<'_>,
        schemes: &OwnSchemes,
        effort: Effort,
    ) -> Result<Self, ScenarioError> {
        Scenario::parse_from(text, origin, overrides, &Texts(files), schemes, effort)
    }

    /// Reads a scenario like [`Scenario::parse_among`]; some of its files may be no texts, or large.
    pub fn parse_from(
        text: &str,
        origin: &str,
        overrides: &[(String, String)],
        files: &dyn FileSource,
        schemes: &OwnSchemes,
        effort: Effort,
    ) -> Result<Self, ScenarioError> {
        let began = Instant::now();
        check_size(text.len() as u64, MAX_SCENARIO).map_err(|reason| error::unreadable(origin, &reason))?;
        let source = error::Source { text, origin, overrides };
        let root = read::tree(&source)?;
        let scenario = read::scenario(&root, &source, schemes, effort)?;
        check::scenario(scenario, &root, &source, files, began, effort)
    }

    /// Reads the scenario at `path`, and the files that it names from the same folder.
    pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        Scenario::load_among(path, overrides, &OwnSchemes::default())
    }

    /// Reads the scenario at `path` like [`Scenario::load`]; it may also name one of these schemes.
    pub fn load_among(
        path: &Path,
        overrides: &[(String, String)],
        schemes: &OwnSchemes,
    ) -> Result<Self, ScenarioError> {
        let origin = path.display().to_string();
        let bytes =
            files::read(path, MAX_SCENARIO).map_err(|e| error::unreadable(&origin, &e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|e| error::not_text(&origin, &e.utf8_error()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Scenario::parse_from(&text, &origin, overrides, &Folder(folder), schemes, Effort::Build)
    }

    /// The virtual lanes that routing takes for each priority of traffic.
    pub fn lanes(&self) -> u8 {
        let rings =
            matches!(&self.topology, AnyTopology::Torus(torus) if torus.dimensions.iter().any(|&k| k > 2));
        self.routing.lanes(rings).max(1)
    }

    /// The network's settings in one piece.
    pub fn settings(&self) -> Settings {
        Settings {
            packets: self.packets.clone(),
            host: self.host.clone(),
            switch: self.switch.clone(),
            flow_control: self.flow_control.clone(),
            link: self.link.clone(),
            lossy: self.lossy,
            quirks: self.quirks.clone(),
            throttle: self.throttle.clone(),
        }
    }

    /// The network's nodes and links, built when the scenario was read.
    pub fn network(&self) -> &Arc<Topology> {
        &self.built.topology
    }

    /// The flows of all its traffic, made when the scenario was read. Hosts are numbered in the order of
    /// [`Topology::hosts`].
    pub fn flows(&self) -> &Traffic {
        &self.built.traffic
    }

    /// Its routing on the network, built when the scenario was read.
    pub fn router(&self) -> &Router {
        &self.built.router
    }

    /// What its scheme knows of the network, determined when the scenario was read.
    pub fn env(&self) -> NetworkEnv {
        self.built.env
    }

    /// What its events break, drawn when the scenario was read.
    pub fn faults(&self) -> &[Fault] {
        &self.built.faults
    }

    /// Wall time that reading it took, including the time to build its network, routing and flows.
    pub fn took(&self) -> Duration {
        self.built.took
    }

    /// Whether the network, its routes or its flows were only counted, see [`Effort::Count`]: such a scenario cannot be run.
    pub fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// The memory that a run takes at its peak, in bytes: an estimate from counts of links, messages, packets and samples.
    pub fn needs(&self) -> u64 {
        self.needs
    }

    /// Warnings of settings that are allowed but probably not meant, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The scenario as a single run, without the sweep and the tuning.
    pub fn alone(mut self) -> Self {
        self.sweep = Sweep::default();
        self.tune = None;
        self.warnings.retain(|warning| !check::SEARCHES.contains(&warning.as_str()));
        self
    }

    /// The overrides of each run of its sweep; a single run without overrides if it has no sweep.
    pub fn sweep_points(&self) -> Vec<Point> {
        self.sweep.points()
    }
}
