//! A scheme that is not in the registry is treated as one that is: the same bytes, the same messages.

use crate::common::folder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use xoff::scenario::{Effort, NameError, OwnSchemes, ParamFault};
use xoff::{Output, Scenario, Threads, run_on};
use xoff_engine::Violation;
use xoff_schemes::dcqcn::Dcqcn;
use xoff_schemes::fncc::Fncc;
use xoff_schemes::hpcc::Hpcc;
use xoff_schemes::rocc::Rocc;
use xoff_schemes::srcc::Srcc;
use xoff_schemes::timely::Timely;
use xoff_schemes::{FlowEnv, Foreign, NetworkEnv, PortEnv, Scheme, Signals, SwitchEnv, SwitchPoint};

/// A built-in scheme under another name, as another crate might have it.
macro_rules! again {
    ($($wrapper:ident = $name:literal: $built_in:ty;)*) => {
        $(
            #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
            #[serde(transparent)]
            struct $wrapper($built_in);

            impl Scheme for $wrapper {
                const NAME: &'static str = $name;
                const TITLE: &'static str = <$built_in as Scheme>::TITLE;
                const SOURCE: &'static str = <$built_in as Scheme>::SOURCE;
                type Reaction = <$built_in as Scheme>::Reaction;
                type Notification = <$built_in as Scheme>::Notification;
                type Congestion = <$built_in as Scheme>::Congestion;
                type DefaultDetector = <$built_in as Scheme>::DefaultDetector;

                fn validate(&self) -> Result<(), Violation> {
                    self.0.validate()
                }
                fn resolve(self, env: &NetworkEnv) -> Self {
                    $wrapper(self.0.resolve(env))
                }
                fn signals(&self) -> Signals {
                    self.0.signals()
                }
                fn detector(&self) -> Self::DefaultDetector {
                    self.0.detector()
                }
                fn reaction(&self, env: &FlowEnv) -> Self::Reaction {
                    self.0.reaction(env)
                }
                fn notification(&self, env: &FlowEnv) -> Self::Notification {
                    self.0.notification(env)
                }
                fn congestion(&self, env: &PortEnv) -> Self::Congestion {
                    self.0.congestion(env)
                }
                fn switch(&self, env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
                    self.0.switch(env)
                }
            }
        )*

        fn own() -> OwnSchemes {
            let schemes = OwnSchemes::default();
            $(let schemes = schemes.with::<$wrapper>().expect("a name of its own");)*
            schemes
        }

        /// Each built-in scheme's name and the other one.
        const PAIRS: &[(&str, &str)] = &[$((<$built_in as Scheme>::NAME, $name)),*];
    };
}

again! {
    // Telemetry on data; CNPs and timers; telemetry on ACKs; messages from queues, and from switches; timestamps.
    HpccAgain = "hpcc_again": Hpcc;
    DcqcnAgain = "dcqcn_again": Dcqcn;
    FnccAgain = "fncc_again": Fncc;
    RoccAgain = "rocc_again": Rocc;
    SrccAgain = "srcc_again": Srcc;
    TimelyAgain = "timely_again": Timely;
}

fn load(scheme: &str) -> Scenario {
    let set = [
        ("topology.k", "4"),
        ("traffic.0.size", "100KB"),
        ("traffic.0.pattern", "incast"),
        ("traffic.0.senders", "8"),
        ("traffic.0.receiver", "host0"),
        ("record.rates", "all"),
        ("scheme.name", scheme),
    ];
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::load_among(&folder().join("fat_tree_permutation.toml"), &set, &own())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn run(scheme: &str, threads: u32) -> Output {
    run_on(Threads::UpTo(threads), &load(scheme), &mut |_| true).unwrap_or_else(|e| panic!("{scheme}: {e}"))
}

#[test]
fn a_built_in_scheme_taken_for_a_foreign_one_gives_the_same_bytes() {
    for (built_in, foreign) in PAIRS {
        let theirs = run(built_in, 1);
        for threads in [1, 2] {
            let ours = run(foreign, threads);
            assert_eq!(ours.manifest["threads"], threads, "{foreign}");
            assert_eq!(ours.manifest["fingerprint"], theirs.manifest["fingerprint"], "{foreign}");
            for (our, their) in ours.tables.iter().zip(&theirs.tables) {
                assert!(our.batch == their.batch, "{foreign}: {}", our.name);
            }
        }
    }
}

#[test]
fn the_manifest_has_its_parameters_and_where_it_comes_from() {
    for (built_in, foreign) in PAIRS {
        let (theirs, ours) = (run(built_in, 1).manifest, run(foreign, 1).manifest);
        let mut expected = theirs["scenario"]["scheme"].clone();
        expected["name"] = (*foreign).into();
        assert_eq!(ours["scenario"]["scheme"], expected);
        assert_eq!(theirs["scheme_origin"], serde_json::Value::Null);
        assert_eq!(ours["scheme_origin"]["language"], "rust");
        let origin = ours["scheme_origin"]["type"].as_str().expect("a text");
        assert!(origin.starts_with("it::own_schemes::") && origin.ends_with("Again"), "{origin}");
    }
}

/// What a scenario with this `[scheme]` is refused with.
fn refused(scheme: &str) -> String {
    let text = format!(
        "[topology]\nname = \"star\"\n[[traffic]]\npattern = \"flow\"\nsrc = \"host1\"\ndst = \"host0\"\nsize = \"1MB\"\n\
         [scheme]\n{scheme}\n"
    );
    let files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let schemes =
        own().with_dynamic("typed_in", vec!["step".into(), "cut".into()], |given| match given.get("step") {
            None => Err(ParamFault::Missing("step".into())),
            Some(step) if step.is_u64() => Ok(Foreign::of(HpccAgain::default())),
            Some(step) => Err(ParamFault::Value {
                key: "step".into(),
                found: step.to_string(),
                expected: "a whole number".into(),
            }),
        });
    let schemes = schemes.expect("a name of its own");
    match Scenario::parse_among(&text, "own.toml", &[], &files, &schemes, Effort::Build) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn its_mistakes_are_named_as_a_built_in_ones_are() {
    for (scheme, place, message, expected) in [
        ("name = \"hpcc_agian\"", 9, "unknown scheme \"hpcc_agian\"", "did you mean `hpcc_again`?"),
        ("name = \"hpcc_again\"\neat = 0.9", 10, "unknown key `eat` in [scheme]", "did you mean `eta`?"),
        ("name = \"hpcc_again\"\neta = \"much\"", 10, "`eta` in [scheme] cannot be", "expected a number"),
        ("name = \"hpcc_again\"\neta = 3.0", 10, "`eta`", "expected"),
        ("name = \"typed_in\"\nstpe = 3", 10, "unknown key `stpe` in [scheme]", "did you mean `step`?"),
        ("name = \"typed_in\"\ncut = 3", 8, "[scheme] lacks the key `step`", "expected `step = <...>`"),
        ("name = \"typed_in\"\nstep = 0.5", 10, "`step` in [scheme]: 0.5", "expected a whole number"),
        ("name = \"typed_in\"\nstep = 2026-01-01", 10, "`step` in [scheme] cannot be the date", "expected"),
    ] {
        let said = refused(scheme);
        assert!(said.contains(&format!("own.toml:{place}:")), "{scheme}: {said}");
        assert!(said.contains(message) && said.contains(expected), "{scheme}: {said}");
    }
    assert_eq!(refused("name = \"typed_in\"\nstep = 3"), "");
    let far = Scenario::parse("scheme = { name = \"hpcc_again\" }", "own.toml", &[]).unwrap_err().to_string();
    assert!(far.contains("unknown scheme \"hpcc_again\""), "{far}");
}

#[test]
fn a_sweep_may_vary_its_parameters() {
    assert_eq!(refused("name = \"typed_in\"\nstep = 3\n[sweep]\n\"scheme.step\" = [1, 2]"), "");
    assert_eq!(refused("name = \"hpcc_again\"\n[sweep]\n\"scheme.eta\" = [0.9, 0.95]"), "");
    let said = refused("name = \"typed_in\"\nstep = 3\n[sweep]\n\"scheme.stepp\" = [1, 2]");
    assert!(
        said.contains("unknown key `scheme.stepp`") && said.contains("did you mean `scheme.step`?"),
        "{said}"
    );
}

#[test]
fn a_name_is_one_schemes_alone() {
    assert_eq!(own().with::<Hpcc>().err(), Some(NameError::Taken("hpcc".into())));
    assert_eq!(own().with::<HpccAgain>().err(), Some(NameError::Taken("hpcc_again".into())));
    for name in ["", "1st", "my scheme", "a-b", "é"] {
        let make = |_| Ok(Foreign::of(HpccAgain::default()));
        let error = OwnSchemes::default().with_dynamic(name, vec![], make).err();
        assert_eq!(error, Some(NameError::Malformed(name.into())));
    }
}

#[test]
fn it_serializes_as_a_scenario_has_it() {
    let scenario = load("timely_again");
    let written = serde_json::to_value(&scenario.scheme).expect("JSON");
    assert_eq!(written["name"], "timely_again");
    assert_eq!(
        written.as_object().map(|o| o.len()),
        json!(load("timely").scheme).as_object().map(|o| o.len())
    );
    // Alone it is no scheme that the registry knows.
    assert!(serde_json::from_value::<xoff_schemes::AnyScheme>(written).is_err());
}
