//! Cassettes: folders of recorded replies that people read, edit and check in.
//!
//! A cassette is a cache folder, with the lists of live servers under `pool/`. Replies go straight
//! to its files: there is no store beside it that could know better.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use hashbrown::HashMap;
use indexmap::IndexMap;
use juror_files::WholeFile;
use juror_json::python::{JsonStyle, dump_json};
use juror_mcp::Listing;
use juror_store::NewReply;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::cache_folder::{ApiPath, add_replies, read_entries};
use crate::cached::KnownReply;
use crate::reply_writer::Keeping;

/// The folder of the lists of servers.
const POOL: &str = "pool";

/// A cassette that is being recorded.
pub(crate) struct Cassette {
    root: PathBuf,
    keeping: Keeping,
    /// What this process has recorded: of each API, replies by their arguments, in order.
    recorded: Mutex<HashMap<ApiPath, IndexMap<String, Arc<KnownReply>>>>,
}

impl Cassette {
    pub(crate) fn new(root: PathBuf, keeping: Keeping) -> Cassette {
        Cassette { root, keeping, recorded: Mutex::default() }
    }

    /// Returns what this process has recorded for a call.
    pub(crate) fn get(&self, names: &ApiPath, key: &str) -> Option<Arc<KnownReply>> {
        self.locked().get(names)?.get(key).cloned()
    }

    /// Returns the arguments that this process has recorded for an API, but the first `n`.
    pub(crate) fn keys_after(&self, names: &ApiPath, n: usize) -> Vec<String> {
        let recorded = self.locked();
        let own = recorded.get(names).into_iter().flat_map(IndexMap::keys);
        own.skip(n).cloned().collect()
    }

    /// Writes a reply to its file. Returns the reply that counts from now on, and whether it was
    /// known: another process may have recorded one.
    pub(crate) fn keep(&self, new: NewReply) -> Result<(Arc<KnownReply>, bool), String> {
        let entries = vec![(new.key.clone(), new.reply.clone())];
        let added = add_replies(&self.root, &new.names, entries, self.keeping);
        let (n_new, _) = added.map_err(|problem| problem.to_string())?;
        let was_known = n_new == 0 && self.keeping == Keeping::First;
        let written = if was_known { self.written(&new) } else { None };
        let reply = written.unwrap_or(new.reply);
        let known = Arc::new(KnownReply::new(&reply, new.origin, None));
        self.locked().entry(new.names).or_default().insert(new.key, known.clone());
        Ok((known, was_known))
    }

    /// Returns the reply in the file.
    fn written(&self, new: &NewReply) -> Option<String> {
        let [category, tool, api] = &new.names;
        let path = self.root.join(category).join(tool).join(format!("{api}.json"));
        let entries = read_entries(&path).ok()?;
        entries.into_iter().find(|(key, _)| *key == new.key).map(|(_, reply)| reply)
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<ApiPath, IndexMap<String, Arc<KnownReply>>>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list of a server's tools, as it is recorded.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedList {
    /// Identifies the server; its address may contain a secret.
    address_hash: String,
    server_info: ServerInfo,
    tools: Vec<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct ServerInfo {
    name: String,
}

/// Records the list of a server.
pub(crate) fn record_list(cassette: &Path, address: &str, listing: &Listing) -> io::Result<()> {
    let list = RecordedList {
        address_hash: hash_of(address),
        server_info: ServerInfo { name: listing.server.clone() },
        tools: listing.tools.clone(),
    };
    let json = serde_json::to_string(&list)?;
    let json = dump_json(&json, JsonStyle::Indented).unwrap_or(json);
    let folder = cassette.join(POOL);
    fs::create_dir_all(&folder)?;
    let mut file = WholeFile::begin(&folder.join(format!("{}.json", list.address_hash)))?;
    io::Write::write_all(&mut file, format!("{json}\n").as_bytes())?;
    file.finish_for_good()
}

/// Returns the recorded list of a server, if there is one.
pub(crate) fn recorded_list(cassette: &Path, address: &str) -> Option<Listing> {
    let path = cassette.join(POOL).join(format!("{}.json", hash_of(address)));
    let text = juror_files::read_plain_text(&path).ok()?;
    let list: RecordedList = serde_json::from_str(&text).ok()?;
    Some(Listing { server: list.server_info.name, tools: list.tools })
}

fn hash_of(address: &str) -> String {
    let hash = Sha256::digest(address.as_bytes());
    let bytes: [u8; 8] = std::array::from_fn(|at| hash[at]);
    format!("{:016x}", u64::from_be_bytes(bytes))
}
