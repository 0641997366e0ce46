//! Which queries agents are tried on.

use std::path::{Path, PathBuf};

use juror_score::read::Problems;
use juror_score::tool::{IdFilter, Query, read_queries};

use crate::input::{LoadError, load};

/// A query that was selected.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The set it is from.
    pub set: String,
    /// Its id; of one without, its number in the set.
    pub id: String,
    /// The query.
    pub query: Query,
}

/// Which queries to take.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A folder of sets, or a file of queries.
    pub place: String,
    /// The sets of a folder.
    pub sets: Vec<String>,
    /// A file of ids, in place of the one beside a set.
    pub filter: Option<String>,
    /// Only these ids.
    pub ids: Vec<String>,
    /// No more than this many of each set.
    pub limit: Option<usize>,
}

/// Why queries cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueriesError {
    /// A file cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file has problems.
    #[error(transparent)]
    Problems(Problems),
    /// There is no such set.
    #[error("{place}: there is no set `{set}`\n  hint: {}", hint(known))]
    NoSet {
        /// Where it was looked for.
        place: String,
        /// The set.
        set: String,
        /// The sets that are there.
        known: Vec<String>,
    },
    /// No set of a folder is named.
    #[error("{place}: which set?\n  hint: {}", hint(known))]
    WhichSet {
        /// The folder.
        place: String,
        /// The sets that are there.
        known: Vec<String>,
    },
    /// An id is in none of the sets.
    #[error("there is no query `{0}` in the chosen sets")]
    NoQuery(String),
    /// No query is left.
    #[error("no query is selected{}", if *.by_filter { ": the filter is empty" } else { "" })]
    None {
        /// Whether the filter takes none.
        by_filter: bool,
    },
}

fn hint(known: &[String]) -> String {
    match known {
        [] => "name a folder with files such as test_instruction/G1_instruction.json".into(),
        known => format!("name it with --set; there are {}", known.join(", ")),
    }
}

/// Selects queries. Problems of files that leave queries usable are returned beside them.
pub fn select_queries(wanted: &Wanted) -> Result<(Vec<Selected>, Problems), QueriesError> {
    let mut selected = Vec::new();
    let mut problems = Problems::default();
    let mut by_filter = false;
    for (set, path) in files(wanted)? {
        let document = load(&path.to_string_lossy())?;
        let (queries, own) = read_queries(&document);
        if queries.is_empty() && !own.is_empty() {
            return Err(QueriesError::Problems(own));
        }
        problems.extend(own);
        let filter = filter(wanted, &path, &mut problems)?;
        by_filter |= filter.is_empty();
        let mut n_taken = 0;
        for (number, query) in queries.into_iter().enumerate() {
            let id = query.id_text().unwrap_or_else(|| format!("query_{}", number + 1));
            let is_wanted = wanted.ids.is_empty() || wanted.ids.contains(&id);
            let is_room = wanted.limit.is_none_or(|limit| n_taken < limit);
            if is_room && is_wanted && filter.takes(&query) {
                n_taken += 1;
                selected.push(Selected { set: set.clone(), id, query });
            }
        }
    }
    if let Some(id) = wanted.ids.iter().find(|id| !selected.iter().any(|own| own.id == **id)) {
        return Err(QueriesError::NoQuery(id.clone()));
    }
    if selected.is_empty() {
        return Err(QueriesError::None { by_filter });
    }
    Ok((selected, problems))
}

/// The files of the sets, by name.
fn files(wanted: &Wanted) -> Result<Vec<(String, PathBuf)>, QueriesError> {
    let place = Path::new(&wanted.place);
    if !place.is_dir() {
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
    wanted.sets.iter().map(file).collect()
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

/// The ids to take: of the file that was named, else of the one beside the set, else all.
fn filter(
    wanted: &Wanted,
    queries: &Path,
    problems: &mut Problems,
) -> Result<IdFilter, QueriesError> {
    let beside = || {
        let folder = queries.parent()?.parent()?.join("test_query_ids");
        let file = folder.join(queries.file_name()?);
        file.is_file().then(|| file.to_string_lossy().into_owned())
    };
    let Some(file) = wanted.filter.clone().or_else(beside) else { return Ok(IdFilter::default()) };
    let (filter, own) = IdFilter::read(&load(&file)?);
    if wanted.filter.is_some() && !own.is_empty() {
        return Err(QueriesError::Problems(own));
    }
    problems.extend(own);
    Ok(filter)
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
        folder
    }

    fn ids(wanted: &Wanted) -> Result<Vec<String>, String> {
        let selected = select_queries(wanted).map_err(|error| error.to_string())?.0;
        Ok(selected.into_iter().map(|own| format!("{}/{}", own.set, own.id)).collect())
    }

    #[test]
    fn queries_are_selected_by_set_filter_id_and_number() {
        let folder = folder();
        let place = folder.path().to_string_lossy().into_owned();
        let sets = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let wanted = Wanted { place, sets: sets(&["A", "B"]), ..Wanted::default() };
        assert_eq!(ids(&wanted).expect("queries"), ["A/1", "A/2", "A/4", "B/9"]);
        let limited = Wanted { limit: Some(1), ..wanted.clone() };
        assert_eq!(ids(&limited).expect("queries"), ["A/1", "B/9"]);
        let one = Wanted { ids: vec!["2".into()], ..wanted.clone() };
        assert_eq!(ids(&one).expect("queries"), ["A/2"]);
        let unknown = Wanted { ids: vec!["7".into()], ..wanted.clone() };
        assert_eq!(ids(&unknown).expect_err("none"), "there is no query `7` in the chosen sets");
        let other = Wanted { sets: sets(&["C"]), ..wanted.clone() };
        assert!(ids(&other).expect_err("none").ends_with("there are A, B"));
        let none = Wanted { sets: Vec::new(), ..wanted };
        assert!(ids(&none).expect_err("which").contains("which set?"));
    }

    #[test]
    fn a_file_is_a_set_of_its_own() {
        let folder = folder();
        let path = folder.path().join("test_instruction/A.json").to_string_lossy().into_owned();
        let wanted = Wanted { place: path, ..Wanted::default() };
        assert_eq!(ids(&wanted).expect("queries"), ["A/1", "A/2", "A/4"]);
    }
}
