//! Known replies: in memory, in cache folders and in stores.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hashbrown::HashSet;
use indexmap::IndexMap;
use juror_json::python::{Alike, JsonStyle, dump_json};
use juror_store::{NewReply, Origin, StoreError, ToolStore, Turn};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::argument_index::{ArgumentIndex, Places};
use crate::cache_folder::{ApiPath, CacheFolder, read_entries};
use crate::call::{NumberMatching, ToolCall};
use crate::cassette::Cassette;
use crate::reply_writer::{Keeping, ReplyWriter};

/// How much memory is used for known replies by default.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// A known reply, ready to be sent.
#[derive(Debug)]
pub(crate) struct KnownReply {
    /// JSON.
    pub(crate) body: Bytes,
    /// Where it came from originally.
    pub(crate) origin: Origin,
    /// Its id in the store, if it is kept there.
    id: Option<i64>,
    /// How often it was served since hits were last written.
    hits: AtomicU64,
    /// How its arguments differ from those of the calls it answers.
    pub(crate) found: Alike,
}

/// Whether the order of arguments matters when replies are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentOrder {
    /// It matters, as in cache files.
    #[default]
    Kept,
    /// It does not, if there is no exact match.
    Any,
}

/// All known replies. A look-up may read files and stores; only `in_memory` never blocks.
pub struct Cached {
    memory: Cache<String, Arc<KnownReply>, Weight>,
    /// The replies of an API in cache folders.
    files: Cache<ApiPath, Arc<FileReplies>, Weight>,
    /// A read-only store that is searched first.
    first: Option<Box<dyn ToolStore>>,
    folders: Vec<CacheFolder>,
    /// Read-only stores that are searched last.
    stores: Vec<Box<dyn ToolStore>>,
    writer: Option<ReplyWriter>,
    /// The cassette that new replies are recorded to, in place of a store.
    cassette: Option<Arc<Cassette>>,
    order: ArgumentOrder,
    alike: ArgumentIndex,
    /// Replies that were served since hits were last written.
    touched: Mutex<Vec<Arc<KnownReply>>>,
    /// Messages about files that were already reported.
    told: Mutex<HashSet<String>>,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Replies by their arguments, in the order of the file.
type FileReplies = IndexMap<String, Arc<KnownReply>>;

/// Where replies are looked up: the store of new replies or its read-only counterpart, then the
/// folders, then the other stores.
#[derive(Default)]
pub struct CachedSetup {
    /// Read-only cache folders.
    pub folders: Vec<CacheFolder>,
    /// Read-only stores that are searched last.
    pub stores: Vec<Box<dyn ToolStore>>,
    /// The store of new replies.
    pub kept: Option<Box<dyn ToolStore>>,
    /// A store that is searched first but not written to, so that a replay gives the replies of the
    /// original run.
    pub first: Option<Box<dyn ToolStore>>,
    /// The cassette that new replies are recorded to, in place of a store. Its folder is among
    /// `folders`.
    pub cassette: Option<PathBuf>,
    /// Whether a new reply replaces a known one.
    pub keeping: Keeping,
    /// A cache folder to which new replies are written as well.
    pub write_back: Option<PathBuf>,
    /// Whether the order of arguments matters.
    pub order: ArgumentOrder,
    /// How much memory to use, in bytes.
    pub memory: Option<u64>,
}

impl Cached {
    /// Creates the cache; `tell` is called about files that cannot be used.
    pub fn new(setup: CachedSetup, tell: impl Fn(&str) + Send + Sync + 'static) -> Cached {
        let tell: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(tell);
        let told = tell.clone();
        let writer = |store| ReplyWriter::start(store, setup.keeping, setup.write_back, told);
        let cassette = setup.cassette.map(|root| Arc::new(Cassette::new(root, setup.keeping)));
        let half = setup.memory.unwrap_or(DEFAULT_MEMORY) / 2;
        Cached {
            memory: Cache::with_weighter(EXPECTED_REPLIES, half, Weight),
            files: Cache::with_weighter(EXPECTED_FILES, half, Weight),
            first: setup.first,
            folders: setup.folders,
            stores: setup.stores,
            writer: setup.kept.map(writer),
            cassette,
            order: setup.order,
            alike: ArgumentIndex::default(),
            touched: Mutex::default(),
            told: Mutex::default(),
            tell,
        }
    }

    /// Looks a reply up in memory, without blocking. Nearly every call ends here.
    pub(crate) fn in_memory(&self, call: &ToolCall) -> Option<Arc<KnownReply>> {
        let known = self.memory.get(call.id())?;
        if known.found.numbers && call.numbers == NumberMatching::Exact {
            return None;
        }
        self.touch(&known);
        Some(known)
    }

    /// Looks a reply up, wherever it is kept.
    pub(crate) fn find(&self, call: &ToolCall) -> Result<Option<Arc<KnownReply>>, StoreError> {
        if let Some(known) = self.in_memory(call) {
            return Ok(Some(known));
        }
        let names = call.api_path();
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

    fn find_exact(
        &self,
        names: &ApiPath,
        key: &str,
    ) -> Result<Option<Arc<KnownReply>>, StoreError> {
        let recorded = self.cassette.as_ref().and_then(|cassette| cassette.get(names, key));
        if recorded.is_some() {
            return Ok(recorded);
        }
        let kept = match &self.writer {
            Some(writer) => writer.store().get(names, key)?,
            None => None,
        };
        if let Some(kept) = kept {
            return Ok(Some(Arc::new(KnownReply::new(&kept.reply, kept.origin, Some(kept.id)))));
        }
        self.find_given(names, key)
    }

    /// Looks in all places but the store of new replies.
    fn find_given(
        &self,
        names: &ApiPath,
        key: &str,
    ) -> Result<Option<Arc<KnownReply>>, StoreError> {
        if let Some(known) = in_stores(&self.first, names, key)? {
            return Ok(Some(known));
        }
        if let Some(known) = self.in_folders(names).and_then(|file| file.get(key).cloned()) {
            return Ok(Some(known));
        }
        in_stores(&self.stores, names, key)
    }

    /// All stores, in the order of look-ups.
    fn all_stores(&self) -> impl Iterator<Item = &dyn ToolStore> {
        let read = self.first.iter().chain(&self.stores).map(|store| &**store);
        self.writer.iter().map(ReplyWriter::store).chain(read)
    }

    /// Takes the turn to obtain a reply that is to be kept. `None` if nobody shares the store, or it
    /// does not know turns.
    pub(crate) async fn turn<'a>(
        &'a self,
        names: &'a ApiPath,
        key: &'a str,
    ) -> Result<Option<Turn<'a>>, StoreError> {
        match &self.writer {
            None => Ok(None),
            Some(writer) => writer.store().turn(names, key).await,
        }
    }

    /// The ways in which arguments may differ from those of a call, the strictest first.
    fn forms(&self, call: &ToolCall) -> impl Iterator<Item = Alike> + use<> {
        // Without a digit there is no number that could be spelled differently.
        let has_numbers = call.key.bytes().any(|byte| byte.is_ascii_digit());
        let numbers = call.numbers == NumberMatching::Equal && has_numbers;
        let order = self.order == ArgumentOrder::Any;
        let all = [(true, false), (false, true), (true, true)];
        let is_allowed =
            move |alike: &Alike| (numbers || !alike.numbers) && (order || !alike.order);
        all.into_iter().map(|(numbers, order)| Alike { numbers, order }).filter(is_allowed)
    }

    fn find_alike(
        &self,
        names: &ApiPath,
        call: &ToolCall,
        alike: Alike,
    ) -> Result<Option<Arc<KnownReply>>, StoreError> {
        let in_folders = || match self.in_folders(names) {
            Some(file) => file.keys().cloned().collect(),
            None => Vec::new(),
        };
        let recorded = |n| {
            let cassette = self.cassette.as_ref();
            cassette.map_or_else(Vec::new, |cassette| cassette.keys_after(names, n))
        };
        let places = Places { in_folders, recorded, stores: self.all_stores() };
        let Some(key) = self.alike.find((names, alike), call.compared_input(), places)? else {
            return Ok(None);
        };
        let known = self.find_exact(names, &key)?;
        Ok(known.map(|known| Arc::new(known.found(alike))))
    }

    /// Returns the first known replies of an API, with their arguments.
    pub(crate) fn examples(&self, names: &ApiPath, most: usize) -> Vec<(String, String)> {
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
    pub(crate) fn keeps(&self) -> bool {
        self.writer.is_some() || self.cassette.is_some()
    }

    /// Keeps a reply durably: once this returns, it survives a power failure. Returns the reply
    /// that counts from now on, and whether it was known before. With [`Keeping::First`], that is
    /// the known reply if there is one.
    pub(crate) async fn keep(
        &self,
        call: &ToolCall,
        new: NewReply,
    ) -> Result<(Arc<KnownReply>, bool), String> {
        if let Some(cassette) = self.cassette.clone() {
            return self.record(cassette, call, new).await;
        }
        let Some(writer) = &self.writer else {
            return Ok((Arc::new(KnownReply::new(&new.reply, new.origin, None)), false));
        };
        let given = match writer.keeping() {
            Keeping::First => self.find_given(&new.names, &call.key),
            Keeping::Latest => Ok(None),
        };
        let (known, was_known) = match given.map_err(|error| error.to_string())? {
            Some(known) => (known, true),
            None => {
                let kept = writer.keep(new).await?;
                let known = KnownReply::new(&kept.reply, kept.origin, Some(kept.id));
                (Arc::new(known), kept.was_known)
            }
        };
        self.memory.insert(call.id().to_owned(), known.clone());
        Ok((known, was_known))
    }

    /// Records a reply to a cassette.
    async fn record(
        &self,
        cassette: Arc<Cassette>,
        call: &ToolCall,
        new: NewReply,
    ) -> Result<(Arc<KnownReply>, bool), String> {
        let kept = tokio::task::spawn_blocking(move || cassette.keep(new)).await;
        let (known, was_known) = kept.map_err(|error| error.to_string())??;
        self.memory.insert(call.id().to_owned(), known.clone());
        Ok((known, was_known))
    }

    /// Writes the number of hits to the store.
    pub fn write_hits(&self) -> Result<(), StoreError> {
        let touched = std::mem::take(&mut *locked(&self.touched));
        let Some(writer) = &self.writer else { return Ok(()) };
        let taken: Vec<(Arc<KnownReply>, u64)> = touched
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
        writer.store().count_hits(&hits).inspect_err(|_| {
            // Try again next time.
            for (known, hits) in taken {
                known.hits.fetch_add(hits, Ordering::Relaxed);
                locked(&self.touched).push(known);
            }
        })
    }

    fn touch(&self, known: &Arc<KnownReply>) {
        if known.id.is_some() && known.hits.fetch_add(1, Ordering::Relaxed) == 0 {
            locked(&self.touched).push(known.clone());
        }
    }

    /// Returns the replies of an API in all folders.
    fn in_folders(&self, names: &ApiPath) -> Option<Arc<FileReplies>> {
        let paths = || self.folders.iter().flat_map(|folder| folder.files_of(names));
        paths().next()?;
        if let Some(file) = self.files.get(names) {
            return Some(file);
        }
        let mut replies = FileReplies::new();
        for path in paths() {
            for (key, reply) in self.read_file(path) {
                let known = || Arc::new(KnownReply::new(&reply, Origin::Imported, None));
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

/// Looks in several stores and returns the first reply.
fn in_stores<'s>(
    stores: impl IntoIterator<Item = &'s Box<dyn ToolStore>>,
    names: &ApiPath,
    key: &str,
) -> Result<Option<Arc<KnownReply>>, StoreError> {
    for store in stores {
        if let Some(kept) = store.get(names, key)? {
            return Ok(Some(Arc::new(KnownReply::new(&kept.reply, kept.origin, None))));
        }
    }
    Ok(None)
}

impl KnownReply {
    pub(crate) fn new(reply: &str, origin: Origin, id: Option<i64>) -> KnownReply {
        let (body, hits) = (wire(reply), AtomicU64::new(0));
        KnownReply { body, origin, id, hits, found: Alike::default() }
    }

    /// The same reply, for calls whose arguments differ in `alike`.
    fn found(&self, alike: Alike) -> KnownReply {
        let (body, origin, id) = (self.body.clone(), self.origin, self.id);
        KnownReply { body, origin, id, hits: AtomicU64::new(0), found: alike }
    }
}

/// Converts a reply to the bytes that are sent. Python accepts `NaN` and infinities, which JSON
/// does not.
pub(crate) fn wire(reply: &str) -> Bytes {
    if !reply.contains("NaN") && !reply.contains("Infinity") {
        return Bytes::copy_from_slice(reply.as_bytes());
    }
    let json = dump_json(reply, JsonStyle::Wire);
    Bytes::from(json.unwrap_or_else(|_| reply.to_owned()))
}

const EXPECTED_REPLIES: usize = 100_000;
const EXPECTED_FILES: usize = 5_000;

/// Weighs entries by bytes.
#[derive(Clone)]
struct Weight;

/// The memory that an entry takes besides its strings, approximately.
const OVERHEAD: usize = 128;

impl Weighter<String, Arc<KnownReply>> for Weight {
    fn weight(&self, key: &String, known: &Arc<KnownReply>) -> u64 {
        (key.len() + known.body.len() + OVERHEAD) as u64
    }
}

impl Weighter<ApiPath, Arc<FileReplies>> for Weight {
    fn weight(&self, _: &ApiPath, file: &Arc<FileReplies>) -> u64 {
        let bytes = file.iter().map(|(key, known)| key.len() + known.body.len() + OVERHEAD);
        (bytes.sum::<usize>() + OVERHEAD) as u64
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
