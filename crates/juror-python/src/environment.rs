//! Environment variables, with those of a `.env` file behind them.

use std::collections::HashMap;

/// The environment of the process and the `.env` file of the folder it runs in.
pub(crate) struct Environment {
    file: HashMap<String, String>,
}

impl Environment {
    /// Reads `.env`, if there is one; what cannot be read of it is passed over.
    pub(crate) fn read() -> Environment {
        let lines = dotenvy::from_path_iter(".env").into_iter().flatten();
        Environment { file: lines.filter_map(Result::ok).collect() }
    }

    /// The value of a variable that is set.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let own = std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        own.or_else(|| self.file.get(name).cloned())
    }
}
