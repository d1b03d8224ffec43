//! What excludes a choice of paths for each packet: schemes and imitations of other simulators that require one path for
//! each connection.

use xoff_engine::Violation;
use xoff_schemes::{AnyScheme, IntPath};

use crate::path::routing::PathChoice;
use crate::settings::{NicTimer, Order, Settings};

/// What is wrong with a `choice` of paths on so many virtual lanes together with a scheme and settings; `None` if nothing is. The
/// violation's key belongs to the table `routing`.
pub fn choice_violation(
    choice: PathChoice,
    lanes: u8,
    scheme: &AnyScheme,
    settings: &Settings,
) -> Option<Violation> {
    let (signals, name) = (scheme.signals(), scheme.name());
    if lanes > 1 && signals.switch_point {
        let found = format!(
            "takes {lanes} virtual lanes, and switches of scheme `{name}` know one priority for each connection"
        );
        return Some(Violation::new(
            "name",
            found,
            "a routing on one lane, such as `ecmp`, or another scheme",
        ));
    }
    if choice == PathChoice::PerConnection {
        return None;
    }
    let imitation = |key: &str| {
        let why = format!("{key} in [quirks] imitates a simulator in which each connection has one path");
        (why, format!("`per_connection`, or no {key}"))
    };
    let (why, expected) = if signals.credits.is_some() {
        let why = format!("data of scheme `{name}` takes the path of its receiver's credits backwards");
        (why, "`per_connection`, or another scheme".to_string())
    } else if signals.symmetric_paths || signals.int == IntPath::Ack {
        let why = format!(
            "scheme `{name}` reads the load of its data's path where the ACKs pass, on that same path"
        );
        (why, "`per_connection`, or a scheme with telemetry on data such as `hpcc`".to_string())
    } else if signals.switch_point {
        let why =
            format!("switches of scheme `{name}` keep one path for each connection, for their messages");
        (why, "`per_connection`, or another scheme".to_string())
    } else if settings.quirks.order == Order::Scheduled {
        imitation("`order = \"scheduled\"`")
    } else if settings.quirks.nic == NicTimer::Ns3 {
        imitation("`nic = \"ns3\"`")
    } else {
        return None;
    };
    Some(Violation::new("choice", format!("is `{}`, and {why}", choice.name()), expected))
}
