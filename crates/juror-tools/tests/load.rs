//! Folders with unusable content.

use std::fs;
use std::path::Path;

use juror_tools::Catalog;
use tempfile::TempDir;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a folder for a while");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

fn load(folder: &Path) -> Catalog {
    Catalog::load(folder).expect("a folder")
}

const TOOL: &[u8] = br#"{"tool_name": "T", "api_list": [{"name": "a"}]}"#;

#[test]
fn a_file_that_is_not_text_is_told_and_passed_over() {
    let folder = folder(&[("Data/t.json", TOOL), ("Data/u.json", b"{\"tool_name\": \"\xff\"}")]);
    let catalog = load(folder.path());
    assert_eq!((catalog.tools().len(), catalog.n_files()), (1, 2));
    let problems = catalog.problems().to_string();
    assert!(problems.starts_with("Data/u.json:1:16: the text is not valid UTF-8"), "{problems}");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_told_and_passed_over() {
    let folder = folder(&[("Data/t.json", TOOL)]);
    std::os::unix::fs::symlink("nowhere", folder.path().join("Data/u.json")).expect("a link");
    // A folder that contains itself is visited once.
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("a link");
    let catalog = load(folder.path());
    assert_eq!(catalog.n_apis(), 1);
    let problems = catalog.problems().to_string();
    assert!(problems.starts_with("Data/u.json:1:1: the file cannot be read"), "{problems}");
    assert_eq!(catalog.problems().errors.len(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = Catalog::load(Path::new("/no/such/folder")).err().expect("no folder");
    assert_eq!(error.to_string(), "the tool folder `/no/such/folder` cannot be read");
}

#[test]
fn the_order_is_that_of_the_paths_however_many_read() {
    let names: Vec<String> = (0..300).map(|n| format!("Data/t{n:03}.json")).collect();
    let texts: Vec<String> =
        (0..300).map(|n| format!(r#"{{"tool_name": "T{n}", "api_list": []}}"#)).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let catalog = load(folder(&files).path());
    let loaded: Vec<String> = catalog.tools().iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(loaded, (0..300).map(|n| format!("T{n}")).collect::<Vec<_>>());
}
