//! What is packed is complete: crates that are published need nothing from outside, versions agree,
//! and what the Dockerfile, the workflows and `docs/releasing.md` name is there.

#![expect(clippy::print_stderr, reason = "tests tell what they skipped")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use juror_testing::project;
use serde_json::Value;

fn read(path: &str) -> String {
    fs::read_to_string(project(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn crates() -> Vec<Value> {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(project("."))
        .output()
        .expect("cargo");
    let mut told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    match told["packages"].take() {
        Value::Array(packages) => packages,
        _ => panic!("no packages"),
    }
}

#[test]
fn the_demo_has_the_files_of_the_examples() {
    let demo = project("crates/juror/demo");
    let mut names = Vec::new();
    each_file(&demo, &mut |path| names.push(path.strip_prefix(&demo).expect("below").to_owned()));
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let example = project("examples").join(&name);
        let there =
            fs::read(&example).unwrap_or_else(|error| panic!("{}: {error}", example.display()));
        if std::env::var_os("JUROR_BLESS").is_some() {
            fs::write(demo.join(&name), &there).expect("written");
        }
        let copy = fs::read(demo.join(&name)).expect("a file");
        assert!(copy == there, "{} is stale: run with JUROR_BLESS=1", demo.join(name).display());
    }
}

#[test]
fn what_is_packed_includes_nothing_from_outside_its_crate() {
    for package in crates() {
        let name = package["name"].as_str().expect("a name");
        if is_private(&package) && name != "juror-python" {
            continue;
        }
        let folder = project("crates").join(name);
        each_file(&folder.join("src"), &mut |path| {
            let depth = path.strip_prefix(&folder).expect("below").iter().count() - 1;
            for included in included_by(path) {
                let n_up = Path::new(&included).iter().filter(|part| *part == "..").count();
                assert!(n_up <= depth, "{} includes {included}", path.display());
            }
        });
    }
}

/// Returns the paths that a source includes, or where they begin.
fn included_by(path: &Path) -> Vec<String> {
    if path.extension().is_none_or(|end| end != "rs") {
        return Vec::new();
    }
    let source = fs::read_to_string(path).expect("a source");
    // Examples in documents are compiled here alone, not where a package is.
    let source: String = source
        .split("#[cfg(doctest)]\n")
        .enumerate()
        .map(|(at, part)| {
            let rest =
                if at == 0 { part } else { part.split_once('\n').map_or("", |(_, rest)| rest) };
            rest.to_owned()
        })
        .collect();
    let included = |rest: &str| {
        let rest = rest.strip_prefix("concat!(").unwrap_or(rest);
        Some(rest.strip_prefix('"')?.split('"').next()?.to_owned())
    };
    let starts = ["include_str!(", "include_bytes!(", "include!("];
    starts.iter().flat_map(|start| source.split(start).skip(1)).filter_map(included).collect()
}

fn is_private(package: &Value) -> bool {
    package["publish"].as_array().is_some_and(Vec::is_empty)
}

#[test]
fn crates_that_are_published_need_published_ones_of_the_same_version() {
    let packages = crates();
    let name_of = |package: &Value| package["name"].as_str().expect("a name").to_owned();
    let private: BTreeSet<String> =
        packages.iter().filter(|package| is_private(package)).map(name_of).collect();
    let all: BTreeSet<String> = packages.iter().map(name_of).collect();
    let published: BTreeSet<String> = all.difference(&private).cloned().collect();
    assert_eq!(published, needed_by_the_program(&packages), "`juror`, and what it needs");
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        for key in ["description", "license", "repository"] {
            assert!(package[key].is_string(), "`{name}` has no {key}");
        }
        if private.contains(name) {
            continue;
        }
        let exact = format!("={}", package["version"].as_str().expect("a version"));
        for used in package["dependencies"].as_array().expect("dependencies") {
            let used_name = used["name"].as_str().expect("a name");
            let is_own = !used["path"].is_null() && used["kind"] != "dev";
            assert!(!is_own || !private.contains(used_name), "`{name}` needs `{used_name}`");
            assert!(
                !is_own || used["req"] == exact,
                "`{name}` needs `{used_name}` as {}",
                used["req"]
            );
        }
    }
}

/// Returns the crates of the project that the program is built from.
fn needed_by_the_program(packages: &[Value]) -> BTreeSet<String> {
    let mut needed = BTreeSet::new();
    let mut open = vec!["juror"];
    while let Some(name) = open.pop() {
        if !needed.insert(name.to_owned()) {
            continue;
        }
        let package = packages.iter().find(|package| package["name"] == name).expect("a crate");
        let used = package["dependencies"].as_array().expect("dependencies").iter();
        let own = used.filter(|used| used["kind"] != "dev" && !used["path"].is_null());
        open.extend(own.filter_map(|used| used["name"].as_str()));
    }
    needed
}

#[test]
fn what_the_dockerfile_names_is_there() {
    let text = read("Dockerfile");
    let ignored = read(".dockerignore");
    for line in text.lines().filter_map(|line| line.strip_prefix("COPY ")) {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.pop();
        if words[0].starts_with("--from=") {
            continue;
        }
        for word in words {
            assert!(project(word).exists(), "{word}");
            assert!(ignored.lines().any(|kept| kept == format!("!{word}")), "{word} is ignored");
        }
    }
    let commands = text.lines().filter_map(|line| line.split_once("CMD [")).map(|(_, words)| words);
    let mut n_commands = 0;
    for words in commands {
        let words: Vec<String> = serde_json::from_str(&format!("[{words}")).expect("words");
        let words = words.iter().map(String::as_str).filter(|word| *word != "/juror");
        // An option that there is not would be refused before help is shown.
        let shown = Command::new(env!("CARGO_BIN_EXE_juror")).args(words).arg("--help").output();
        assert!(shown.expect("it runs").status.success(), "{text}");
        n_commands += 1;
    }
    assert_eq!(n_commands, 4, "two images, and how each is checked");
}

#[test]
fn what_workflows_and_documents_run_is_there() {
    let mut n_scripts = 0;
    let documents =
        [".github/workflows/ci.yml", ".github/workflows/release.yml", "docs/releasing.md"];
    for document in documents {
        let text = read(document);
        for (at, _) in text.match_indices("packages/") {
            let end = |c: char| !(c.is_ascii_alphanumeric() || "_./-".contains(c));
            let path = text[at..].split(end).next().unwrap_or_default().trim_end_matches('.');
            let is_made = text[..at].ends_with("target/") || path == "packages/";
            assert!(is_made || project(path).is_file(), "{document} names {path}");
            n_scripts += usize::from(!is_made);
        }
    }
    assert!(n_scripts > 15, "{n_scripts}");
}

/// `docs/dependencies.md` has this command.
#[test]
fn the_list_of_what_is_inside_is_whole() {
    let made = Command::new("python3")
        .arg(project("packages/sbom.py"))
        .env("CARGO_NET_OFFLINE", "true")
        .output();
    let Ok(made) = made else {
        eprintln!("Python is not here: skipped");
        return;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let list: Value = serde_json::from_slice(&made.stdout).expect("JSON");
    assert_eq!((&list["bomFormat"], &list["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = list["components"].as_array().expect("components");
    let reference = |part: &Value| part["bom-ref"].as_str().expect("a reference").to_owned();
    let mut known: BTreeSet<String> = components.iter().map(reference).collect();
    assert_eq!(known.len(), components.len(), "each is there once");
    known.insert(reference(&list["metadata"]["component"]));
    for component in components {
        let name = component["name"].as_str().expect("a name");
        let hash = component["hashes"][0]["content"].as_str().unwrap_or_default();
        assert!(name.starts_with("juror-") || hash.len() == 64, "{component}");
        assert!(component["licenses"][0].is_object(), "{component}");
    }
    for needed in ["tokio", "libsqlite3-sys", "juror-run"] {
        assert!(components.iter().any(|part| part["name"] == needed), "{needed} is not listed");
    }
    for only_tests in ["insta", "proptest", "juror-testing", "clap_mangen"] {
        assert!(
            !components.iter().any(|part| part["name"] == only_tests),
            "{only_tests} is listed"
        );
    }
    let edges = list["dependencies"].as_array().expect("dependencies");
    assert_eq!(edges.len(), known.len());
    for edge in edges {
        let ends = edge["dependsOn"].as_array().expect("a list").iter().chain([&edge["ref"]]);
        ends.for_each(|end| assert!(known.contains(end.as_str().expect("a reference")), "{end}"));
    }
}

fn each_file(folder: &Path, each: &mut impl FnMut(&Path)) {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            each_file(&path, each);
        } else {
            each(&path);
        }
    }
}
