//! Selects the queries that agents are run on.

use std::collections::HashSet;
use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use juror_document::{Notice, Phrase, Problems, option, phrase};
use juror_files::{LoadError, load};
use juror_runs::{Shard, ShardIdentity, short_hash};
use juror_toolbench::{IdFilter, Query, read_queries_to_ask};

use crate::attempt::AttemptId;
use crate::query_hash::query_hash;

/// A selected query.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The query's set.
    pub set: String,
    /// The query's id, or its number in the set if it has none.
    pub id: String,
    /// Which of several answers to the query is meant, counting from 1; `None` if there is only
    /// one.
    pub trial: Option<usize>,
    /// The query.
    pub query: Query,
}

impl Selected {
    /// Returns what identifies the attempt in the log of a run.
    pub(super) fn log_id(&self) -> AttemptId {
        (self.set.clone(), self.id.clone(), self.trial.unwrap_or(1))
    }
}

/// Returns the queries, each of them once for each trial.
pub fn tried(queries: Vec<Selected>, trials: NonZero<u16>) -> Vec<Selected> {
    let n_trials = usize::from(trials.get());
    if n_trials == 1 {
        return queries;
    }
    let tried = |own: &Selected, trial| Selected { trial: Some(trial), ..own.clone() };
    queries.iter().flat_map(|own| (1..=n_trials).map(|trial| tried(own, trial))).collect()
}

/// Which queries to select.
#[derive(Clone, Debug, Default)]
pub struct QuerySelection {
    /// A folder of sets, or a file of queries.
    pub place: String,
    /// The sets of a folder.
    pub sets: Vec<String>,
    /// A file of ids, instead of the one next to a set.
    pub filter: Option<String>,
    /// Only these ids.
    pub ids: Vec<String>,
    /// The maximum number of queries from each set.
    pub limit: Option<usize>,
    /// Which of all of these; all of them by default.
    pub shard: Option<Shard>,
}

/// Why queries cannot be selected.
#[derive(Debug)]
#[non_exhaustive]
pub enum QueriesError {
    /// A file cannot be read.
    Load(LoadError),
    /// A file has problems.
    Problems(Problems),
    /// The set does not exist.
    NoSet {
        /// The place that was searched.
        place: String,
        /// The set.
        set: String,
        /// The sets that exist.
        known: Vec<String>,
    },
    /// The place is a folder, and no set was named.
    WhichSet {
        /// The folder.
        place: String,
        /// The sets that exist.
        known: Vec<String>,
    },
    /// A query that was named is not selected.
    NoQuery {
        /// Its id.
        id: String,
        /// Whether the filter excludes it.
        is_left_out: bool,
    },
    /// A set was named, but the place is a file of queries, which has no sets.
    SetOfFile(String),
    /// The shard is empty.
    EmptyShard {
        /// Which.
        shard: Shard,
        /// How many queries there are.
        n_queries: usize,
    },
    /// No query is left.
    None {
        /// Whether the filter excludes all queries.
        by_filter: bool,
    },
}

impl QueriesError {
    /// Returns the problem and its hint.
    pub fn notice(&self) -> Notice {
        match self {
            QueriesError::Load(error) => error.to_string().into(),
            QueriesError::Problems(problems) => problems.into(),
            QueriesError::NoSet { place, set, known } => {
                Notice::new(format!("{place}: there is no set `{set}`")).hint(name_a_set(known))
            }
            QueriesError::WhichSet { place, known } => {
                Notice::new(format!("{place}: which set?")).hint(name_a_set(known))
            }
            QueriesError::NoQuery { id, is_left_out: false } => {
                Notice::new(format!("there is no query `{id}` in the chosen sets"))
            }
            QueriesError::NoQuery { id, is_left_out: true } => Notice::new(format!(
                "there is no query `{id}` in the chosen sets: it is there, but the ids to take leave it out"
            ))
            .hint(phrase!["see ", option("ids")]),
            QueriesError::SetOfFile(file) => Notice::new(phrase![
                format!("{file}: a file of queries is one set, so that "),
                option("set"),
                " has no effect"
            ])
            .hint(phrase!["leave ", option("set"), " out, or name the folder of sets"]),
            QueriesError::EmptyShard { shard, n_queries } => {
                Notice::new(format!("shard {shard} of {n_queries} queries is empty"))
                    .hint(format!("make at most {n_queries} shards"))
            }
            QueriesError::None { by_filter: false } => "no query is selected".into(),
            QueriesError::None { by_filter: true } => {
                "no query is selected: the filter is empty".into()
            }
        }
    }
}

impl fmt::Display for QueriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notice().fmt(f)
    }
}

impl std::error::Error for QueriesError {}

impl From<LoadError> for QueriesError {
    fn from(error: LoadError) -> QueriesError {
        QueriesError::Load(error)
    }
}

fn name_a_set(known: &[String]) -> Phrase {
    match known {
        [] => "name a folder with files such as test_instruction/G1_instruction.json".into(),
        known => {
            let known = known.join(", ");
            phrase!["name it with ", option("set"), format!("; there are {known}")]
        }
    }
}

/// The selected queries.
#[derive(Debug)]
pub struct Selection {
    /// The queries, in the order of sets and files.
    pub queries: Vec<Selected>,
    /// Which part of a list they are; `None` if they are all of it.
    pub shard: Option<ShardIdentity>,
    /// Problems of the files that do not prevent the queries from being used.
    pub problems: Vec<String>,
}

/// Selects queries.
pub fn select_queries(wanted: &QuerySelection) -> Result<Selection, QueriesError> {
    let mut selector = Selector::new(wanted);
    for (set, path) in files(wanted)? {
        selector.read_set(&set, &path)?;
    }
    selector.finish()
}

/// Collects the selected queries, set by set.
struct Selector<'w> {
    wanted: &'w QuerySelection,
    queries: Vec<Selected>,
    problems: Vec<String>,
    /// The ids of queries that filters exclude.
    left_out: HashSet<String>,
    has_empty_filter: bool,
    unknown: UnknownIds,
}

impl<'w> Selector<'w> {
    fn new(wanted: &'w QuerySelection) -> Selector<'w> {
        Selector {
            wanted,
            queries: Vec::new(),
            problems: Vec::new(),
            left_out: HashSet::new(),
            has_empty_filter: false,
            unknown: UnknownIds::default(),
        }
    }

    fn read_set(&mut self, set: &str, path: &Path) -> Result<(), QueriesError> {
        let document = load(&path.to_string_lossy())?;
        let (queries, problems) = read_queries_to_ask(&document).map_err(QueriesError::Problems)?;
        self.note(&problems);
        let filter = self.filter(path)?;
        self.unknown.look(&filter, &queries);
        if filter.ids.is_empty() {
            self.has_empty_filter = true;
            self.problems.push(format!("no query of {set} is taken: its list of ids is empty"));
        }
        self.take(set, &filter.ids, queries);
        Ok(())
    }

    fn take(&mut self, set: &str, filter: &IdFilter, queries: Vec<Query>) {
        let QuerySelection { ids, limit, .. } = self.wanted;
        let mut n_taken = 0;
        for (number, query) in queries.into_iter().enumerate() {
            let id = query.id_or_number(number);
            // The limit does not apply to queries selected by id.
            let has_room = limit.is_none_or(|limit| n_taken < limit);
            let is_wanted = if ids.is_empty() { has_room } else { ids.contains(&id) };
            if !filter.takes(&query) {
                self.left_out.insert(id);
            } else if is_wanted {
                n_taken += 1;
                self.queries.push(Selected { set: set.to_owned(), id, trial: None, query });
            }
        }
    }

    fn finish(mut self) -> Result<Selection, QueriesError> {
        self.problems.extend(self.unknown.problems());
        let is_taken = |id: &String| self.queries.iter().any(|own| own.id == *id);
        if let Some(id) = self.wanted.ids.iter().find(|id| !is_taken(id)) {
            let is_left_out = self.left_out.contains(id);
            return Err(QueriesError::NoQuery { id: id.clone(), is_left_out });
        }
        if self.queries.is_empty() {
            return Err(QueriesError::None { by_filter: self.has_empty_filter });
        }
        let mut seen = HashSet::new();
        let twice = self.queries.iter().filter(|own| !seen.insert((&own.set, &own.id)));
        let twice = twice.map(|own| format!("{}: the query `{}` comes twice", own.set, own.id));
        self.problems.extend(twice);
        let shard = self.take_shard()?;
        Ok(Selection { queries: self.queries, shard, problems: self.problems })
    }

    /// Leaves only the queries of the shard, if one is wanted.
    fn take_shard(&mut self) -> Result<Option<ShardIdentity>, QueriesError> {
        let Some(shard) = self.wanted.shard else { return Ok(None) };
        let items = self.queries.len();
        let hash = |own: &Selected| format!("{}/{} {}", own.set, own.id, query_hash(&own.query));
        let whole = short_hash(&self.queries.iter().map(hash).collect::<Vec<_>>().join("\n"));
        shard.take_out(&mut self.queries);
        if self.queries.is_empty() {
            return Err(QueriesError::EmptyShard { shard, n_queries: items });
        }
        Ok(Some(ShardIdentity { shard, items, whole }))
    }

    /// Returns the ids to select: those of the named file, else those of the file next to the set,
    /// else all.
    fn filter(&mut self, queries: &Path) -> Result<Filter, QueriesError> {
        let beside = || {
            let folder = queries.parent()?.parent()?.join("test_query_ids");
            let file = folder.join(queries.file_name()?);
            file.is_file().then(|| file.to_string_lossy().into_owned())
        };
        let named = &self.wanted.filter;
        let Some(file) = named.clone().or_else(beside) else { return Ok(Filter::default()) };
        let (ids, problems) = IdFilter::read(&load(&file)?);
        if named.is_some() && !problems.is_empty() {
            return Err(QueriesError::Problems(problems));
        }
        self.note(&problems);
        Ok(Filter { ids, file })
    }

    fn note(&mut self, problems: &Problems) {
        self.problems.extend(problems.errors.iter().map(ToString::to_string));
        if problems.n_more > 0 {
            self.problems.push(format!("and {} more like these", problems.n_more));
        }
    }
}

/// The ids to select from a set, and the file they are from.
#[derive(Default)]
struct Filter {
    ids: IdFilter,
    file: String,
}

/// Returns the files of the sets, with the sets' names.
fn files(wanted: &QuerySelection) -> Result<Vec<(String, PathBuf)>, QueriesError> {
    let place = Path::new(&wanted.place);
    if !place.is_dir() {
        if !wanted.sets.is_empty() {
            return Err(QueriesError::SetOfFile(wanted.place.clone()));
        }
        let name = place.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(vec![(name, place.to_owned())]);
    }
    let inner = place.join("test_instruction");
    let folder = if inner.is_dir() { inner } else { place.to_owned() };
    let place = wanted.place.clone();
    let known = known_sets(&folder);
    if wanted.sets.is_empty() {
        return Err(QueriesError::WhichSet { place, known });
    }
    let file = |set: &String| {
        let path = folder.join(format!("{set}.json"));
        let is_plain = !set.contains(['/', '\\']);
        if is_plain && path.is_file() {
            return Ok((set.clone(), path));
        }
        let (place, set, known) = (place.clone(), set.clone(), known.clone());
        Err(QueriesError::NoSet { place, set, known })
    };
    let mut seen = HashSet::new();
    wanted.sets.iter().filter(|set| seen.insert(*set)).map(file).collect()
}

fn known_sets(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| {
        Some(entry.file_name().to_string_lossy().strip_suffix(".json")?.to_owned())
    };
    let mut known: Vec<String> = entries.filter_map(name).collect();
    known.sort();
    known
}

/// Collects ids that no query has, which are usually mistakes. One file of ids may serve several
/// sets.
#[derive(Default)]
struct UnknownIds {
    files: Vec<(String, Vec<String>)>,
}

/// How many unknown ids are named.
const MOST_UNKNOWN: usize = 5;

impl UnknownIds {
    fn look(&mut self, Filter { ids, file }: &Filter, queries: &[Query]) {
        let known: HashSet<String> = queries.iter().filter_map(Query::id_text).collect();
        match self.files.iter_mut().find(|(other, _)| other == file) {
            Some((_, unknown)) => unknown.retain(|id| !known.contains(id)),
            None => {
                let unknown = ids.ids().filter(|id| !known.contains(*id)).map(Into::into);
                self.files.push((file.to_owned(), unknown.collect()));
            }
        }
    }

    fn problems(&self) -> impl Iterator<Item = String> {
        let problem = |(file, ids): &(String, Vec<String>)| {
            let shown: Vec<&str> = ids.iter().take(MOST_UNKNOWN).map(String::as_str).collect();
            let more = match ids.len().saturating_sub(MOST_UNKNOWN) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            format!("{file}: no query has the id `{}`{more}", shown.join("`, `"))
        };
        self.files.iter().filter(|(_, ids)| !ids.is_empty()).map(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write(
            "test_instruction/A.json",
            r#"[{"query_id": 1, "query": "a"}, {"query_id": "2", "query": "b"}, {"query": "c"}, {"query_id": 4, "query": "d"}]"#,
        );
        write("test_query_ids/A.json", r#"{"1": 0, "2": 0, "4": 0}"#);
        write("test_instruction/B.json", r#"[{"query_id": 9, "query": "x"}]"#);
        write("test_instruction/Odd.json", r#"[{"query_id": 9, "query": ""}]"#);
        write(
            "test_instruction/Shared.json",
            r#"[{"query_id": 9, "query": "x"}, {"query_id": 9, "query": "y"}]"#,
        );
        folder
    }

    fn ids(wanted: &QuerySelection) -> Result<Vec<String>, String> {
        let selected = select_queries(wanted).map_err(|error| error.to_string())?.queries;
        Ok(selected.into_iter().map(|own| format!("{}/{}", own.set, own.id)).collect())
    }

    #[test]
    fn queries_are_selected_by_set_filter_id_and_number() {
        let folder = folder();
        let place = folder.path().to_string_lossy().into_owned();
        let sets = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let wanted = QuerySelection { place, sets: sets(&["A", "B"]), ..QuerySelection::default() };
        assert_eq!(ids(&wanted).expect("queries"), ["A/1", "A/2", "A/4", "B/9"]);
        let limited = QuerySelection { limit: Some(1), ..wanted.clone() };
        assert_eq!(ids(&limited).expect("queries"), ["A/1", "B/9"]);
        let one = QuerySelection { ids: vec!["2".into()], ..wanted.clone() };
        assert_eq!(ids(&one).expect("queries"), ["A/2"]);
        let unknown = QuerySelection { ids: vec!["7".into()], ..wanted.clone() };
        assert_eq!(ids(&unknown).expect_err("none"), "there is no query `7` in the chosen sets");
        let other = QuerySelection { sets: sets(&["C"]), ..wanted.clone() };
        assert!(ids(&other).expect_err("none").ends_with("there are A, B, Odd, Shared"));
        let none = QuerySelection { sets: Vec::new(), ..wanted };
        assert!(ids(&none).expect_err("which").contains("which set?"));
    }

    #[test]
    fn a_set_with_a_query_that_cannot_be_asked_is_refused() {
        let folder = folder();
        let place = folder.path().to_string_lossy().into_owned();
        for (set, told) in [("Odd", "this query has no `query`"), ("Shared", "`9` is used twice")] {
            let sets = vec!["A".to_owned(), set.to_owned()];
            let wanted = QuerySelection { place: place.clone(), sets, ..QuerySelection::default() };
            let refused = select_queries(&wanted).expect_err("a problem");
            assert!(matches!(refused, QueriesError::Problems(_)), "{refused}");
            assert!(refused.to_string().contains(told), "{refused}");
        }
    }

    #[test]
    fn ids_that_no_query_has_are_told() {
        let folder = folder();
        let ids = folder.path().join("ids.json").to_string_lossy().into_owned();
        std::fs::write(&ids, r#"["1", 9, 77, "x"]"#).expect("written");
        let place = folder.path().to_string_lossy().into_owned();
        let sets = vec!["A".to_owned(), "B".to_owned()];
        let wanted =
            QuerySelection { place, sets, filter: Some(ids.clone()), ..QuerySelection::default() };
        let selection = select_queries(&wanted).expect("queries");
        assert_eq!(selection.problems, [format!("{ids}: no query has the id `77`, `x`")]);
    }

    #[test]
    fn a_file_is_a_set_of_its_own() {
        let folder = folder();
        let path = folder.path().join("test_instruction/A.json").to_string_lossy().into_owned();
        let wanted = QuerySelection { place: path, ..QuerySelection::default() };
        assert_eq!(ids(&wanted).expect("queries"), ["A/1", "A/2", "A/4"]);
    }
}
