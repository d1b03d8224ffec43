//! Entries of the catalogues of schemes, detectors and throttles.

use schemars::JsonSchema;
use serde::Serialize;

/// A scheme, a detector or a throttle, as catalogues list it.
#[derive(Clone, Debug)]
pub struct CatalogueEntry {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line of description.
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// JSON schema of the parameters, with their documentation.
    pub schema: serde_json::Value,
    /// The parameters' defaults.
    pub defaults: serde_json::Value,
}

impl CatalogueEntry {
    /// The entry of the scheme, detector or throttle with the parameters `P`.
    pub(crate) fn of<P: Default + Serialize + JsonSchema>(
        name: &'static str,
        title: &'static str,
        source: &'static str,
    ) -> Self {
        CatalogueEntry {
            name,
            title,
            source,
            schema: schemars::schema_for!(P).to_value(),
            defaults: serde_json::to_value(P::default()).unwrap_or_default(),
        }
    }
}
