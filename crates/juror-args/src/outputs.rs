//! Places that a command writes to.

use std::path::{Path, PathBuf};

use juror_report::Format;

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

/// Refuses a file that is written one value a line, but whose ending promises another format, so that nobody
/// could read it. `what` is in the file, in the plural.
pub fn check_is_lines(name: &str, what: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        is_stream(name) || Format::from_name(name) == Some(Format::JsonLines),
        "{name}: {what} are written one a line\n  hint: name a file that ends with .jsonl"
    );
    Ok(())
}

/// Whether an output is standard output, a pipe or a device: its name promises nothing.
pub fn is_stream(name: &str) -> bool {
    let is_none = |about: std::fs::Metadata| !about.is_file() && !about.is_dir();
    name == "-" || Path::new(name).metadata().is_ok_and(is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_only_where_lines_are_read() {
        for name in ["a.jsonl", "a/b.NDJSON", "-", "/dev/null"] {
            assert!(check_is_lines(name, "labels").is_ok(), "{name}");
        }
        for name in ["a.json", "a.yaml", "a.jsonl.gz", "a.tsv", "jsonl", "src"] {
            let refused = check_is_lines(name, "labels").expect_err(name).to_string();
            assert!(refused.starts_with(&format!("{name}: labels are written one a line\n")));
        }
    }
}
