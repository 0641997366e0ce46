//! Options that are set by variables of the environment.

use std::ffi::OsString;

use clap::builder::{OsStr as Name, Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, Error};

/// Ignores variables that are empty: pipelines set those of options that are not used.
pub fn without_empty(command: Command) -> Command {
    let empty = std::env::vars_os().filter(|(_, value)| value.is_empty()).map(|(name, _)| name);
    let empty: Vec<OsString> = empty.collect();
    // Looking at every option of every command takes a tenth of what starting takes.
    if empty.is_empty() { command } else { without(command, &empty) }
}

fn without(command: Command, variables: &[OsString]) -> Command {
    let unset = |arg: Arg| {
        let is_unset = arg.get_env().is_some_and(|name| variables.iter().any(|own| own == name));
        if is_unset { arg.env(Resettable::<Name>::Reset) } else { arg }
    };
    command.mut_args(unset).mut_subcommands(|below| without(below, variables))
}

/// Says of a value that cannot be used from which variable it comes, if nobody typed it.
pub fn name_variable(error: &mut Error, command: &mut Command, words: &[OsString]) {
    let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else { return };
    // Options of commands that were not asked for cannot be shown before.
    command.build();
    let Some(arg) = argument(command, shown) else { return };
    let (Some(long), Some(name)) = (arg.get_long(), arg.get_env()) else { return };
    let option = format!("--{long}");
    let is_typed = words.iter().any(|word| word.to_string_lossy().starts_with(&option));
    if is_typed || std::env::var_os(name).is_none() {
        return;
    }
    let told: StyledStr = format!("the value is that of {}", name.to_string_lossy()).into();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![told]));
}

/// Finds an argument of a command or of those below it, by the way in which messages show it.
fn argument<'c>(command: &'c Command, shown: &str) -> Option<&'c Arg> {
    let mut own = command.get_arguments();
    own.find(|arg| arg.to_string() == shown)
        .or_else(|| command.get_subcommands().find_map(|below| argument(below, shown)))
}
