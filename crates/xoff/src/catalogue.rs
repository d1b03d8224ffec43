//! The choices that a scenario has: schemes, detectors, throttles, flow controls, transports, topologies, routings, path
//! choices, traffic patterns and workloads.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use xoff_fabric::routing::{
    DModK, DimensionOrder, Dragonfly, Ecmp, KShortest, PathChoice, SpanningTrees, StaticRoutes,
};
use xoff_fabric::settings::{FlowControl, Transport};
use xoff_fabric::topology;
use xoff_schemes::{CatalogueEntry, detector, registry, throttle};
use xoff_traffic::{pattern, workloads};

/// Everything, as JSON: for each kind a list of entries with name, title, source, parameters' schema and defaults.
pub fn all() -> Value {
    let scheme = |s: CatalogueEntry| json!({ "name": s.name, "title": s.title, "source": s.source, "schema": s.schema, "defaults": s.defaults });
    let topologies = topology::catalogue().into_iter().map(|t| {
        json!({ "name": t.name, "title": t.title, "source": t.source, "schema": t.schema, "defaults": t.defaults })
    });
    let patterns = pattern::catalogue()
        .into_iter()
        .map(|p| json!({ "name": p.name, "title": p.title, "schema": p.schema, "defaults": p.defaults }));
    let workloads = workloads::catalogue().into_iter().map(|w| {
        json!({
            "name": w.name, "title": w.title, "source": w.source, "mean_bytes": w.mean,
            "points": w.points,
        })
    });
    json!({
        "schemes": registry::catalogue().into_iter().map(scheme).collect::<Vec<_>>(),
        "detectors": detector::catalogue().into_iter().map(scheme).collect::<Vec<_>>(),
        "throttles": throttle::catalogue().into_iter().map(scheme).collect::<Vec<_>>(),
        "topologies": topologies.collect::<Vec<_>>(),
        "flow_controls": variants::<FlowControl>(),
        "transports": variants::<Transport>(),
        "routings": routings(),
        "path_choices": variants::<PathChoice>(),
        "patterns": patterns.collect::<Vec<_>>(),
        "workloads": workloads.collect::<Vec<_>>(),
    })
}

/// The variants of a type, from its JSON schema: the name of each, its documentation as title, and the schema of its
/// parameters, if it has any.
fn variants<T: JsonSchema>() -> Vec<Value> {
    let schema = schemars::schema_for!(T).to_value();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let entry = |variant: &Value| {
        let tag = variant["properties"]["name"]["const"].as_str();
        // The parameters stand beside the tag, or in the definition that the variant refers to.
        let target = variant["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        let from = target.map_or(variant, |target| &schema["$defs"][target]);
        let all = from["properties"].as_object().into_iter().flatten();
        // In the order of the fields.
        let properties: Map<String, Value> =
            all.filter(|(key, _)| *key != "name").map(|(key, about)| (key.clone(), about.clone())).collect();
        let parameters = json!({ "properties": properties, "$defs": schema["$defs"] });
        json!({
            "name": tag.map_or_else(|| text(&variant["const"]), str::to_string),
            "title": text(&variant["description"]), "schema": parameters,
        })
    };
    schema["oneOf"].as_array().into_iter().flatten().map(entry).collect()
}

fn routings() -> Vec<Value> {
    fn entry<T: Default + serde::Serialize + schemars::JsonSchema>(name: &str, title: &str) -> Value {
        json!({
            "name": name, "title": title, "schema": schemars::schema_for!(T).to_value(),
            "defaults": serde_json::to_value(T::default()).unwrap_or_default(),
        })
    }
    vec![
        entry::<Ecmp>("ecmp", "equal-cost multipath by a hash of the flow, symmetric or not"),
        entry::<SpanningTrees>("spanning_trees", "several spanning trees; a flow and its ACKs keep to one"),
        entry::<StaticRoutes>("static_routes", "paths as listed, the rest by ECMP"),
        entry::<DModK>("d_mod_k", "fat-trees: the destination's number decides on each link upwards"),
        entry::<Dragonfly>(
            "dragonfly",
            "dragonfly and dragonfly+: minimal (MIN), by a random group (Valiant), or by queues (UGAL)",
        ),
        entry::<DimensionOrder>("dimension_order", "torus and HyperX: one dimension after the other"),
        entry::<KShortest>("k_shortest", "one of the k shortest paths, by a hash of the flow"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_variants_have_the_names_that_scenarios_write() {
        let all = all();
        let names = |list: &str| -> Vec<String> {
            let entries = all[list].as_array().expect("a list").iter();
            entries.map(|entry| entry["name"].as_str().expect("a name").to_string()).collect()
        };
        assert_eq!(names("flow_controls"), FlowControl::NAMES);
        assert_eq!(names("transports"), ["go_back_n", "selective_repeat", "unordered", "uet"]);
        assert_eq!(names("path_choices"), ["per_connection", "per_packet", "flowlet", "adaptive", "entropy"]);
    }

    #[test]
    fn every_choice_is_described_and_its_parameters_are_listed() {
        for (list, entries) in all().as_object().expect("lists") {
            for entry in entries.as_array().expect("a list") {
                assert!(entry["title"].as_str().is_some_and(|title| !title.is_empty()), "{list}: {entry}");
            }
        }
        let all = all();
        let pfc = &all["flow_controls"][1];
        assert_eq!(pfc["name"], "pfc");
        assert!(pfc["schema"]["properties"]["xoff"]["description"].as_str().is_some());
        assert_eq!(pfc["schema"]["properties"]["refresh"]["default"], true);
        let order: Vec<&String> =
            pfc["schema"]["properties"].as_object().expect("parameters").keys().collect();
        assert_eq!(order[..3], ["xoff", "xon", "alpha"], "as the type has them");
    }
}
