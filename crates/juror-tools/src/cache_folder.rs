//! Cache folders, the public servers' format of kept replies: reading and writing.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use hashbrown::{HashMap, HashSet};
use juror_files::{WholeFile, read_plain};
use juror_json::python::{JsonStyle, dump_json, dumps_text, entries_of_json, json_of_literal};
use juror_toolbench::FolderNames;
use serde_json::value::RawValue;

use crate::reply_writer::Keeping;

/// Category, tool and API, in the form of folder names.
pub type ApiPath = [String; 3];

/// The index of a cache folder. Requests are looked up in the index, so no name from a request ever
/// becomes a path.
#[derive(Debug, Default)]
pub struct CacheFolder {
    files: HashMap<ApiPath, Vec<PathBuf>>,
    unreadable: Vec<FolderProblem>,
}

/// A file or folder that cannot be used. It is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct FolderProblem {
    /// Its path.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// Whether it is a sound file of something other than replies, such as a tool file.
    pub is_of_other_kind: bool,
}

impl FolderProblem {
    fn new(path: &Path, reason: impl Into<String>) -> FolderProblem {
        FolderProblem { path: path.to_owned(), reason: reason.into(), is_of_other_kind: false }
    }
}

/// The replies in a file: arguments in Python's notation, and the reply as compact JSON.
pub type CacheEntries = Vec<(String, String)>;

impl CacheFolder {
    /// Indexes a folder of either layout: `category/tool_for_category/api.json`, as servers write
    /// it, or `category/tool/api.json` with original names.
    pub fn look_through(root: &Path) -> Result<CacheFolder, FolderProblem> {
        let mut folder = CacheFolder::default();
        let entries = fs::read_dir(root).map_err(|error| problem(root, &error))?;
        for category in folder.folders(root, entries) {
            for tool in folder.folders_in(&category.1) {
                for (api, path) in folder.json_files_in(&tool.1) {
                    let names = names_of(&category.0, &tool.0, &api);
                    folder.files.entry(names).or_default().push(path);
                }
            }
        }
        for paths in folder.files.values_mut() {
            paths.sort();
        }
        Ok(folder)
    }

    /// The number of APIs that have a file.
    pub fn n_apis(&self) -> usize {
        self.files.len()
    }

    /// What could not be read.
    pub fn problems(&self) -> &[FolderProblem] {
        &self.unreadable
    }

    /// The files of an API.
    pub(crate) fn files_of(&self, names: &ApiPath) -> &[PathBuf] {
        self.files.get(names).map(Vec::as_slice).unwrap_or_default()
    }

    /// The category and tool of each API, in the form of folder names.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.keys().map(|[category, tool, _]| (category.as_str(), tool.as_str()))
    }

    /// All APIs with their files, sorted.
    pub fn apis(&self) -> Vec<(&ApiPath, &[PathBuf])> {
        let mut apis: Vec<_> =
            self.files.iter().map(|(names, paths)| (names, paths.as_slice())).collect();
        apis.sort();
        apis
    }

    fn folders(&mut self, root: &Path, entries: fs::ReadDir) -> Vec<(String, PathBuf)> {
        self.list(root, entries, |kind, name| kind.is_dir().then(|| name.to_owned()))
    }

    fn folders_in(&mut self, path: &Path) -> Vec<(String, PathBuf)> {
        self.read(path, |kind, name| kind.is_dir().then(|| name.to_owned()))
    }

    fn json_files_in(&mut self, path: &Path) -> Vec<(String, PathBuf)> {
        self.read(path, |kind, name| {
            name.strip_suffix(".json").filter(|_| kind.is_file()).map(str::to_owned)
        })
    }

    fn read(
        &mut self,
        path: &Path,
        take: impl Fn(fs::FileType, &str) -> Option<String>,
    ) -> Vec<(String, PathBuf)> {
        match fs::read_dir(path) {
            Ok(entries) => self.list(path, entries, take),
            Err(error) => {
                self.unreadable.push(problem(path, &error));
                Vec::new()
            }
        }
    }

    /// Lists the entries of a folder that `take` accepts. Skips hidden names.
    fn list(
        &mut self,
        path: &Path,
        entries: fs::ReadDir,
        take: impl Fn(fs::FileType, &str) -> Option<String>,
    ) -> Vec<(String, PathBuf)> {
        let mut taken = Vec::new();
        for entry in entries {
            // Following links is safe, because only three levels are visited.
            match entry.and_then(|entry| Ok((fs::metadata(entry.path())?.file_type(), entry))) {
                Ok((kind, entry)) => {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    let name = if name.starts_with('.') { None } else { take(kind, &name) };
                    taken.extend(name.map(|name| (name, entry.path())));
                }
                Err(error) => self.unreadable.push(problem(path, &error)),
            }
        }
        taken
    }
}

/// Derives an API's names from its path. In the servers' layout they are taken as they are.
fn names_of(category: &str, tool: &str, api: &str) -> ApiPath {
    if tool.ends_with(&format!("_for_{category}")) {
        return [category, tool, api].map(str::to_owned);
    }
    let FolderNames { category, tool, api, .. } = FolderNames::as_requested(category, tool, api);
    [category, tool, api]
}

/// Reads the replies in a file.
pub fn read_entries(path: &Path) -> Result<CacheEntries, FolderProblem> {
    let bytes = read_plain(path).map_err(|error| problem(path, &error))?;
    let bad = |reason: String| FolderProblem::new(path, reason);
    let text = std::str::from_utf8(&bytes).map_err(|error| bad(format!("not UTF-8: {error}")))?;
    let not_json = |offset: usize| {
        let before = &text[..text.floor_char_boundary(offset)];
        let (line, last) = (before.lines().count().max(1), before.lines().last().unwrap_or(""));
        bad(format!("not a JSON object at {line}:{}", last.chars().count() + 1))
    };
    let entries = entries_of_json(text).map_err(|error| not_json(error.offset))?;
    if !entries.is_empty() && !entries.iter().any(|(key, reply)| is_entry(key, reply)) {
        return Err(FolderProblem { is_of_other_kind: true, ..bad(NO_REPLIES.into()) });
    }
    let compact = |(key, reply): (String, &str)| {
        Ok((key, dump_json(reply, JsonStyle::Compact).map_err(|error| not_json(error.offset))?))
    };
    entries.into_iter().map(compact).collect()
}

/// What is wrong with a file of something else.
const NO_REPLIES: &str = "not a file of replies: no key is a call's arguments";

/// Whether an entry can be that of a call: the key is arguments, as Python or JSON writes them, or the value
/// is a reply in the servers' form. A server that is asked with a text keeps its reply under any text at all.
fn is_entry(key: &str, reply: &str) -> bool {
    json_of_literal(key).is_ok()
        || serde_json::from_str::<&RawValue>(key).is_ok()
        || is_reply(reply)
}

fn is_reply(reply: &str) -> bool {
    let has = |fields: &[(String, &str)], name| fields.iter().any(|(key, _)| key == name);
    entries_of_json(reply).is_ok_and(|own| has(&own, "error") && has(&own, "response"))
}

/// The outcome of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Files written.
    pub n_files: usize,
    /// New replies.
    pub n_replies: usize,
    /// Replies that were already there.
    pub n_known: usize,
    /// What was left out.
    pub problems: Vec<FolderProblem>,
}

/// Adds replies to a cache folder, in the public servers' format. Known replies stay. A file that
/// cannot be read is left unchanged and reported.
pub fn export(
    root: &Path,
    replies: BTreeMap<ApiPath, CacheEntries>,
) -> Result<Exported, FolderProblem> {
    fs::create_dir_all(root).map_err(|error| problem(root, &error))?;
    let there = CacheFolder::look_through(root)?;
    let mut done = Exported::default();
    for (names, entries) in replies {
        let added = match there.files_of(&names) {
            [] => add_replies(root, &names, entries, Keeping::First),
            files => lock(root)
                .map_err(|error| problem(root, &error))
                .and_then(|_lock| add_to_files(files, entries, Keeping::First)),
        };
        match added {
            Ok((n_new, n_known)) => {
                done.n_files += usize::from(n_new > 0);
                done.n_replies += n_new;
                done.n_known += n_known;
            }
            Err(problem) => done.problems.push(problem),
        }
    }
    Ok(done)
}

/// Adds replies to an API's file in the servers' layout. Returns how many were new, and how many
/// were known.
pub(crate) fn add_replies(
    root: &Path,
    names: &ApiPath,
    entries: CacheEntries,
    keeping: Keeping,
) -> Result<(usize, usize), FolderProblem> {
    let [category, tool, api] = names.clone();
    let names = FolderNames { category, tool, api, standard_tool: String::new() };
    let file = names.cache_file();
    let left_out = |error| FolderProblem::new(Path::new(&file), format!("left out: {error}"));
    names.check().map_err(left_out)?;
    let path = root.join(file);
    let _lock = lock(root).map_err(|error| problem(&path, &error))?;
    add_to_files(&[path], entries, keeping)
}

/// Locks the folder, so that two processes do not overwrite each other's work.
fn lock(root: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(root)?;
    let folder = fs::File::open(root)?;
    folder.lock()?;
    Ok(folder)
}

/// Adds replies to the first file of an API, unless one of its files has them. With
/// [`Keeping::Latest`], known replies are replaced.
fn add_to_files(
    files: &[PathBuf],
    entries: CacheEntries,
    keeping: Keeping,
) -> Result<(usize, usize), FolderProblem> {
    let mut known: Vec<CacheEntries> = Vec::with_capacity(files.len());
    for file in files {
        known.push(if file.exists() { read_entries(file)? } else { CacheEntries::new() });
    }
    if keeping == Keeping::Latest {
        for (file, own) in files.iter().zip(&mut known) {
            if replace_all(own, &entries) {
                write_file(file, own).map_err(|error| problem(file, &error))?;
            }
        }
    }
    let is_known: HashSet<&str> = known.iter().flatten().map(|(key, _)| key.as_str()).collect();
    let n_all = entries.len();
    let new: CacheEntries =
        entries.into_iter().filter(|(key, _)| !is_known.contains(key.as_str())).collect();
    drop(is_known);
    let n_new = new.len();
    if let (Some(file), true) = (files.first(), n_new > 0) {
        let mut all = std::mem::take(&mut known[0]);
        all.extend(new);
        write_file(file, &all).map_err(|error| problem(file, &error))?;
    }
    Ok((n_new, n_all - n_new))
}

/// Replaces known replies by those in `others`. Returns whether any changed.
fn replace_all(known: &mut CacheEntries, others: &CacheEntries) -> bool {
    let others: HashMap<&str, &str> =
        others.iter().map(|(key, reply)| (key.as_str(), reply.as_str())).collect();
    let mut is_changed = false;
    for (key, reply) in known {
        if let Some(other) = others.get(key.as_str()).filter(|other| *other != reply) {
            (*other).clone_into(reply);
            is_changed = true;
        }
    }
    is_changed
}

/// Writes a file atomically.
fn write_file(path: &Path, entries: &CacheEntries) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = WholeFile::begin(path)?;
    file.write_all(render(entries).as_bytes())?;
    file.finish_for_good()
}

/// Removes temporary files of processes that were killed.
pub(crate) fn tidy_up(root: &Path) {
    for folder in folders_in(root).iter().flat_map(|category| folders_in(category)) {
        juror_files::collect(&folder);
    }
}

fn folders_in(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}

/// Renders a file like Python's `json.dump(…, indent=4)`.
fn render(entries: &CacheEntries) -> String {
    let mut out = String::from("{");
    for (n, (key, reply)) in entries.iter().enumerate() {
        out.push_str(if n == 0 { "\n    " } else { ",\n    " });
        out.push_str(&dumps_text(key));
        out.push_str(": ");
        // Stored replies are valid JSON.
        let reply = dump_json(reply, JsonStyle::Indented).unwrap_or_else(|_| "null".into());
        out.push_str(&reply.replace('\n', "\n    "));
    }
    out.push_str(if entries.is_empty() { "}" } else { "\n}" });
    out
}

fn problem(path: &Path, error: &io::Error) -> FolderProblem {
    FolderProblem::new(path, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        folder
    }

    fn names(category: &str, tool: &str, api: &str) -> ApiPath {
        [category, tool, api].map(str::to_owned)
    }

    #[test]
    fn both_layouts_are_found() {
        let folder = folder(&[
            ("Data/the_clique_for_Data/x.json", "{}"),
            ("Data/TheClique/Transfermarkt_details.json", "{}"),
            ("Data/.hidden/x.json", "{}"),
            ("readme.txt", ""),
        ]);
        let found = CacheFolder::look_through(folder.path()).expect("a folder");
        let apis: Vec<ApiPath> = found.apis().into_iter().map(|(names, _)| names.clone()).collect();
        assert_eq!(
            apis,
            [
                names("Data", "the_clique_for_Data", "x"),
                names("Data", "theclique_for_Data", "transfermarkt_details"),
            ]
        );
    }

    #[test]
    fn a_file_is_written_as_it_was_read() {
        let text = "{\n    \"{'a': 'it\\\"s'}\": {\n        \"error\": \"\",\n        \"response\": [\n            1e+16,\n            \"\\u00e9\\n\",\n            {}\n        ]\n    },\n    \"5\": \"x\"\n}";
        let original = folder(&[("Data/a_for_Data/x.json", text)]);
        let path = original.path().join("Data/a_for_Data/x.json");
        let entries = read_entries(&path).expect("entries");
        assert_eq!(entries[0].0, "{'a': 'it\"s'}");
        let copy = tempfile::tempdir().expect("a folder");
        let replies = BTreeMap::from([(names("Data", "a_for_Data", "x"), entries)]);
        let done = export(copy.path(), replies).expect("exported");
        assert_eq!((done.n_files, done.n_replies), (1, 2));
        let written = fs::read_to_string(copy.path().join("Data/a_for_Data/x.json"));
        assert_eq!(written.expect("written"), text);
    }

    #[test]
    fn files_of_something_else_are_told_from_files_of_replies() {
        let tool = r#"{"tool_name": "Sky", "title": "Sky", "api_list": [{"name": "Now"}]}"#;
        let others = [tool, r#"{"nodes": [], "error": ""}"#, r#"{"city": "Oslo"}"#];
        let replies = [
            "{}",
            r#"{"{'city': 'Oslo', 'on': True}": "rain"}"#,
            r#"{"{\"city\": \"Oslo\"}": null}"#,
            r#"{"{\"on\": true}": 1}"#,
            r#"{"5": 1}"#,
            r#"{"[1, 2]": 1}"#,
            r#"{"None": 1}"#,
            r#"{"{'x': nan}": NaN}"#,
            r#"{"Oslo": {"error": "", "response": {"x": NaN}}}"#,
            r#"{"tool_name": 1, "{}": 2}"#,
        ];
        let folder = folder(&[]);
        let path = folder.path().join("x.json");
        let read = |text: &str| {
            fs::write(&path, text).expect("written");
            read_entries(&path)
        };
        for text in others {
            let problem = read(text).expect_err(text);
            assert!(problem.is_of_other_kind, "{text}");
            assert_eq!(problem.reason, NO_REPLIES, "{text}");
        }
        for text in replies {
            assert!(read(text).is_ok(), "{text}");
        }
        assert!(!read("{\"k\": ").expect_err("torn").is_of_other_kind);
    }

    #[test]
    fn an_export_adds_and_changes_nothing() {
        let folder = folder(&[
            ("Data/a_for_Data/x.json", "{\"{'k': 1}\": 1}"),
            ("Data/a_for_Data/torn.json", "{\"k\": "),
        ]);
        let entries = |pairs: &[(&str, &str)]| -> CacheEntries {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let replies = BTreeMap::from([
            (names("Data", "a_for_Data", "x"), entries(&[("{'k': 1}", "2"), ("n", "3")])),
            (names("Data", "a_for_Data", "torn"), entries(&[("k", "2")])),
            (names("Data", "../../a_for_Data", "x"), entries(&[("k", "2")])),
        ]);
        let done = export(folder.path(), replies).expect("exported");
        assert_eq!((done.n_files, done.n_replies, done.n_known, done.problems.len()), (1, 1, 1, 2));
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("read");
        assert_eq!(read("Data/a_for_Data/x.json"), "{\n    \"{'k': 1}\": 1,\n    \"n\": 3\n}");
        assert_eq!(read("Data/a_for_Data/torn.json"), "{\"k\": ");
        assert!(done.problems[0].reason.starts_with("left out: "), "{:?}", done.problems);
        assert_eq!(done.problems[1].reason, "not a JSON object at 1:7");
    }
}
