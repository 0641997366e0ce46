//! Places that a command writes to.

use std::path::{Path, PathBuf};

/// Refuses outputs that would overwrite an input or each other. The folder in which a run is to be kept
/// counts as an input.
pub fn check_outputs<'n>(
    inputs: impl IntoIterator<Item = &'n String>,
    outputs: impl IntoIterator<Item = &'n String>,
    prints_data: bool,
) -> anyhow::Result<()> {
    let place = |name: &String| {
        let path = Path::new(name);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        path.canonicalize().ok().or_else(|| Some(folder.ok()?.join(path.file_name()?)))
    };
    let inputs: Vec<_> = inputs.into_iter().filter(|name| *name != "-").filter_map(place).collect();
    let mut taken = Vec::new();
    let mut on_stdout = usize::from(prints_data);
    for name in outputs {
        if name == "-" {
            on_stdout += 1;
            anyhow::ensure!(on_stdout < 2, "only one thing can go to standard output");
            continue;
        }
        let place = place(name);
        let is = |known: &PathBuf| Some(known) == place.as_ref();
        anyhow::ensure!(!inputs.iter().any(is), "{name}: the output is also an input");
        let folder = place.as_deref().and_then(Path::parent);
        anyhow::ensure!(
            !inputs.iter().any(|input| input.is_dir() && Some(input.as_path()) == folder),
            "{name}: the output is in the folder of an input or of the run, and could replace a part of it\n  hint: write it elsewhere"
        );
        anyhow::ensure!(!taken.iter().any(is), "{name}: two outputs go to the same file");
        taken.extend(place);
    }
    Ok(())
}
