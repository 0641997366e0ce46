//! Loading folders of tools.

use std::path::Path;

use juror_tools::Catalog;

use crate::clock::timed;

/// Times loading a folder of tool files and making all names of its APIs.
pub(crate) fn run(folder: &str) -> anyhow::Result<()> {
    let (catalog, seconds) = timed(|| Catalog::load(Path::new(folder)));
    let catalog = catalog?;
    let (n_apis, registry_seconds) = timed(|| catalog.registry().entries().len());
    println!("tools: {}", catalog.tools().len());
    println!("apis: {n_apis}");
    println!("seconds: {seconds:.6}");
    println!("registry_seconds: {registry_seconds:.6}");
    Ok(())
}
