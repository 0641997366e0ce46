//! Opens the known replies that settings name: the store, cache folders, other stores.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_document::{Notice, option, phrase};
use juror_postgres::{StoreUse, is_database, open_tool_store, shown_place};
use juror_run::{ArgumentsWord, SetupError, ToolsSettings};
use juror_store::{ToolReplies, ToolStore};
use juror_tools::{ArgumentOrder, CacheFolder, CachedSetup, Keeping};

/// A place of known replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyPlace {
    /// The name that the user gave.
    pub name: String,
    /// The file or folder, if it is only read.
    pub read: Option<PathBuf>,
}

/// Known replies, and their numbers.
pub(crate) struct KnownReplies {
    pub(crate) setup: CachedSetup,
    /// The store, if there is one.
    pub(crate) store: Option<String>,
    pub(crate) n_cached_apis: usize,
    pub(crate) n_kept: u64,
    /// The named places, and the store if it is only read.
    pub(crate) places: Vec<ReplyPlace>,
}

/// Returns whether there is anything to serve: tools, or known replies. A database is taken to have
/// some.
pub fn has_anything(tools: &ToolsSettings) -> bool {
    let is_named = !tools.folder.is_empty() || !tools.cache.is_empty() || tools.cassette.is_some();
    is_named || !tools.servers().is_empty() || is_store(tools.store_place())
}

/// Returns whether a place is a store, rather than a cache folder.
fn is_store(place: &str) -> bool {
    is_database(place) || ToolReplies::is_in(Path::new(place))
}

/// Opens everything that settings name, and always the store.
pub(crate) fn known_replies(
    tools: &ToolsSettings,
    has_makers: bool,
    problems: &mut Vec<Notice>,
) -> Result<KnownReplies, SetupError> {
    let (given, folders): (Vec<&String>, Vec<&String>) =
        tools.cache.iter().partition(|name| is_store(name));
    let keeps = has_makers && !tools.only_reads();
    let cassette = tools.cassette.as_ref();
    let folders: Vec<&String> = cassette.into_iter().chain(folders).collect();
    // A cassette that is recorded is written to like a cache folder.
    let is_written = tools.write_back == Some(true) || (cassette.is_some() && keeps);
    let write_back = folders.first().filter(|_| is_written);
    let write_back = write_back.map(PathBuf::from);
    let mut places: Vec<ReplyPlace> = Vec::new();
    for name in &folders {
        let path = PathBuf::from(name);
        let read = (write_back.as_ref() != Some(&path)).then_some(path);
        places.push(ReplyPlace { name: (*name).clone(), read });
    }
    let folders = look_through(&folders, write_back.as_deref(), problems)?;
    let mut stores = Vec::new();
    // A store that is also named as a cache is opened once, and never changed if nothing is kept.
    let is_own = |name: &&String| is_same(name, tools.store_place());
    let is_given = given.iter().any(is_own);
    let is_read = tools.only_reads() || (is_given && !keeps);
    let own = if cassette.is_some() { None } else { open_store(tools, keeps, is_read)? };
    // What a database holds may change at any time, so that it counts by name.
    let file_of = |store: &dyn ToolStore, place: &str| {
        (!is_database(place)).then(|| PathBuf::from(store.place()))
    };
    let own_read = own.as_deref().filter(|_| is_read);
    let own_read = own_read.and_then(|store| file_of(store, tools.store_place()));
    for name in given {
        if own.is_some() && is_own(&name) {
            places.push(ReplyPlace { name: shown_place(name), read: own_read.clone() });
            continue;
        }
        let opened = open_tool_store(name, StoreUse::Read)?;
        let read = opened.as_deref().and_then(|store| file_of(store, name));
        places.push(ReplyPlace { name: shown_place(name), read });
        stores.extend(opened);
    }
    if let Some(path) = own_read.filter(|_| !is_given) {
        places.push(ReplyPlace { name: tools.store_place().to_owned(), read: Some(path) });
    }
    let (first, kept) = if is_read { (own, None) } else { (None, own) };
    let mut n_kept = 0;
    for store in first.iter().chain(&stores).chain(&kept) {
        n_kept += store.count()?;
    }
    let order = match tools.arguments {
        Some(ArgumentsWord::AnyOrder) => ArgumentOrder::Any,
        Some(ArgumentsWord::Exact) | None => ArgumentOrder::Kept,
    };
    let keeping = if tools.refresh == Some(true) { Keeping::Latest } else { Keeping::First };
    let n_cached_apis = folders.iter().map(CacheFolder::n_apis).sum();
    let store = kept.as_ref().or(first.as_ref()).or(stores.first()).map(|store| store.place());
    let memory = tools.memory_mb.map(|megabytes| u64::from(megabytes) << 20);
    let cassette = cassette.filter(|_| keeps).map(PathBuf::from);
    let setup =
        CachedSetup { folders, stores, kept, first, cassette, keeping, write_back, order, memory };
    Ok(KnownReplies { setup, store, n_cached_apis, n_kept, places })
}

/// Infers the categories of tools from known replies, for tools whose files have none. A tool with
/// replies in several categories gets none.
pub(crate) fn categories_of(setup: &CachedSetup) -> Result<Categories, SetupError> {
    let mut categories = Categories::new();
    let mut add = |category: &str, tool: &str| {
        let Some(tool) = tool.strip_suffix(category).and_then(|tool| tool.strip_suffix("_for_"))
        else {
            return;
        };
        let known = categories.entry(tool.to_owned()).or_insert_with(|| Some(category.into()));
        if known.as_deref().is_some_and(|known| known != category) {
            *known = None;
        }
    };
    for (category, tool) in setup.folders.iter().flat_map(CacheFolder::tools) {
        add(category, tool);
    }
    for store in setup.kept.iter().chain(&setup.first).chain(&setup.stores) {
        let tools = store.tools()?;
        for (category, tool) in &tools {
            add(category, tool);
        }
    }
    Ok(categories)
}

/// Categories by the standardized names of tools.
pub(crate) type Categories = HashMap<String, Option<Arc<str>>>;

fn look_through(
    folders: &[&String],
    write_back: Option<&Path>,
    problems: &mut Vec<Notice>,
) -> Result<Vec<CacheFolder>, SetupError> {
    if let Some(path) = write_back {
        std::fs::create_dir_all(path).map_err(|error| {
            let why = juror_files::reason(&error);
            SetupError::new(format!("{}: cannot be made: {why}", path.display()))
        })?;
    }
    let mut found = Vec::new();
    for name in folders {
        let folder = CacheFolder::look_through(Path::new(name)).map_err(|problem| {
            SetupError::new(problem.to_string()).hint(phrase![
                "name a cache folder, or the store of replies, with ",
                option("cache")
            ])
        })?;
        problems.extend(folder.problems().iter().map(|problem| problem.to_string().into()));
        if folder.n_apis() == 0 && write_back.is_none() {
            let hint = "name the folder that holds a folder for each category";
            problems.push(Notice::new(format!("{name}: no replies are found here")).hint(hint));
        }
        found.push(folder);
    }
    Ok(found)
}

/// Opens the store. It is created if new replies are to be kept, and read if it exists. A replay
/// leaves it exactly as it is.
fn open_store(
    tools: &ToolsSettings,
    keeps: bool,
    is_read: bool,
) -> Result<Option<Box<dyn ToolStore>>, SetupError> {
    let place = tools.store_place();
    let is_wanted = keeps || tools.store.is_some();
    if !is_database(place) && Path::new(place).is_file() && is_wanted {
        let problem = format!("{place}: a folder is needed, and this is a file");
        return Err(SetupError::new(problem));
    }
    if is_read {
        return Ok(open_tool_store(place, StoreUse::Read)?);
    }
    if is_wanted {
        return Ok(open_tool_store(place, StoreUse::Keep)?);
    }
    if !is_store(place) {
        return Ok(None);
    }
    // Hits are counted if the store can be written to; otherwise nothing else would be written
    // either.
    let opened = open_tool_store(place, StoreUse::Keep);
    Ok(opened.or_else(|_| open_tool_store(place, StoreUse::Read))?)
}

fn is_same(one: &str, other: &str) -> bool {
    let place = |path: &str| std::fs::canonicalize(path).ok();
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_place_that_is_written_to_is_told_from_one_that_is_only_read() {
        let root = tempfile::tempdir().expect("a folder");
        let [store, other, first, second] =
            ["store", "other", "first", "second"].map(|name| root.path().join(name));
        for place in [&store, &other] {
            ToolReplies::open(place).expect("a store");
        }
        for place in [&first, &second] {
            std::fs::create_dir(place).expect("made");
        }
        let settings = |more: serde_json::Value| {
            let mut tools = json!({"store": store, "cache": [store, other, first, second]});
            tools.as_object_mut().expect("fields").extend(more.as_object().expect("more").clone());
            serde_json::from_value::<ToolsSettings>(tools).expect("settings")
        };
        let read = |tools: &ToolsSettings, has_makers| {
            let known = known_replies(tools, has_makers, &mut Vec::new());
            let places = known.unwrap_or_else(|error| panic!("{error}")).places;
            let name = |place: ReplyPlace| {
                place.read.map(|_| place.name.rsplit('/').next().unwrap_or_default().to_owned())
            };
            places.into_iter().filter_map(name).collect::<Vec<String>>()
        };
        assert_eq!(read(&settings(json!({})), true), ["first", "second", "other"]);
        let written = settings(json!({"write_back": true}));
        assert_eq!(read(&written, true), ["second", "other"]);
        let replay = settings(json!({"on_miss": "fail"}));
        assert_eq!(read(&replay, false), ["first", "second", "store", "other"]);
        let unnamed = ToolsSettings { cache: Vec::new(), ..replay };
        assert_eq!(read(&unnamed, false), ["store"], "a store that is only read decides");
        let kept = ToolsSettings { cache: Vec::new(), ..settings(json!({})) };
        assert!(read(&kept, true).is_empty());
    }
}
