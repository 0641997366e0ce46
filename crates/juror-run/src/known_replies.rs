//! From settings to the replies that are known: the store, cache folders, other stores.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_store::{StoreError, ToolReplies};
use juror_tools::{ArgumentOrder, CacheFolder, CachedSetup, Keeping};

use crate::models::SetupError;
use crate::tool_settings::{ArgumentsWord, MissWord, ToolsSettings};

/// Where replies of tools are kept when settings do not say.
pub const DEFAULT_TOOL_STORE: &str = ".juror/tools";

/// What is known, and how much of it there is.
pub(crate) struct KnownReplies {
    pub(crate) setup: CachedSetup,
    /// The store, if there is one.
    pub(crate) store: Option<PathBuf>,
    pub(crate) n_cached_apis: usize,
    pub(crate) n_kept: u64,
}

impl ToolsSettings {
    /// The folder that replies are kept in.
    fn store_folder(&self) -> &Path {
        Path::new(self.store.as_deref().unwrap_or(DEFAULT_TOOL_STORE))
    }

    /// Whether replies are kept already.
    pub fn has_store(&self) -> bool {
        ToolReplies::is_in(self.store_folder())
    }

    fn only_reads(&self) -> bool {
        self.on_miss == Some(MissWord::Fail) || self.keep == Some(false)
    }
}

/// Opens all that settings name, and the store in any case.
pub(crate) fn known_replies(
    tools: &ToolsSettings,
    has_makers: bool,
    problems: &mut Vec<String>,
) -> Result<KnownReplies, SetupError> {
    let (given, folders): (Vec<&String>, Vec<&String>) =
        tools.cache.iter().partition(|name| ToolReplies::is_in(Path::new(name)));
    let write_back = folders.first().filter(|_| tools.write_back == Some(true));
    let write_back = write_back.map(PathBuf::from);
    let folders = look_through(&folders, write_back.as_deref(), problems)?;
    let keeps = has_makers && !tools.only_reads();
    let mut stores = Vec::new();
    // A store that is named as a cache, too, is one store: never changed where nothing is kept.
    let is_store = |name: &&String| is_same(Path::new(name), tools.store_folder());
    let is_read = tools.only_reads() || (given.iter().any(is_store) && !keeps);
    let own = open_store(tools, keeps, is_read)?;
    for name in given.into_iter().filter(|name| own.is_none() || !is_store(name)) {
        stores
            .extend(ToolReplies::open_read_only(Path::new(name)).map_err(|error| failed(&error))?);
    }
    let (first, kept) = if is_read { (own, None) } else { (None, own) };
    let mut n_kept = 0;
    for store in first.iter().chain(&stores).chain(&kept) {
        n_kept += store.count().map_err(|error| failed(&error))?;
    }
    let order = match tools.arguments {
        Some(ArgumentsWord::AnyOrder) => ArgumentOrder::Any,
        Some(ArgumentsWord::Exact) | None => ArgumentOrder::Kept,
    };
    let keeping = if tools.refresh == Some(true) { Keeping::Latest } else { Keeping::First };
    let n_cached_apis = folders.iter().map(CacheFolder::n_apis).sum();
    let store =
        kept.as_ref().or(first.as_ref()).or(stores.first()).map(|store| store.path().to_owned());
    let memory = tools.memory_mb.map(|megabytes| u64::from(megabytes) << 20);
    let setup = CachedSetup { folders, stores, kept, first, keeping, write_back, order, memory };
    Ok(KnownReplies { setup, store, n_cached_apis, n_kept })
}

/// The categories of tools by what is known of them, for tools whose files say none; a tool that is
/// known in several categories has none.
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
        let tools = store.tools().map_err(|error| failed(&error))?;
        for (category, tool) in &tools {
            add(category, tool);
        }
    }
    Ok(categories)
}

/// Categories by the standard names of tools.
pub(crate) type Categories = HashMap<String, Option<Arc<str>>>;

fn look_through(
    folders: &[&String],
    write_back: Option<&Path>,
    problems: &mut Vec<String>,
) -> Result<Vec<CacheFolder>, SetupError> {
    if let Some(path) = write_back {
        std::fs::create_dir_all(path).map_err(|error| {
            let why = crate::input::reason(&error);
            SetupError(format!("{}: cannot be made: {why}", path.display()))
        })?;
    }
    let mut found = Vec::new();
    for name in folders {
        let folder = CacheFolder::look_through(Path::new(name)).map_err(|problem| {
            SetupError(format!(
                "{problem}\n  hint: name a cache folder, or the store of replies, with --cache"
            ))
        })?;
        problems.extend(folder.problems().iter().map(ToString::to_string));
        if folder.n_apis() == 0 && write_back.is_none() {
            problems.push(format!("{name}: no replies are found here\n  hint: name the folder that holds a folder for each category"));
        }
        found.push(folder);
    }
    Ok(found)
}

/// Opens the store: it is made if new replies are to be kept, and read if it is there. A replay
/// leaves it exactly as it is.
fn open_store(
    tools: &ToolsSettings,
    keeps: bool,
    is_read: bool,
) -> Result<Option<ToolReplies>, SetupError> {
    let path = tools.store_folder();
    if path.is_file() && (tools.store.is_some() || keeps) {
        return Err(SetupError(format!(
            "{}: a folder is needed, and this is a file",
            path.display()
        )));
    }
    if is_read {
        return ToolReplies::open_read_only(path).map_err(|error| failed(&error));
    }
    if keeps || tools.store.is_some() {
        return ToolReplies::open(path).map(Some).map_err(|error| failed(&error));
    }
    if !ToolReplies::is_in(path) {
        return Ok(None);
    }
    // Hits are counted where that is possible; where it is not, there is nothing else to write.
    let opened = ToolReplies::open(path).map(Some);
    opened.or_else(|_| ToolReplies::open_read_only(path)).map_err(|error| failed(&error))
}

fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| std::fs::canonicalize(path).ok();
    place(one).is_some_and(|one| Some(one) == place(other))
}

fn failed(error: &StoreError) -> SetupError {
    SetupError(error.to_string())
}
