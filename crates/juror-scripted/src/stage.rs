//! All scripts of a server.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::play::Play;
use crate::script::Script;
use crate::traffic::Traffic;

/// All scripts of a server, and its traffic.
pub(crate) struct Stage {
    pub(crate) main: Arc<Play>,
    further: RwLock<BTreeMap<String, Arc<Play>>>,
    pub(crate) traffic: Arc<Traffic>,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Stage {
        let main = Arc::new(Play::new(script));
        Stage { main, further: RwLock::default(), traffic: Arc::default() }
    }

    pub(crate) fn add(&self, name: &str, script: Script) {
        let mut further = self.further.write().unwrap_or_else(PoisonError::into_inner);
        further.insert(name.to_owned(), Arc::new(Play::new(script)));
    }

    /// Returns an additional script by its name, or the main one.
    pub(crate) fn play(&self, name: Option<&str>) -> Option<Arc<Play>> {
        let Some(name) = name else {
            return Some(Arc::clone(&self.main));
        };
        self.further.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn plays(&self) -> Vec<Arc<Play>> {
        let further = self.further.read().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&self.main).chain(further.values()).cloned().collect()
    }
}
