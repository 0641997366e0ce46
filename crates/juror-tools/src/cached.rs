//! Replies that are known: in memory, in cache folders, in the store.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hashbrown::HashSet;
use indexmap::IndexMap;
use juror_json::python::{Alike, JsonStyle, dump_json};
use juror_store::{NewReply, Origin, StoreError, ToolReplies};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::alike::AlikeKeys;
use crate::cache_folder::{CacheFolder, Names, read_entries};
use crate::call::{Numbers, ToolCall};
use crate::keeper::{Keeper, Keeping};

/// How much of what is known is held in memory when nobody says.
const DEFAULT_MEMORY: u64 = 1 << 30;

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
    /// In what its arguments differ from those of the calls that it is given to.
    pub found: Alike,
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

/// All replies that are known. Looking one up may read files and the store, and so take a moment;
/// only [`Cached::in_memory`] does not.
pub struct Cached {
    memory: Cache<String, Arc<Known>, Weight>,
    /// What cache folders have of an API.
    files: Cache<Names, Arc<FileReplies>, Weight>,
    /// The store, where it is only read.
    first: Option<ToolReplies>,
    folders: Vec<CacheFolder>,
    /// Stores that are read and never changed.
    stores: Vec<ToolReplies>,
    keeper: Option<Keeper>,
    order: ArgumentOrder,
    alike: AlikeKeys,
    /// Replies that were given since hits were last written down.
    touched: Mutex<Vec<Arc<Known>>>,
    /// Complaints about files, each made once.
    told: Mutex<HashSet<String>>,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Replies by their arguments, in the order of the file.
type FileReplies = IndexMap<String, Arc<Known>>;

/// What is known is made of these. A reply is looked for in the store that new ones are kept in, or
/// are not kept in, then in the folders, then in the other stores, each in their order.
#[derive(Default)]
pub struct CachedSetup {
    /// Cache folders, served as they are.
    pub folders: Vec<CacheFolder>,
    /// Stores that are read and never changed.
    pub stores: Vec<ToolReplies>,
    /// The store that new replies are kept in.
    pub kept: Option<ToolReplies>,
    /// The store where nothing new is kept: it comes first all the same, so that a replay gives what
    /// the run gave.
    pub first: Option<ToolReplies>,
    /// What becomes of a reply that is kept when a new one comes.
    pub keeping: Keeping,
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
        let keeper = |store| Keeper::start(store, setup.keeping, setup.write_back, told);
        let half = setup.memory.unwrap_or(DEFAULT_MEMORY) / 2;
        Cached {
            memory: Cache::with_weighter(EXPECTED_REPLIES, half, Weight),
            files: Cache::with_weighter(EXPECTED_FILES, half, Weight),
            first: setup.first,
            folders: setup.folders,
            stores: setup.stores,
            keeper: setup.kept.map(keeper),
            order: setup.order,
            alike: AlikeKeys::default(),
            touched: Mutex::default(),
            told: Mutex::default(),
            tell,
        }
    }

    /// The reply to a call if it is in memory already. This is the way of nearly every call.
    pub fn in_memory(&self, call: &ToolCall) -> Option<Arc<Known>> {
        let known = self.memory.get(call.id())?;
        if known.found.numbers && call.numbers == Numbers::Exact {
            return None;
        }
        self.touch(&known);
        Some(known)
    }

    /// The reply to a call, wherever it is known.
    pub fn find(&self, call: &ToolCall) -> Result<Option<Arc<Known>>, StoreError> {
        if let Some(known) = self.in_memory(call) {
            return Ok(Some(known));
        }
        let names = call.kept_names();
        let mut found = self.find_exact(&names, &call.key)?;
        for alike in self.forms(call) {
            if found.is_none() {
                found = self.find_alike(&names, call, alike)?;
            }
        }
        if let Some(known) = &found {
            self.memory.insert(call.id().to_owned(), known.clone());
            self.touch(known);
        }
        Ok(found)
    }

    fn find_exact(&self, names: &Names, key: &str) -> Result<Option<Arc<Known>>, StoreError> {
        let kept = match &self.keeper {
            Some(keeper) => keeper.store().get(names, key)?,
            None => None,
        };
        if let Some(kept) = kept {
            return Ok(Some(Arc::new(Known::new(&kept.reply, kept.origin, Some(kept.id)))));
        }
        self.find_given(names, key)
    }

    /// A reply that was given, and not kept here.
    fn find_given(&self, names: &Names, key: &str) -> Result<Option<Arc<Known>>, StoreError> {
        if let Some(known) = in_stores(&self.first, names, key)? {
            return Ok(Some(known));
        }
        if let Some(known) = self.in_folders(names).and_then(|file| file.get(key).cloned()) {
            return Ok(Some(known));
        }
        in_stores(&self.stores, names, key)
    }

    /// All stores, the one that new replies are kept in or not kept in first.
    fn all_stores(&self) -> impl Iterator<Item = &ToolReplies> {
        self.keeper.iter().map(Keeper::store).chain(&self.first).chain(&self.stores)
    }

    /// In what arguments may differ from those of a call, the least first.
    fn forms(&self, call: &ToolCall) -> impl Iterator<Item = Alike> + use<> {
        // Where no digit stands there is no number to be written otherwise.
        let has_numbers = call.key.bytes().any(|byte| byte.is_ascii_digit());
        let numbers = call.numbers == Numbers::Equal && has_numbers;
        let order = self.order == ArgumentOrder::Any;
        let all = [(true, false), (false, true), (true, true)];
        let is_allowed =
            move |alike: &Alike| (numbers || !alike.numbers) && (order || !alike.order);
        all.into_iter().map(|(numbers, order)| Alike { numbers, order }).filter(is_allowed)
    }

    fn find_alike(
        &self,
        names: &Names,
        call: &ToolCall,
        alike: Alike,
    ) -> Result<Option<Arc<Known>>, StoreError> {
        let in_folders = || match self.in_folders(names) {
            Some(file) => file.keys().cloned().collect(),
            None => Vec::new(),
        };
        let stores = self.all_stores();
        let Some(key) = self.alike.find((names, alike), &call.input, in_folders, stores)? else {
            return Ok(None);
        };
        let known = self.find_exact(names, &key)?;
        Ok(known.map(|known| Arc::new(known.found(alike))))
    }

    /// The first replies that are known of an API, in the order they came: arguments and reply.
    pub fn examples(&self, names: &Names, most: usize) -> Vec<(String, String)> {
        let file = self.in_folders(names);
        let in_file = file.iter().flat_map(|file| file.iter()).take(most);
        let text = |body: &Bytes| String::from_utf8_lossy(body).into_owned();
        let mut examples: Vec<_> =
            in_file.map(|(key, known)| (key.clone(), text(&known.body))).collect();
        for store in self.all_stores() {
            for (key, reply) in store.first(names, most).unwrap_or_default() {
                if examples.len() < most && !examples.iter().any(|(known, _)| *known == key) {
                    examples.push((key, reply));
                }
            }
        }
        examples
    }

    /// Whether new replies are kept.
    pub fn keeps(&self) -> bool {
        self.keeper.is_some()
    }

    /// Keeps a reply; once this returns it survives a power cut. If there is one already, that
    /// stays, unless the latest is kept. Returns what is known now, and whether it was known before.
    pub async fn keep(&self, call: &ToolCall, new: NewReply) -> Result<(Arc<Known>, bool), String> {
        let Some(keeper) = &self.keeper else {
            return Ok((Arc::new(Known::new(&new.reply, new.origin, None)), false));
        };
        let given = match keeper.keeping() {
            Keeping::First => self.find_given(&new.names, &call.key),
            Keeping::Latest => Ok(None),
        };
        let (known, was_known) = match given.map_err(|error| error.to_string())? {
            Some(known) => (known, true),
            None => {
                let kept = keeper.keep(new).await?;
                let known = Known::new(&kept.reply, kept.origin, Some(kept.id));
                (Arc::new(known), kept.was_known)
            }
        };
        self.memory.insert(call.id().to_owned(), known.clone());
        Ok((known, was_known))
    }

    /// Writes down how often replies were given.
    pub fn write_hits(&self) -> Result<(), StoreError> {
        let touched = std::mem::take(&mut *locked(&self.touched));
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let taken: Vec<(Arc<Known>, u64)> = touched
            .into_iter()
            .map(|known| {
                let hits = known.hits.swap(0, Ordering::Relaxed);
                (known, hits)
            })
            .collect();
        let hits = taken.iter().filter_map(|(known, hits)| Some((known.id?, *hits)));
        let hits: Vec<(i64, u64)> = hits.collect();
        if hits.is_empty() {
            return Ok(());
        }
        keeper.store().count_hits(&hits).inspect_err(|_| {
            // They are written down the next time.
            for (known, hits) in taken {
                known.hits.fetch_add(hits, Ordering::Relaxed);
                locked(&self.touched).push(known);
            }
        })
    }

    fn touch(&self, known: &Arc<Known>) {
        if known.id.is_some() && known.hits.fetch_add(1, Ordering::Relaxed) == 0 {
            locked(&self.touched).push(known.clone());
        }
    }

    /// What all folders together have of an API.
    fn in_folders(&self, names: &Names) -> Option<Arc<FileReplies>> {
        let paths = || self.folders.iter().flat_map(|folder| folder.files_of(names));
        paths().next()?;
        if let Some(file) = self.files.get(names) {
            return Some(file);
        }
        let mut replies = FileReplies::new();
        for path in paths() {
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

/// A reply of the first store that has one.
fn in_stores<'s>(
    stores: impl IntoIterator<Item = &'s ToolReplies>,
    names: &Names,
    key: &str,
) -> Result<Option<Arc<Known>>, StoreError> {
    for store in stores {
        if let Some(kept) = store.get(names, key)? {
            return Ok(Some(Arc::new(Known::new(&kept.reply, kept.origin, None))));
        }
    }
    Ok(None)
}

impl Known {
    fn new(reply: &str, origin: Origin, id: Option<i64>) -> Known {
        let (body, hits) = (wire(reply), AtomicU64::new(0));
        Known { body, origin, id, hits, found: Alike::default() }
    }

    /// The same, given to calls whose arguments are alike.
    fn found(&self, alike: Alike) -> Known {
        let (body, origin, id) = (self.body.clone(), self.origin, self.id);
        Known { body, origin, id, hits: AtomicU64::new(0), found: alike }
    }
}

/// A reply as it is sent. Python lets numbers into JSON that are none.
pub(crate) fn wire(reply: &str) -> Bytes {
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

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
