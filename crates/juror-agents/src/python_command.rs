//! Agents that are objects in Python modules, each run by a small driver as a command.

use std::path::Path;

/// The driver: it imports the object, and speaks the protocol for it.
const DRIVER: &str = include_str!("../python/driver.py");

/// The interpreter, which is looked for where other programs are.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// A command that runs an object of a Python module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonCommand {
    /// The interpreter and its arguments.
    pub words: Vec<String>,
    /// The module's file, if it is in the current folder.
    pub files: Vec<String>,
}

impl PythonCommand {
    /// Makes the command for an object, named as `module:object`.
    pub fn new(spec: &str) -> Result<PythonCommand, String> {
        let spec = spec.trim();
        let is_name = |name: &str| {
            let is_part = |part: &str| {
                !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            name.split('.').all(is_part)
        };
        match spec.split_once(':') {
            Some((module, object)) if is_name(module) && is_name(object) => Ok(PythonCommand {
                words: [PYTHON, "-c", DRIVER, spec].map(str::to_owned).to_vec(),
                files: files_of(module),
            }),
            _ => Err(format!("`{spec}` does not name an object of a module, as `module:object`")),
        }
    }
}

/// Returns the file of a module in the current folder, if it is there.
fn files_of(module: &str) -> Vec<String> {
    let path = module.replace('.', "/");
    let files = [format!("{path}.py"), format!("{path}/__init__.py")];
    files.into_iter().filter(|file| Path::new(file).is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_named_by_its_module_and_its_own_name() {
        let command = PythonCommand::new("my_agents.first:Agent.build").expect("an object");
        assert_eq!(command.words[3], "my_agents.first:Agent.build");
        assert!(command.files.is_empty(), "there is no such file here");
        for wrong in ["", "agent", "agent:", ":agent", "a b:c", "agent.py:x y", "a:b;c", "../a:b"] {
            assert!(PythonCommand::new(wrong).is_err(), "{wrong}");
        }
    }
}
