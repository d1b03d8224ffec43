//! Writes the JavaScript beside xoff-wasm's WebAssembly: `wasm-glue xoff_wasm.wasm FOLDER`.
//!
//! This is what the command `wasm-bindgen` does, by the library that it is made of: nothing has to be installed beside Rust, and
//! `Cargo.lock` holds its version. The JavaScript is no module, so that a worker made from a text can hold it.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("usage: wasm-glue MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let written = Bindgen::new()
        .input_path(module)
        .no_modules(true)
        .and_then(|bindgen| bindgen.typescript(false).remove_producers_section(true).generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
