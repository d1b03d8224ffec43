//! What JavaScript sees. Values of several parts go as JSON texts, columns of tables as typed arrays.

use js_sys::{Array, Float64Array, Function, Int32Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use xoff::run::Progress;

use crate::check::{Input, check as check_input};
use crate::run::{Finished, run as run_input};
use crate::table::{Column, column};

/// Makes a defect an exception of JavaScript that says where it is, in place of `unreachable`.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| wasm_bindgen::throw_str(&panic.to_string())));
}

/// A check of the scenario `text`: [`crate::check::Checked`] as JSON. `files` and `overrides` are JSON too: an object of texts by
/// name, and a list of keys with values.
///
/// # Errors
/// If `files` or `overrides` are something else.
#[wasm_bindgen]
pub fn check(text: &str, files: &str, overrides: &str) -> Result<String, JsError> {
    Ok(json(&check_input(&input(text, files, overrides)?)))
}

/// Every key of a scenario with its meaning, as JSON.
#[wasm_bindgen]
pub fn keys() -> String {
    json(xoff::scenario::keys())
}

/// The JSON schema of a scenario.
#[wasm_bindgen]
pub fn schema() -> String {
    json(&xoff::scenario::schema())
}

/// Runs a scenario. `on_progress` is called about ten times a second with the share that is done, the simulated time in ps, the
/// flows that are complete, and their number; if it returns `false`, the run ends with what it has.
///
/// # Errors
/// [`crate::run::Refused`], as JSON.
#[wasm_bindgen]
pub fn run(text: &str, files: &str, overrides: &str, on_progress: &Function) -> Result<Run, JsValue> {
    let input = input(text, files, overrides)?;
    let mut report = |p: &Progress| {
        let values = [p.share, p.now.ps() as f64, p.flows_done as f64, p.flows as f64];
        let values: Array = values.into_iter().map(JsValue::from).collect();
        on_progress.apply(&JsValue::NULL, &values).is_ok_and(|answer| answer != JsValue::FALSE)
    };
    let finished = run_input(&input, &mut report).map_err(|refused| JsValue::from(json(&refused)))?;
    Ok(Run(finished))
}

/// The results of a run.
#[wasm_bindgen]
pub struct Run(Finished);

#[wasm_bindgen]
impl Run {
    /// The manifest, as JSON: what `manifest.json` of a native run has, without checksums.
    pub fn manifest(&self) -> String {
        json(&self.0.output.manifest)
    }

    /// The run in a few numbers, as JSON.
    pub fn summary(&self) -> String {
        json(&self.0.output.summary())
    }

    /// The fingerprint: equal for runs with the same events at the same times, here and in a native run.
    pub fn fingerprint(&self) -> String {
        self.0.output.manifest["fingerprint"].as_str().unwrap_or_default().to_string()
    }

    /// The network, as JSON: see [`crate::run::network`].
    pub fn network(&self) -> String {
        json(&self.0.network)
    }

    /// The columns of a table: a `Float64Array` of numbers, with NaN for none, or `[Int32Array, names]`. `undefined` if the run has no
    /// such table or column.
    pub fn column(&self, table: &str, name: &str) -> JsValue {
        let table = self.0.output.tables.iter().find(|t| t.name == table);
        match table.and_then(|table| column(&table.batch, name)) {
            None => JsValue::UNDEFINED,
            Some(Column::Numbers(values)) => Float64Array::from(values.as_slice()).into(),
            Some(Column::Names(keys, names)) => {
                let names: Array = names.iter().map(|name| JsValue::from_str(name)).collect();
                Array::of2(&Int32Array::from(keys.as_slice()), &names).into()
            }
        }
    }
}

fn input<'a>(text: &'a str, files: &str, overrides: &str) -> Result<Input<'a>, JsError> {
    Ok(Input { text, files: serde_json::from_str(files)?, overrides: serde_json::from_str(overrides)? })
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    // No map here has keys other than texts, which alone could fail.
    serde_json::to_string(value).unwrap_or_default()
}
