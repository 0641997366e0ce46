//! The crates are as ARCHITECTURE.md says: which uses which, how large they may be, and where things
//! live.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use juror_testing::project;
use serde_json::Value;

/// The most lines of code that a crate has, without tests, comments and empty lines.
const MOST_LINES: usize = 8000;

/// The crates that each crate uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_arrows_between_crates_are_those_of_the_table() {
    let (said, real) = (arrows_of_table(&architecture()), real_arrows());
    for (name, uses) in &real {
        let Some(told) = said.get(name) else { panic!("`{name}` is not in the table") };
        assert_eq!(uses, told, "what `{name}` uses, and what the table says");
    }
    assert_eq!(real.len(), said.len(), "the table has crates that there are not");
}

#[test]
fn a_crate_uses_only_crates_in_rows_below_it() {
    let rows = rows_of_picture(&architecture());
    let beside = ["juror-scripted", "juror-testing", "juror-timings", "juror-browser"];
    for (name, uses) in real_arrows() {
        if beside.contains(&&*name) {
            continue;
        }
        let row = |name: &str| *rows.get(name).unwrap_or_else(|| panic!("`{name}` is not drawn"));
        for used in uses {
            assert!(row(&name) < row(&used), "`{used}` is not drawn below `{name}`, which uses it");
        }
    }
}

#[test]
fn no_crate_is_too_large() {
    for name in real_arrows().keys() {
        let mut n_lines = 0;
        each_source(&project("crates").join(name).join("src"), &mut |path| {
            n_lines += lines_of_code(&fs::read_to_string(path).expect("a source"));
        });
        assert!(n_lines > 0, "`{name}` has no code");
        assert!(n_lines <= MOST_LINES, "`{name}` has {n_lines} lines of code: it is two crates");
    }
}

#[test]
fn where_a_thing_lives_it_is() {
    let mut paths = paths_of_tables(&architecture());
    assert!(paths.len() > 200, "the tables have {} paths", paths.len());
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = fs::read_to_string(project(name)).expect("a document");
        let full = quoted(&text).filter(|path| has_crate(path)).flat_map(expanded);
        paths.extend(full.filter(|path| !path.contains([' ', '…'])).map(PathBuf::from));
    }
    let is_missing = |path: &&PathBuf| !project("crates").join(path).exists();
    let missing: BTreeSet<&PathBuf> = paths.iter().filter(is_missing).collect();
    assert_eq!(missing, BTreeSet::new(), "paths that lead nowhere");
}

/// `fuzz/` is a workspace of its own, and tests what the program is built from.
#[test]
fn the_lock_of_fuzzing_has_the_versions_of_the_program() {
    let packages = |lock: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(project(lock)).expect("a lock");
        let packages = text.split("[[package]]\n").skip(1);
        packages.map(|own| own.lines().take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    let (fuzzing, program) = (packages("fuzz/Cargo.lock"), packages("Cargo.lock"));
    let strange: Vec<&String> = fuzzing.difference(&program).collect();
    assert!(strange.iter().all(|own| own.contains("\"juror-fuzz\"")), "{strange:?}");
    assert!(fuzzing.len() > 100, "{}", fuzzing.len());
}

fn architecture() -> String {
    fs::read_to_string(project("ARCHITECTURE.md")).expect("a document")
}

/// What cargo says: the crates of the project, and which of them each uses to be built.
fn real_arrows() -> Arrows {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(project("."))
        .output()
        .expect("cargo");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let packages = told["packages"].as_array().expect("packages");
    let name_of = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let uses = |package: &Value| -> BTreeSet<String> {
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        // Those of tests and of building say so.
        let own = all.filter(|used| used["kind"].is_null() && !used["path"].is_null());
        own.map(name_of).collect()
    };
    packages.iter().map(|package| (name_of(package), uses(package))).collect()
}

/// The rows of the table: a crate in backticks, then the crates it uses, without `juror-`.
fn arrows_of_table(architecture: &str) -> Arrows {
    let (_, section) = architecture.split_once("| crate | uses |").expect("the table");
    let rows = section.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.split('|').skip(1).map(str::trim);
        let name = cells.next().expect("a crate").trim_matches('`').to_owned();
        let told = cells.next().expect("what it uses").split(", ").filter(|used| !used.is_empty());
        let full_name = |used: &str| match used {
            "juror" => used.to_owned(),
            used => format!("juror-{used}"),
        };
        (name, told.map(full_name).collect())
    })
    .collect()
}

/// In which row of the picture each crate stands.
fn rows_of_picture(architecture: &str) -> BTreeMap<String, usize> {
    let (_, section) = architecture.split_once("## Crates\n\n```").expect("the picture");
    let (picture, _) = section.split_once("\n```").expect("its end");
    let mut rows = BTreeMap::new();
    for (row, line) in picture.lines().enumerate().skip(1) {
        let words = line.split_whitespace().filter(|word| word.starts_with("juror"));
        rows.extend(words.map(|word| (word.to_owned(), row)));
    }
    rows
}

fn each_source(folder: &Path, each: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path: PathBuf = entry.path();
        if path.is_dir() {
            each_source(&path, each);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            each(&path);
        }
    }
}

/// Lines that are neither empty nor comments nor name a file of tests, up to the tests at the foot
/// of the file.
fn lines_of_code(source: &str) -> usize {
    let mut n_lines = 0;
    let mut lines = source.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let tests = lines.peek().filter(|next| line == "#[cfg(test)]" && next.starts_with("mod "));
        match tests {
            Some(tests) if tests.ends_with('{') => break,
            Some(_) => drop(lines.next()),
            None => n_lines += usize::from(!line.is_empty() && !line.starts_with("//")),
        }
    }
    n_lines
}

#[test]
fn code_is_counted_around_the_tests() {
    let named_above = "#[cfg(test)]\nmod tests;\n\n// Why.\nfn one() {}\nfn two() {}\n";
    assert_eq!(lines_of_code(named_above), 2);
    let at_the_foot = "#[cfg(test)]\nfn for_tests() {}\nfn one() {}\n\n#[cfg(test)]\nmod tests {\n    fn x() {}\n}\n";
    assert_eq!(lines_of_code(at_the_foot), 3);
}

/// The paths in the tables of where a thing lives. One without a crate starts in the folder of the
/// last one with a crate, in the same row.
fn paths_of_tables(architecture: &str) -> Vec<PathBuf> {
    let (_, section) = architecture.split_once("\n## Where a thing lives\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("its end");
    let rows = section.lines().filter(|line| line.starts_with('|'));
    rows.flat_map(paths_of_row).collect()
}

fn paths_of_row(row: &str) -> Vec<PathBuf> {
    let ends = [".rs", ".py", ".pyi", ".sql", "/"];
    let is_path = |path: &&str| has_crate(path) || ends.iter().any(|end| path.ends_with(end));
    let mut folder = PathBuf::new();
    let resolve = |path: String| {
        if has_crate(&path) {
            folder = path[..=path.rfind('/').unwrap_or_default()].into();
            return path.into();
        }
        folder.join(path)
    };
    quoted(row).filter(is_path).flat_map(expanded).map(resolve).collect()
}

fn has_crate(path: &str) -> bool {
    path.starts_with("juror") && path.contains('/')
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let (names, after) = rest.split_once('}').expect("a brace closes");
    names.split(',').flat_map(|name| expanded(&format!("{before}{name}{after}"))).collect()
}
