//! Arguments that are alike: which known replies fit a call that none fits to the letter.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use juror_json::python::{Alike, alike_str_of_json, json_of_literal};
use juror_store::{StoreError, ToolReplies};

use crate::cache_folder::Names;

/// The keys of APIs by the form that all alike arguments have. They are brought into that form when
/// an API is first asked for so, and new ones when they are there: calls that are known to the letter
/// never come here.
#[derive(Default)]
pub(crate) struct AlikeKeys(Mutex<ByApi>);

type ByApi = HashMap<(Names, Alike), Arc<Mutex<KeysOfApi>>>;

#[derive(Default)]
struct KeysOfApi {
    by_form: HashMap<String, String>,
    has_folders: bool,
    /// The last reply of each store whose key was taken.
    read_to: Vec<i64>,
}

impl AlikeKeys {
    /// The key of a reply of an API whose arguments are alike those that are wanted. What folders
    /// have of it is asked for once.
    pub(crate) fn find<'s>(
        &self,
        (names, alike): (&Names, Alike),
        input: &str,
        in_folders: impl FnOnce() -> Vec<String>,
        stores: impl Iterator<Item = &'s ToolReplies>,
    ) -> Result<Option<String>, StoreError> {
        let Ok(wanted) = alike_str_of_json(input, alike) else { return Ok(None) };
        let keys = locked(&self.0).entry((names.clone(), alike)).or_default().clone();
        let mut keys = locked(&keys);
        if !keys.has_folders {
            for key in in_folders() {
                keys.add(key, alike);
            }
            keys.has_folders = true;
        }
        for (n, store) in stores.enumerate() {
            if keys.read_to.len() == n {
                keys.read_to.push(0);
            }
            for (id, key) in store.keys_after(names, keys.read_to[n])? {
                keys.add(key, alike);
                keys.read_to[n] = id;
            }
        }
        if keys.by_form.is_empty() {
            // Nothing is remembered of names that nobody knows: there is no end of them.
            locked(&self.0).remove(&(names.clone(), alike));
        }
        Ok(keys.by_form.get(&wanted).cloned())
    }
}

impl KeysOfApi {
    /// Of alike keys the first counts.
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
