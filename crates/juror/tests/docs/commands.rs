//! The page of commands, made from the program's own help.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::sentence;

const INTRODUCTION: &str = "\
# Commands

<!-- Made from the arguments of commands in crates/juror/src/cli: edit those, then run
     JUROR_BLESS=1 cargo test -p juror --test docs -->

What `juror COMMAND --help` prints, on one page. Most options can also be set by an environment
variable, which stands beside their meaning. `juror completions SHELL` makes shells complete all of
it.
";

pub(crate) fn page() -> String {
    let mut program = juror::command();
    program.build();
    let mut page = INTRODUCTION.to_owned();
    page.push('\n');
    for command in shown(&program) {
        let name = command.get_name();
        let _ = writeln!(page, "- [`juror {name}`](#juror-{name}): {}", about(command));
    }
    page.push_str(&help_text("juror", &program));
    for command in shown(&program) {
        describe(&mut page, "juror", command, 2);
    }
    page
}

/// The commands of a command, without `help`, which every program has.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|own| own.get_name() != "help" && !own.is_hide_set())
}

fn describe(page: &mut String, parent: &str, command: &Command, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    let _ = write!(page, "\n{} `{name}`\n\n{}.\n", "#".repeat(level), about(command));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>();
    let _ = write!(page, "\n`{}`\n", usage.join(" "));
    page.push_str(&tables(command));
    page.push_str(&help_text(&name, command));
    for own in shown(command) {
        describe(page, &name, own, level + 1);
    }
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What follows the options in the help: examples, and what they mean.
fn help_text(name: &str, command: &Command) -> String {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if text.is_empty() {
        return text;
    }
    format!("\n```text shows: {name} --help\n{}\n```\n", text.trim_end())
}

/// A table of options for each heading of the help.
fn tables(command: &Command) -> String {
    let is_shown =
        |own: &&Arg| !own.is_hide_set() && !["help", "version"].contains(&own.get_id().as_str());
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for own in command.get_arguments().filter(is_shown) {
        let general = if own.is_positional() { "Arguments" } else { "Options" };
        let heading = own.get_help_heading().unwrap_or(general);
        match groups.iter_mut().find(|(name, _)| *name == heading) {
            Some((_, group)) => group.push(own),
            None => groups.push((heading, vec![own])),
        }
    }
    let mut tables = String::new();
    for (heading, group) in groups {
        let _ = write!(tables, "\n| {} | meaning |\n|---|---|\n", heading.to_lowercase());
        for own in group {
            let _ = writeln!(tables, "| {} | {} |", spelled(own), meaning(own));
        }
    }
    tables
}

/// An option as it is typed.
fn spelled(own: &Arg) -> String {
    let takes_value = own.get_action().takes_values();
    let names = own.get_value_names().unwrap_or_default();
    let value = names.iter().map(clap::builder::Str::as_str).collect::<Vec<_>>().join(" ");
    let value = if value.is_empty() { own.get_id().as_str().to_uppercase() } else { value };
    if own.is_positional() {
        return format!("`{value}`");
    }
    let value = if takes_value { format!(" {value}") } else { String::new() };
    let short = own.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let long = own.get_long().map(|long| format!("`--{long}{value}`")).unwrap_or_default();
    format!("{short}{long}").replace('|', "\\|")
}

fn meaning(own: &Arg) -> String {
    let help = own.get_long_help().or(own.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut parts = vec![sentence(help.trim_end_matches('.'))];
    let words = own.get_possible_values();
    let words: Vec<String> = words
        .iter()
        .filter(|word| !word.is_hide_set())
        .map(|word| format!("`{}`", word.get_name()))
        .collect();
    if own.get_action().takes_values() && !words.is_empty() {
        parts.push(format!("Values: {}", words.join(", ")));
    }
    let defaults = own.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<String> = defaults.map(|value| format!("`{value}`")).collect();
    if own.get_action().takes_values() && !defaults.is_empty() {
        parts.push(format!("Default: {}", defaults.join(", ")));
    }
    if let Some(name) = own.get_env() {
        parts.push(format!("Variable: `{}`", name.to_string_lossy()));
    }
    format!("{}.", parts.join(". ")).replace('|', "\\|").replace('<', "&lt;")
}
