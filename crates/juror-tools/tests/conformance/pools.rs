//! Folders of tools: those of a case, and the large ones beside the recorded cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use juror_toolbench::names::{LONGEST_NAME, Letters, document_name, official_name, sanitize};
use juror_toolbench::{Api, Parameters, Registry, Tool};
use juror_tools::Catalog;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Checked, same, text};

/// Loaded pools, so that each is unpacked once.
#[derive(Default)]
pub(crate) struct Pools {
    archives: PathBuf,
    unpacked: Option<TempDir>,
    loaded: Mutex<BTreeMap<String, &'static Catalog>>,
}

impl Pools {
    pub(crate) fn beside(vectors: &Path) -> Pools {
        let unpacked = TempDir::new().expect("a folder for a while");
        let archives = vectors.join("../data/toolbench");
        Pools { archives, unpacked: Some(unpacked), ..Pools::default() }
    }

    /// Returns a pool by the path that it has when unpacked, or `None` if there is no archive.
    pub(crate) fn get(&self, folder: &str) -> Option<&'static Catalog> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(catalog) = loaded.get(folder) {
            return Some(catalog);
        }
        let unpacked = self.unpacked.as_ref()?.path();
        let name = folder.split('/').next()?;
        let archive = self.archives.join(format!("{name}.tar.gz"));
        if !unpacked.join(name).is_dir() {
            let done =
                Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(unpacked).status();
            done.ok().filter(std::process::ExitStatus::success)?;
        }
        let catalog = Catalog::load(&unpacked.join(folder)).expect("a folder");
        assert!(catalog.problems().is_empty(), "{}", catalog.problems());
        // Leaking is fine: tests end soon.
        let catalog: &'static Catalog = Box::leak(Box::new(catalog));
        loaded.insert(folder.to_owned(), catalog);
        Some(catalog)
    }

    /// All names of the APIs in the pool that answers are scored with.
    pub(crate) fn registry(&self, folder: &str) -> Option<&Registry> {
        self.get(folder).map(Catalog::registry)
    }

    pub(crate) fn check(&self, input: &Value, wanted: &Value) -> Option<Checked> {
        if let Some(files) = input["files"].as_object() {
            return Some(check_files(files, wanted));
        }
        let catalog = self.get(text(&input["dir"]))?;
        Some(if input.get("api_name").is_some() {
            check_api(catalog, input, wanted)
        } else {
            same(&counts(catalog, &wanted["categories"]), &without_peer(wanted))
        })
    }
}

fn without_peer(wanted: &Value) -> Value {
    let mut wanted = wanted.clone();
    wanted.as_object_mut().expect("an object").retain(|key, _| !key.starts_with("mas_"));
    wanted
}

/// Categories are not counted if the files have none.
fn counts(catalog: &Catalog, categories: &Value) -> Value {
    let mut names: Vec<_> =
        catalog.tools().iter().filter_map(|tool| tool.category.clone()).collect();
    names.sort();
    names.dedup();
    let n_categories =
        if categories.is_null() && names.is_empty() { Value::Null } else { json!(names.len()) };
    json!({"tools": catalog.tools().len(), "apis": catalog.n_apis(), "categories": n_categories})
}

pub(crate) fn find<'a>(
    catalog: &'a Catalog,
    category: &str,
    tool: &str,
    api: &str,
) -> Option<(&'a Tool, &'a Api)> {
    let is_it = |of: &&Tool| of.category.as_deref() == Some(category) && of.name == tool;
    catalog
        .tools()
        .iter()
        .filter(is_it)
        .find_map(|tool| tool.apis.iter().find(|of| of.name == api).map(|found| (tool, found)))
}

fn check_api(catalog: &Catalog, input: &Value, wanted: &Value) -> Checked {
    let name = |key: &str| text(&input[key]);
    let found = find(catalog, name("category"), name("tool_name"), name("api_name"));
    let (tool, api) = found.ok_or("no such API")?;
    let parameters =
        |of: &Parameters| of.list.iter().map(|one| one.name.clone()).collect::<Vec<String>>();
    let original = document_name(&tool.name, &api.name);
    let got = json!({
        "file": tool.file, "method": api.method,
        "required": parameters(&api.required), "optional": parameters(&api.optional),
        "sanitized_name": sanitize(&original, Letters::Any, LONGEST_NAME),
        "official_name": official_name(&tool.name, &api.name),
        "original_name": original,
    });
    same(&got, wanted)
}

/// Loads the files in the case itself: strings as they are, anything else as JSON.
fn check_files(files: &serde_json::Map<String, Value>, wanted: &Value) -> Checked {
    let folder = TempDir::new().expect("a folder for a while");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        fs::write(path, content).expect("a file");
    }
    let catalog = Catalog::load(folder.path()).expect("a folder");
    let tools: Vec<Value> = catalog
        .tools()
        .iter()
        .map(|tool| {
            let apis: Vec<&str> = tool.apis.iter().map(|api| api.name.as_str()).collect();
            json!([tool.category.as_deref(), tool.name, apis])
        })
        .collect();
    let places: Vec<String> = catalog
        .problems()
        .errors
        .iter()
        .map(|error| {
            let place = &error.place;
            format!("{}:{}:{}: {}", place.file, place.line, place.column, error.problem)
        })
        .collect();
    same(&json!({"tools": tools, "problems": places}), wanted)
}
