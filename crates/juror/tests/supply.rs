//! What Juror is made of: licences, sources and versions are as `deny.toml` allows, and
//! `docs/dependencies.md` names every dependency, all C code, build scripts and unsafe code.
//!
//! `cargo deny check` checks more of it; this needs nothing but cargo, so that something is always
//! checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use juror_testing::project;
use serde_json::Value;

/// What is shipped.
const SHIPPED: [&str; 2] = ["juror", "juror-python"];

/// The one registry.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A crate of others that is built into what is shipped, or helps to build it.
struct Dependency {
    name: String,
    version: String,
    package: Value,
    /// Whether it is in the program itself.
    is_linked: bool,
    /// Whether a crate of Juror names it.
    is_direct: bool,
}

#[test]
fn every_licence_is_allowed() {
    let allowed = allowed_licences();
    assert!(allowed.contains("Apache-2.0") && allowed.len() > 5, "{allowed:?}");
    for dependency in dependencies(None) {
        let name = &dependency.name;
        match dependency.package["license"].as_str() {
            Some(licence) => assert!(allows(licence, &allowed), "`{name}` is under {licence}"),
            None => assert!(has_text_of_mit(&dependency.package), "`{name}` has no known licence"),
        }
    }
}

/// Whether a crate that names a file instead of a licence has the text of MIT in it.
fn has_text_of_mit(package: &Value) -> bool {
    let manifest = package["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
    let file =
        manifest.zip(package["license_file"].as_str()).map(|(folder, name)| folder.join(name));
    let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    text.contains("Permission is hereby granted, free of charge, to any")
}

#[test]
fn licences_are_read_as_they_are_meant() {
    let allowed = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
    let allowed: BTreeSet<String> = allowed.map(str::to_owned).into();
    let check =
        |licence: &str, expected| assert_eq!(allows(licence, &allowed), expected, "{licence}");
    check("MIT", true);
    check("GPL-3.0", false);
    check("GPL-3.0 OR MIT", true);
    check("MIT/GPL-3.0", true);
    check("MIT AND GPL-3.0", false);
    check("(GPL-3.0 OR MIT) AND Unicode-3.0", true);
    check("(GPL-3.0 OR MIT) AND LGPL-2.1", false);
    check("GPL-3.0 OR MIT AND Unicode-3.0", true);
    check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    check("GPL-2.0 WITH LLVM-exception", false);
}

#[test]
fn crates_come_from_the_one_registry() {
    for dependency in dependencies(None) {
        assert_eq!(dependency.package["source"], REGISTRY, "{}", dependency.name);
    }
}

#[test]
fn no_crate_is_built_in_versions_that_are_not_explained() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dependency in dependencies(None) {
        versions.entry(dependency.name).or_default().push(dependency.version);
    }
    let explained = words_after("{ crate = \"");
    let is_explained = |name: &str, version: &str| {
        explained.iter().filter_map(|word| word.split_once('@')).any(|(skipped, start)| {
            let rest = version.strip_prefix(start);
            skipped == name && rest.is_some_and(|rest| rest.starts_with('.'))
        })
    };
    for (name, mut own) in versions {
        own.retain(|version| !is_explained(&name, version));
        assert!(
            own.len() <= 1,
            "`{name}` is built as {own:?}: remove one, or explain it in deny.toml"
        );
    }
}

#[test]
fn the_document_names_every_dependency() {
    let direct = dependencies(None).into_iter().filter(|dependency| dependency.is_direct);
    compare(
        &named_below("## What Juror names"),
        &direct.map(|dependency| dependency.name).collect(),
    );
}

#[test]
fn the_document_names_all_c_code() {
    // Crates compile C with `cc`, or name the library that they are linked to.
    let has_c = |dependency: &Dependency| {
        let of_building = dependency.package["dependencies"].as_array().expect("dependencies");
        let mut of_building = of_building.iter().filter(|used| used["kind"] == "build");
        let compiles = of_building.any(|used| used["name"] == "cc");
        dependency.is_linked && (compiles || !dependency.package["links"].is_null())
    };
    let found = dependencies(Some(HERE)).into_iter().filter(has_c);
    compare(&named_below("## C and assembly"), &found.map(|dependency| dependency.name).collect());
}

#[test]
fn the_document_names_all_build_scripts() {
    let has_script = |dependency: &Dependency| {
        let mut targets = dependency.package["targets"].as_array().expect("targets").iter();
        targets.any(|target| target["kind"][0] == "custom-build")
    };
    let found = dependencies(Some(HERE)).into_iter().filter(has_script);
    compare(&named_below("## Build scripts"), &found.map(|dependency| dependency.name).collect());
}

#[test]
fn the_document_names_all_unsafe_code() {
    let is_unsafe = |dependency: &Dependency| {
        let manifest = dependency.package["manifest_path"].as_str().expect("a path");
        dependency.is_linked && has_unsafe(Path::new(manifest).parent().expect("a folder"))
    };
    let found = dependencies(Some(HERE)).into_iter().filter(is_unsafe);
    compare(&named_below("## Unsafe code"), &found.map(|dependency| dependency.name).collect());
}

/// What listens, starts a process, writes or removes, as it is spelled in code.
const REACHES_OUT: [&str; 14] = [
    "TcpListener::bind",
    "UdpSocket",
    "UnixListener",
    "process::Command",
    "File::create",
    "File::options",
    "OpenOptions",
    "WholeFile::begin",
    "Connection::open_with",
    "fs::write",
    "fs::copy",
    "fs::remove_",
    "create_dir",
    "tempfile::",
];

#[test]
fn the_threat_model_names_what_listens_starts_processes_and_writes() {
    let text = fs::read_to_string(project("SECURITY.md")).expect("a document");
    let (_, section) = text.split_once("## What Juror opens, starts and writes").expect("it");
    let section = section.split("\n## ").next().unwrap_or_default();
    let told: BTreeSet<String> = section
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| Path::new(word).extension().is_some_and(|end| end == "rs"))
        .map(str::to_owned)
        .collect();
    let mut found = BTreeSet::new();
    for name in shipped_crates() {
        each_source(&project("crates").join(&name).join("src"), &mut |path, source| {
            // Commands of clap are no processes.
            let starts = source.contains("Command::new(") && source.contains("Stdio");
            if starts || REACHES_OUT.iter().any(|word| code_of(source).contains(word)) {
                let path = path.strip_prefix(project("crates")).expect("a path of a crate");
                found.insert(path.to_str().expect("text").to_owned());
            }
        });
    }
    assert!(found.len() > 20, "{found:?}");
    let missing: Vec<&String> = found.difference(&told).collect();
    let extra: Vec<&String> = told.difference(&found).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "SECURITY.md: not named: {missing:?}; named, and harmless: {extra:?}"
    );
}

/// Returns the names of Juror's own crates that are shipped.
fn shipped_crates() -> Vec<String> {
    let tree = built(None).into_iter().filter_map(|line| Some(line.split_once(' ')?.0.to_owned()));
    let is_own = |name: &String| project("crates").join(name).join("Cargo.toml").exists();
    tree.filter(is_own).collect()
}

fn each_source(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            each_source(&path, each);
        } else if path.extension().is_some_and(|end| end == "rs") && !is_for_tests(&path) {
            each(&path, &fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// Whether a source is built for tests alone: those of a file, and what holds for every store.
fn is_for_tests(source: &Path) -> bool {
    ["tests.rs", "contract.rs"].iter().any(|name| source.ends_with(name))
}

/// Returns the code of a source up to its tests, without comments.
fn code_of(source: &str) -> String {
    let end = ["\n#[cfg(test)]\n", "\n#[cfg(all(test, unix))]\n"].map(|tests| source.find(tests));
    let end = end.into_iter().flatten().min().unwrap_or(source.len());
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    source[..end].lines().filter(is_code).fold(String::new(), |code, line| code + line + "\n")
}

/// The platform that the document's lists are about.
const HERE: &str = "x86_64-unknown-linux-gnu";

fn compare(told: &BTreeSet<String>, real: &BTreeSet<String>) {
    let missing: Vec<&String> = real.difference(told).collect();
    let extra: Vec<&String> = told.difference(real).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "docs/dependencies.md: not named: {missing:?}; named, and not there: {extra:?}"
    );
}

/// Returns the names in backticks in the first cells of the rows below a heading.
fn named_below(heading: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(project("docs/dependencies.md")).expect("a document");
    let (_, section) = text.split_once(heading).expect("the heading");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split(" | ").next());
    names.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`').to_owned()).collect()
}

/// Whether a source of the crate has a line with the word `unsafe`, other than in comments. That it
/// is forbidden is said with another word, `unsafe_code`.
fn has_unsafe(folder: &Path) -> bool {
    let beside = ["tests", "benches", "examples", "target", "build.rs"];
    fs::read_dir(folder).expect("a folder").flatten().any(|entry| {
        let (path, name) = (entry.path(), entry.file_name());
        if beside.iter().any(|beside| name == **beside) {
            return false;
        }
        if path.is_dir() {
            return has_unsafe(&path);
        }
        let is_source = path.extension().is_some_and(|end| end == "rs");
        is_source
            && fs::read(&path).is_ok_and(|bytes| says_unsafe(&String::from_utf8_lossy(&bytes)))
    })
}

fn says_unsafe(source: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.any(|line| {
        line.contains("unsafe") && line.split(|c| !is_word(c)).any(|word| word == "unsafe")
    })
}

/// Returns the crates that are built for what is shipped, on a platform or on all.
fn dependencies(platform: Option<&str>) -> Vec<Dependency> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--locked", "--offline", "--all-features", "--format-version", "1"]);
    command.args(platform.map(|platform| ["--filter-platform", platform]).into_iter().flatten());
    let told = command.current_dir(project(".")).output().expect("cargo");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let packages = by_id(&told["packages"]);
    let nodes = by_id(&told["resolve"]["nodes"]);
    let is_own = |id: &str| packages[id]["source"].is_null();
    let shipped = packages
        .keys()
        .copied()
        .filter(|id| is_own(id) && SHIPPED.iter().any(|name| packages[id]["name"] == **name));
    let mut reached: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
    let mut open: Vec<(&str, bool, bool)> = shipped.map(|id| (id, true, false)).collect();
    while let Some((id, is_linked, is_direct)) = open.pop() {
        let before = reached.get(id).copied();
        let (was_linked, was_direct) = before.unwrap_or_default();
        let is_linked = is_linked && !is_macro(packages[id]);
        let now = (is_linked || was_linked, is_direct || was_direct);
        if before == Some(now) {
            continue;
        }
        reached.insert(id, now);
        for used in nodes[id]["deps"].as_array().expect("dependencies") {
            let kinds = used["dep_kinds"].as_array().expect("kinds").iter();
            for kind in kinds.filter(|kind| kind["kind"] != "dev") {
                let of_program = is_linked && kind["kind"].is_null();
                open.push((used["pkg"].as_str().expect("an id"), of_program, is_own(id)));
            }
        }
    }
    let built = built(platform);
    let is_built = |package: &Value| {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        built.contains(&format!("{} v{}", text("name"), text("version")))
    };
    let others = reached.into_iter().filter(|(id, _)| !is_own(id) && is_built(packages[id]));
    let dependency = |(id, (is_linked, is_direct)): (&str, (bool, bool))| {
        let package = packages[id];
        let text = |key: &str| package[key].as_str().expect("a text").to_owned();
        let (name, version) = (text("name"), text("version"));
        Dependency { name, version, package: package.clone(), is_linked, is_direct }
    };
    others.map(dependency).collect()
}

/// Returns the names and versions that are really built: the metadata also have what only other
/// features would bring.
fn built(platform: Option<&str>) -> BTreeSet<String> {
    let told = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--all-features", "--prefix", "none"])
        .args(["-e", "normal,build", "--target", platform.unwrap_or("all")])
        .args(SHIPPED.iter().flat_map(|name| ["-p", name]))
        .current_dir(project("."))
        .output()
        .expect("cargo");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told = String::from_utf8(told.stdout).expect("text");
    told.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
    let list = list.as_array().expect("a list").iter();
    list.map(|item| (item["id"].as_str().expect("an id"), item)).collect()
}

/// Whether a crate runs in the compiler.
fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().expect("targets");
    targets.iter().any(|target| target["kind"][0] == "proc-macro")
}

fn deny() -> String {
    fs::read_to_string(project("deny.toml")).expect("deny.toml")
}

fn allowed_licences() -> BTreeSet<String> {
    let text = deny();
    let (_, list) = text.split_once("\nallow = [").expect("the licences that are allowed");
    let (list, _) = list.split_once(']').expect("their end");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns what stands in quotes after a start of lines of deny.toml.
fn words_after(start: &str) -> BTreeSet<String> {
    let text = deny();
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix(start));
    lines.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

/// Whether a licence expression can be met with the allowed licences: any side of OR, all sides of
/// AND, which binds closer.
fn allows(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let licence = licence.trim();
    let any = split_outside(&licence.replace('/', " OR "), " OR ");
    if any.len() > 1 {
        return any.iter().any(|side| allows(side, allowed));
    }
    let all = split_outside(licence, " AND ");
    if all.len() > 1 {
        return all.iter().all(|side| allows(side, allowed));
    }
    match licence.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => allows(inner, allowed),
        None => allowed.contains(licence),
    }
}

/// Splits a text by a word that is in no parentheses.
fn split_outside(text: &str, word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for piece in text.split(word) {
        let last = parts.last_mut().expect("a part");
        if last.matches('(').count() != last.matches(')').count() {
            last.push_str(word);
            last.push_str(piece);
        } else if last.is_empty() {
            last.push_str(piece);
        } else {
            parts.push(piece.to_owned());
        }
    }
    parts
}
