//! Scenarios that are small enough to be run by the thousand.

use std::fmt::Write;

use arbitrary::Unstructured;

use crate::Result;

const TOPOLOGIES: [&str; 11] = [
    "name = \"dumbbell\"\nsenders = 3\nreceivers = 2\nswitches = 2",
    "name = \"chain\"\nswitches = 3",
    "name = \"star\"\nhosts = 5",
    "name = \"fat_tree\"\nk = 2\nhosts_per_edge = 2",
    "name = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2",
    "name = \"leaf_spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2",
    "name = \"dragonfly\"\nrouters_per_group = 2\nhosts_per_router = 1\nglobal_links = 1",
    "name = \"torus\"\ndimensions = [2, 3]\nhosts_per_switch = 1",
    "name = \"hyperx\"\ndimensions = [2, 2]\nhosts_per_switch = 1",
    "name = \"jellyfish\"\nswitches = 6\ndegree = 3\nhosts_per_switch = 1",
    "name = \"rail_optimized\"\ngroups = 2\nhosts_per_group = 2\nrails = 2\nspines = 1",
];

/// Routings for which some networks are, beside ECMP's path choices.
const ROUTINGS: [&str; 6] = [
    "name = \"dragonfly\"",
    "name = \"dragonfly\"\nvariant = \"valiant\"",
    "name = \"dragonfly\"\nvariant = \"ugal_l\"",
    "name = \"dragonfly\"\nvariant = \"ugal_g\"",
    "name = \"dimension_order\"",
    "name = \"k_shortest\"",
];

/// The schemes with what they need beside their name.
const SCHEMES: [&str; 19] = [
    "none",
    "dcqcn",
    "hpcc",
    "fncc",
    "rocc",
    "dctcp",
    "swift",
    "srcc",
    "pcn",
    "timely",
    "patched_timely",
    "sqcc",
    "ib_cc",
    "powertcp",
    "theta_powertcp",
    "bolt",
    "nscc",
    "rccc",
    "nscc_rccc",
];

const FLOW_CONTROLS: [&str; 9] = [
    "name = \"pfc\"\nxoff = \"20KB\"",
    "name = \"pfc\"\nxoff = \"60KB\"\nresponse_quanta = 20",
    "name = \"pfc\"\nxoff = \"40KB\"\nquanta = 200",
    "name = \"cbfc\"",
    "name = \"cbfc\"\non_change = true\ncounters = \"12_bit\"",
    "name = \"credit\"",
    "name = \"credit\"\nunit = \"packet\"",
    "name = \"credit\"\ngranularity = \"flit\"",
    "name = \"credit\"\ncredits = 200\nundersized = true",
];

const HOSTS: [&str; 6] = [
    "",
    "ack_every = 3",
    "ack_class = \"data\"",
    "transport = \"selective_repeat\"\nbdp_cap = true",
    "transport = \"unordered\"",
    "processing_delay = \"700ns\"",
];

/// Ways of a switch, each with its number of priorities.
const SWITCHES: [(&str, u8); 7] = [
    ("", 1),
    ("queueing = \"virtual_output\"", 1),
    ("forwarding = \"cut_through\"", 1),
    ("forwarding = \"store_and_forward\"", 1),
    ("priorities = 2", 2),
    ("priorities = 3\nscheduling = \"strict\"", 3),
    ("priorities = 2\nscheduling = \"weighted\"\nweights = [4, 1]", 2),
];

const QUIRKS: [&str; 4] =
    ["", "clock = \"ns3\"", "order = \"scheduled\"", "clock = \"ns3\"\nnic = \"ns3\"\norder = \"scheduled\""];

const RATES: [&str; 6] = ["1Gbps", "10Gbps", "25Gbps", "40Gbps", "100Gbps", "400Gbps"];
const DELAYS: [&str; 5] = ["10ns", "100ns", "1us", "1.5us", "7us"];
const SIZES: [&str; 6] = ["1B", "64B", "1456B", "1457B", "20KB", "100KB"];
/// Sizes of messages that come as often as a load needs them: of 1 B, 400 Gbps carry 700,000 in 20 us at a load of 0.7.
const LOAD_SIZES: [&str; 3] = ["1456B", "1457B", "20KB"];

/// A scenario of up to eight hosts, four groups of flows and 200 us, in every way in which its parts may meet. Most such
/// scenarios are valid; what cannot go together is refused when it is read.
///
/// # Errors
/// The bytes have come to their end.
pub fn small_scenario(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = format!("seed = {}\n", bytes.int_in_range(0..=1000)?);
    let scheme = *bytes.choose(&SCHEMES)?;
    let (mut flow_control, mut quirks, mut choice) =
        (*bytes.choose(&FLOW_CONTROLS)?, *bytes.choose(&QUIRKS)?, "");
    let (mut host, mut switch) = (*bytes.choose(&HOSTS)?, *bytes.choose(&SWITCHES)?);
    if scheme == "srcc" {
        flow_control = FLOW_CONTROLS[0];
    }
    if bytes.ratio(1, 8)? {
        text += "lossy = true\n";
        (flow_control, switch) = ("name = \"none\"", ("buffer = \"30KB\"", 1));
    }
    if !flow_control.contains("pfc") && quirks.contains("nic") {
        quirks = "clock = \"ns3\"";
    }
    if quirks.contains("nic") {
        host = "";
    }
    let is_uet = ["nscc", "rccc", "nscc_rccc"].contains(&scheme);
    if is_uet {
        // Its transport keeps no times of queues and roots, and is for messages with connections of their own.
        (host, quirks) = ("transport = \"uet\"", "");
        choice = bytes.choose(&["", "entropy", "adaptive"])?;
    } else if !quirks.contains("order") && !["fncc", "srcc"].contains(&scheme) {
        choice = bytes.choose(&["", "", "per_packet", "adaptive", "flowlet"])?;
    }
    let trims = is_uet && text.contains("lossy") && bytes.ratio(1, 2)?;
    if trims {
        switch.0 = "queue_limit = \"30KB\"\ntrimming = {}";
    }
    let stop = bytes.choose(&["flows", "time"])?;
    text += &format!("[run]\nduration = \"200us\"\nstop = \"{stop}\"\nmax_events = 300000\n");
    let (topology, rate, delay) = (bytes.choose(&TOPOLOGIES)?, bytes.choose(&RATES)?, bytes.choose(&DELAYS)?);
    text += &format!("[topology]\n{topology}\nrate = \"{rate}\"\ndelay = \"{delay}\"\n");
    text += &format!("[scheme]\nname = \"{scheme}\"\n");
    table(&mut text, "flow_control", flow_control);
    table(&mut text, "host", host);
    table(&mut text, "switch", switch.0);
    table(&mut text, "quirks", quirks);
    if !choice.is_empty() {
        table(&mut text, "routing", &format!("choice = \"{choice}\""));
    } else if bytes.ratio(1, 2)? {
        let own = match *topology {
            name if name.contains("dragonfly") => *bytes.choose(&ROUTINGS[..4])?,
            name if name.contains("torus") || name.contains("hyperx") => ROUTINGS[4],
            name if name.contains("jellyfish") => ROUTINGS[5],
            _ => *bytes.choose(&["", "weighted = true"])?,
        };
        table(&mut text, "routing", own);
    }
    if ["dcqcn", "dctcp", "ib_cc"].contains(&scheme) && bytes.ratio(1, 3)? {
        let detector = bytes.choose(&["red", "np_ecn", "fecn", "tcd"])?;
        text += &format!("[detector]\nname = \"{detector}\"\n");
    }
    if flow_control.contains("credit") && quirks.is_empty() && bytes.ratio(1, 4)? {
        text += "[throttle]\nname = \"pft\"\n";
    }
    text += "[record]\ninterval = \"5us\"\nqueues = \"all\"\nutilization = true\nreordering = true\n";
    let by_path = choice.is_empty() && !is_uet && !text.contains("[routing]");
    text += &format!("breakdown = {}\nroots = {by_path}\n", !is_uet);
    for _ in 0..bytes.int_in_range(1..=4)? {
        traffic(&mut text, switch.1, is_uet, bytes)?;
    }
    Ok(text)
}

fn table(text: &mut String, name: &str, keys: &str) {
    if !keys.is_empty() {
        *text += &format!("[{name}]\n{keys}\n");
    }
}

/// A group of flows among hosts that every topology has, or among all.
fn traffic(text: &mut String, priorities: u8, is_uet: bool, bytes: &mut Unstructured<'_>) -> Result<()> {
    let (size, start) = (bytes.choose(&SIZES)?, bytes.int_in_range(0..=50)?);
    let priority = bytes.int_in_range(0..=priorities - 1)?;
    let connection = if is_uet { "per_message" } else { *bytes.choose(&["per_message", "per_pair", "2"])? };
    let kind = match bytes.int_in_range(0..=5)? {
        0 => format!("pattern = \"permutation\"\nsize = \"{size}\""),
        1 => format!("pattern = \"all_to_all\"\nsize = \"{size}\""),
        2 if !is_uet => "pattern = \"permutation\"\nstop = \"120us\"".into(),
        3 => {
            let size = bytes.choose(&LOAD_SIZES)?;
            format!("pattern = \"poisson\"\nload = 0.7\nsize = \"{size}\"\nduration = \"20us\"")
        }
        4 => "pattern = \"allreduce\"\nalgorithm = \"ring\"\nsize = \"10KB\"\nrepetitions = 2".into(),
        _ => format!("pattern = \"incast\"\nsenders = \"all\"\nreceiver = \"random\"\nsize = \"{size}\""),
    };
    let connection =
        if connection.starts_with('p') { format!("\"{connection}\"") } else { connection.into() };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "[[traffic]]\n{kind}\nstart = \"{start}us\"\npriority = {priority}\nconnection = {connection}\n"
    );
    Ok(())
}
