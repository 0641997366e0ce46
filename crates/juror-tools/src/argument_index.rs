//! Finds known replies by equivalent arguments, when no reply matches a call exactly.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use juror_json::python::{Alike, alike_str_of_json, json_of_literal};
use juror_store::{StoreError, ToolStore};

use crate::cache_folder::ApiPath;

/// Keys of replies by API and by the normal form of their arguments. An API is indexed on its first
/// inexact look-up, and new replies when they appear; exact look-ups never come here.
#[derive(Default)]
pub(crate) struct ArgumentIndex(Mutex<ByApi>);

type ByApi = HashMap<(ApiPath, Alike), Arc<Mutex<ApiArguments>>>;

#[derive(Default)]
struct ApiArguments {
    by_form: HashMap<String, String>,
    has_folders: bool,
    /// How many of the recorded replies are indexed.
    n_recorded: usize,
    /// The id of the last indexed reply in each store.
    read_to: Vec<i64>,
}

/// Where the keys of an API are.
pub(crate) struct Places<F, R, S> {
    /// Returns those in cache folders; called once per API.
    pub(crate) in_folders: F,
    /// Returns those that this process has recorded, but the first so many.
    pub(crate) recorded: R,
    pub(crate) stores: S,
}

impl ArgumentIndex {
    /// Finds the key of a reply whose arguments are equivalent to `input`.
    pub(crate) fn find<'s>(
        &self,
        (names, alike): (&ApiPath, Alike),
        input: &str,
        places: Places<
            impl FnOnce() -> Vec<String>,
            impl FnOnce(usize) -> Vec<String>,
            impl Iterator<Item = &'s dyn ToolStore>,
        >,
    ) -> Result<Option<String>, StoreError> {
        let Ok(wanted) = alike_str_of_json(input, alike) else { return Ok(None) };
        let keys = locked(&self.0).entry((names.clone(), alike)).or_default().clone();
        let mut keys = locked(&keys);
        if !keys.has_folders {
            for key in (places.in_folders)() {
                keys.add(key, alike);
            }
            keys.has_folders = true;
        }
        for key in (places.recorded)(keys.n_recorded) {
            keys.add(key, alike);
            keys.n_recorded += 1;
        }
        for (n, store) in places.stores.enumerate() {
            if keys.read_to.len() == n {
                keys.read_to.push(0);
            }
            for (id, key) in store.keys_after(names, keys.read_to[n])? {
                keys.add(key, alike);
                keys.read_to[n] = id;
            }
        }
        if keys.by_form.is_empty() {
            // Forget unknown names: callers can invent any number of them.
            locked(&self.0).remove(&(names.clone(), alike));
        }
        Ok(keys.by_form.get(&wanted).cloned())
    }
}

impl ApiArguments {
    /// Indexes a key; of equivalent keys, the first wins.
    fn add(&mut self, key: String, alike: Alike) {
        let form = json_of_literal(&key).ok().and_then(|json| alike_str_of_json(&json, alike).ok());
        if let Some(form) = form {
            self.by_form.entry(form).or_insert(key);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
