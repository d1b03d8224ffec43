//! The choices that a scenario has: schemes, detectors, throttles, topologies, routings, traffic patterns and workloads.

use serde_json::{Value, json};
use xoff_fabric::routing::{DModK, Ecmp, SpanningTrees, StaticRoutes};
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
        "routings": routings(),
        "patterns": patterns.collect::<Vec<_>>(),
        "workloads": workloads.collect::<Vec<_>>(),
    })
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
    ]
}
