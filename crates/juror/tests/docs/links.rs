//! Links between documents: where they lead, and whether that is there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use juror_testing::project;

/// Documents outside of `docs`.
const OTHERS: [&str; 11] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "bench/README.md",
    "conformance/README.md",
    "crates/juror-python/README.md",
    "examples/README.md",
    "fuzz/README.md",
    "web/README.md",
];

/// All documents of the project, by their paths in it.
pub(crate) fn documents() -> Vec<String> {
    let mut names: Vec<String> = OTHERS.map(str::to_owned).to_vec();
    for folder in ["docs", "docs/decisions"] {
        for entry in fs::read_dir(project(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    names.sort();
    names
}

/// The links of a document that lead nowhere in the project. What is on the web is not asked.
pub(crate) fn broken(name: &str) -> Vec<String> {
    let text = fs::read_to_string(project(name)).expect("the document");
    let is_web = |target: &str| target.contains("://") || target.starts_with("mailto:");
    let own = targets(&text).into_iter().filter(|target| !is_web(target));
    own.filter_map(|target| {
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let place = if path.is_empty() { PathBuf::from(name) } else { beside(name, path) };
        let problem = match fs::read_to_string(project(&place.to_string_lossy())) {
            Ok(text) if anchor.is_empty() || anchors(&text).contains(&anchor.to_owned()) => None,
            Ok(_) => Some("no such heading"),
            Err(_) if anchor.is_empty() && project(&place.to_string_lossy()).exists() => None,
            Err(_) => Some("no such file"),
        };
        problem.map(|problem| format!("{name}: {problem}: {target}"))
    })
    .collect()
}

/// Where links and images of a text lead, as they are written.
pub(crate) fn targets(text: &str) -> Vec<String> {
    let text = prose(text);
    let ends = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    let closed = ends.filter_map(|rest| rest.split_once(')'));
    closed.map(|(target, _)| target.to_owned()).collect()
}

/// The path of what a document names.
fn beside(name: &str, path: &str) -> PathBuf {
    let mut place = PathBuf::from(name);
    place.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => assert!(place.pop(), "{name}: {path} leaves the project"),
            part => place.push(part),
        }
    }
    place
}

/// The anchors of a document's headings, as forges and the site make them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let text = prose_lines(text);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    headings
        .map(|heading| {
            let kept = heading.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
            let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let n_before = seen.entry(anchor.clone()).or_default();
            *n_before += 1;
            if *n_before == 1 { anchor } else { format!("{anchor}-{}", *n_before - 1) }
        })
        .collect()
}

/// A text without its blocks of code.
fn prose_lines(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A text without code, neither in blocks nor in lines.
fn prose(text: &str) -> String {
    let text = prose_lines(text);
    let mut kept = String::new();
    for (at, part) in text.split('`').enumerate() {
        // What stands between a pair of backticks is code; a link may have code as its text.
        kept.push_str(if at % 2 == 0 { part } else { "code" });
    }
    kept
}

#[test]
fn links_are_found_and_code_is_none() {
    let text = "# A `b` c!\n[x](y.md#z) `[n](o)` [`code`](p)\n```sh\n[q](r)\n# s\n```\n## A b c\n";
    assert_eq!(targets(text), ["y.md#z", "p"]);
    assert_eq!(anchors(text), ["a-b-c", "a-b-c-1"]);
    assert_eq!(beside("docs/a.md", "../b/c.md"), Path::new("b/c.md"));
}
