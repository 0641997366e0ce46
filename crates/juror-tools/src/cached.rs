//! Replies that are known: in memory, in cache folders, in the store.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hashbrown::{HashMap, HashSet};
use juror_score::{JsonStyle, dump_json, json_of_literal, sorted_str_of_json};
use juror_store::{KeptReply, NewReply, Origin, StoreError, ToolReplies};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::cache_folder::{CacheFolder, Names, read_entries};
use crate::call::ToolCall;
use crate::keeper::Keeper;

/// How much of what is known is held in memory when nobody says.
pub const DEFAULT_MEMORY: u64 = 1 << 30;

/// A reply that is known, ready to be sent.
#[derive(Debug)]
pub struct Known {
    /// JSON.
    pub body: Bytes,
    /// Where it came from.
    pub origin: Origin,
    /// Its number in the store, if it is kept there.
    id: Option<i64>,
    /// How often it was given since hits were last written down.
    hits: AtomicU64,
}

/// How the arguments of a call are compared with those of kept replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentOrder {
    /// To the letter, as cache files have them.
    #[default]
    Kept,
    /// If there is none to the letter: whatever the order of the arguments.
    Any,
}

/// All replies that are known.
pub struct Cached {
    memory: Cache<String, Arc<Known>, Weight>,
    /// Whole files of cache folders.
    files: Cache<Names, Arc<FileReplies>, Weight>,
    folders: Vec<CacheFolder>,
    keeper: Option<Keeper>,
    order: ArgumentOrder,
    /// Calls whose reply was found in another order of arguments.
    n_any_order: AtomicU64,
    /// Replies that were given since hits were last written down.
    touched: Mutex<Vec<Arc<Known>>>,
    /// Complaints about files, each made once.
    told: Mutex<HashSet<String>>,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
}

type FileReplies = HashMap<String, Arc<Known>>;

/// What is known is made of these.
#[derive(Default)]
pub struct CachedSetup {
    /// Cache folders, served as they are and never written to.
    pub folders: Vec<CacheFolder>,
    /// The store that new replies go to.
    pub store: Option<ToolReplies>,
    /// A cache folder that new replies are written into as well.
    pub write_back: Option<PathBuf>,
    /// How arguments are compared.
    pub order: ArgumentOrder,
    /// How many bytes are held in memory.
    pub memory: Option<u64>,
}

impl Cached {
    /// Gets ready; `tell` hears of files that cannot be used.
    pub fn new(setup: CachedSetup, tell: impl Fn(&str) + Send + Sync + 'static) -> Cached {
        let tell: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(tell);
        let told = tell.clone();
        let keeper = |store| Keeper::start(store, setup.write_back, move |text| told(text));
        let half = setup.memory.unwrap_or(DEFAULT_MEMORY) / 2;
        Cached {
            memory: Cache::with_weighter(EXPECTED_REPLIES, half, Weight),
            files: Cache::with_weighter(EXPECTED_FILES, half, Weight),
            folders: setup.folders,
            keeper: setup.store.map(keeper),
            order: setup.order,
            n_any_order: AtomicU64::new(0),
            touched: Mutex::default(),
            told: Mutex::default(),
            tell,
        }
    }

    /// The reply to a call if it is in memory already. This is the way of nearly every call.
    pub fn in_memory(&self, id: &str) -> Option<Arc<Known>> {
        let known = self.memory.get(id)?;
        self.touch(&known);
        Some(known)
    }

    /// The reply to a call, wherever it is known; reads files, and so may take a moment.
    pub fn find(&self, call: &ToolCall) -> Result<Option<Arc<Known>>, StoreError> {
        let (id, names) = (call.id(), call.kept_names());
        let found = match self.find_exact(&names, &call.key)? {
            None if self.order == ArgumentOrder::Any => self.find_any_order(&names, call)?,
            found => found,
        };
        if let Some(known) = &found {
            self.memory.insert(id, known.clone());
            self.touch(known);
        }
        Ok(found)
    }

    fn find_exact(&self, names: &Names, key: &str) -> Result<Option<Arc<Known>>, StoreError> {
        if let Some(known) = self.in_folders(names).and_then(|file| file.get(key).cloned()) {
            return Ok(Some(known));
        }
        let Some(keeper) = &self.keeper else { return Ok(None) };
        Ok(keeper.store().get(names, key)?.map(|kept| Arc::new(Known::kept(&kept))))
    }

    fn find_any_order(
        &self,
        names: &Names,
        call: &ToolCall,
    ) -> Result<Option<Arc<Known>>, StoreError> {
        let Ok(wanted) = sorted_str_of_json(&call.input) else { return Ok(None) };
        let is_it = |key: &str| {
            let sorted = json_of_literal(key).ok().and_then(|json| sorted_str_of_json(&json).ok());
            sorted.as_deref() == Some(&wanted)
        };
        for key in self.keys_of(names)? {
            if is_it(&key) {
                self.n_any_order.fetch_add(1, Ordering::Relaxed);
                return self.find_exact(names, &key);
            }
        }
        Ok(None)
    }

    fn keys_of(&self, names: &Names) -> Result<Vec<String>, StoreError> {
        let file = self.in_folders(names);
        let mut keys: Vec<String> = file.iter().flat_map(|file| file.keys().cloned()).collect();
        keys.sort_unstable();
        if let Some(keeper) = &self.keeper {
            let kept = keeper.store().first(names, usize::MAX)?;
            keys.extend(kept.into_iter().map(|(key, _)| key));
        }
        Ok(keys)
    }

    /// The first replies that are known of an API, in the order they came: arguments and reply.
    pub fn examples(&self, names: &Names, most: usize) -> Vec<(String, String)> {
        let mut examples = Vec::new();
        for path in self.folders.iter().flat_map(|folder| folder.files_of(names)) {
            let entries = read_entries(path).unwrap_or_default();
            examples.extend(entries.into_iter().take(most.saturating_sub(examples.len())));
        }
        if let Some(keeper) = &self.keeper {
            let missing = most.saturating_sub(examples.len());
            examples.extend(keeper.store().first(names, missing).unwrap_or_default());
        }
        examples
    }

    /// How many calls were found in another order of arguments, the first time each.
    pub fn n_any_order(&self) -> &AtomicU64 {
        &self.n_any_order
    }

    /// Whether replies are kept at all.
    pub fn keeps(&self) -> bool {
        self.keeper.is_some()
    }

    /// Keeps a reply; once this returns it survives a power cut. If there is one already, that
    /// stays and is returned.
    pub async fn keep(&self, call: &ToolCall, new: NewReply) -> Result<Arc<Known>, String> {
        let Some(keeper) = &self.keeper else {
            return Ok(Arc::new(Known::new(&new.reply, new.origin, None)));
        };
        let known = Arc::new(Known::kept(&keeper.keep(new).await?));
        self.memory.insert(call.id(), known.clone());
        Ok(known)
    }

    /// Writes down how often replies were given.
    pub fn write_hits(&self) -> Result<(), StoreError> {
        let touched = std::mem::take(&mut *locked(&self.touched));
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let hits = touched
            .iter()
            .filter_map(|known| Some((known.id?, known.hits.swap(0, Ordering::Relaxed))));
        let hits: Vec<(i64, u64)> = hits.collect();
        if hits.is_empty() { Ok(()) } else { keeper.store().count_hits(&hits) }
    }

    fn touch(&self, known: &Arc<Known>) {
        if known.id.is_some() && known.hits.fetch_add(1, Ordering::Relaxed) == 0 {
            locked(&self.touched).push(known.clone());
        }
    }

    /// The replies of an API in the first folder that has some.
    fn in_folders(&self, names: &Names) -> Option<Arc<FileReplies>> {
        let paths = self.folders.iter().map(|folder| folder.files_of(names));
        let paths = paths.into_iter().find(|paths| !paths.is_empty())?;
        if let Some(file) = self.files.get(names) {
            return Some(file);
        }
        let mut replies = FileReplies::new();
        for path in paths {
            for (key, reply) in self.read_file(path) {
                let known = || Arc::new(Known::new(&reply, Origin::Imported, None));
                replies.entry(key).or_insert_with(known);
            }
        }
        let replies = Arc::new(replies);
        self.files.insert(names.clone(), replies.clone());
        Some(replies)
    }

    fn read_file(&self, path: &Path) -> Vec<(String, String)> {
        read_entries(path).unwrap_or_else(|problem| {
            let text =
                format!("{problem}; the file is left as it is, and its replies are not known");
            if locked(&self.told).insert(text.clone()) {
                (self.tell)(&text);
            }
            Vec::new()
        })
    }
}

impl Known {
    fn new(reply: &str, origin: Origin, id: Option<i64>) -> Known {
        Known { body: wire(reply), origin, id, hits: AtomicU64::new(0) }
    }

    fn kept(kept: &KeptReply) -> Known {
        Known::new(&kept.reply, kept.origin, Some(kept.id))
    }

    /// Its number in the store, if it is kept there.
    pub fn id(&self) -> Option<i64> {
        self.id
    }
}

/// A reply as it is sent. Python lets numbers into JSON that are none.
fn wire(reply: &str) -> Bytes {
    if !reply.contains("NaN") && !reply.contains("Infinity") {
        return Bytes::copy_from_slice(reply.as_bytes());
    }
    let json = dump_json(reply, JsonStyle::Wire);
    Bytes::from(json.unwrap_or_else(|_| reply.to_owned()))
}

const EXPECTED_REPLIES: usize = 100_000;
const EXPECTED_FILES: usize = 5_000;

/// Counts bytes.
#[derive(Clone)]
struct Weight;

/// What an entry takes besides its texts.
const OVERHEAD: usize = 128;

impl Weighter<String, Arc<Known>> for Weight {
    fn weight(&self, key: &String, known: &Arc<Known>) -> u64 {
        (key.len() + known.body.len() + OVERHEAD) as u64
    }
}

impl Weighter<Names, Arc<FileReplies>> for Weight {
    fn weight(&self, _: &Names, file: &Arc<FileReplies>) -> u64 {
        let bytes = file.iter().map(|(key, known)| key.len() + known.body.len() + OVERHEAD);
        (bytes.sum::<usize>() + OVERHEAD) as u64
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
