//! Folders of tools.

use std::path::Path;

use juror_toolbench::Registry;
use juror_tools::load_folder;

use crate::clock::timed;

/// Times loading a folder of tool files, and making all names of its APIs.
pub(crate) fn run(folder: &str) -> anyhow::Result<()> {
    let (catalog, seconds) = timed(|| load_folder(Path::new(folder)));
    let catalog = catalog?;
    let (registry, registry_seconds) = timed(|| Registry::of_tools(&catalog.tools));
    println!("tools: {}", catalog.tools.len());
    println!("apis: {}", registry.entries().len());
    println!("seconds: {seconds:.6}");
    println!("registry_seconds: {registry_seconds:.6}");
    Ok(())
}
