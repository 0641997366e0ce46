//! Environment variables, with those of a `.env` file behind them.

use std::collections::HashMap;

/// The environment of the process and the `.env` file of the folder it runs in.
pub(crate) struct Environment {
    file: HashMap<String, String>,
}

impl Environment {
    /// Reads `.env`, if there is one; a line in it that cannot be read is told and passed over.
    pub(crate) fn read() -> Environment {
        let mut file = HashMap::new();
        if let Ok(lines) = dotenvy::from_path_iter(".env") {
            for line in lines {
                match line {
                    Ok((name, value)) => {
                        file.insert(name, value);
                    }
                    // The line may hold a key, so it is not repeated.
                    Err(_) => crate::talk::warn(".env: a line cannot be read and is passed over"),
                }
            }
        }
        Environment { file }
    }

    /// The value of a variable that is set.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let own = std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        own.or_else(|| self.file.get(name).cloned())
    }
}
