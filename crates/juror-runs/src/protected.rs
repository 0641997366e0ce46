//! Files that others must not write: those in the folders of runs.

use std::path::Path;

use crate::manifest::{BadManifest, Manifest};
use crate::run_file::RunFile;

/// The beginning of the formats of manifests, of whatever release.
const FORMATS: &str = "juror.run/";

/// Returns whether a file is in the folder of a run, where it could replace a part of it. Of a folder
/// whose `run.json` cannot be read, perhaps because it is somebody else's, only files of runs are
/// protected.
pub fn is_in_run(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match Manifest::read(folder.unwrap_or(Path::new("."))) {
        Ok(Some(Ok(_))) => true,
        Ok(Some(Err(BadManifest::OtherFormat(format)))) => format.starts_with(FORMATS),
        Ok(Some(Err(BadManifest::Unreadable(_)))) => is_named_like_one(path),
        Ok(None) | Err(_) => false,
    }
}

fn is_named_like_one(path: &Path) -> bool {
    RunFile::ALL.iter().any(|file| path.file_name() == Some(file.name().as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::RunKind;
    use serde_json::json;

    #[test]
    fn files_in_the_folder_of_a_run_are_protected() {
        let root = tempfile::tempdir().expect("a folder");
        let is_protected = |name: &str| is_in_run(&root.path().join(name));
        assert!(!is_protected("run.json") && !is_protected("report.html"));
        std::fs::write(root.path().join("run.json"), "{\"laps\": 3}").expect("written");
        assert!(is_protected("run.json") && is_protected("results.jsonl"));
        assert!(!is_protected("report.html"), "somebody else's run.json");
        std::fs::write(root.path().join("run.json"), "{\"format\": \"juror.run/9\"}")
            .expect("written");
        assert!(is_protected("report.html"), "of another release");
        Manifest::new(RunKind::Eval, "x", json!({})).write(root.path()).expect("written");
        assert!(is_protected("report.html") && !is_protected("elsewhere/report.html"));
    }
}
