//! `juror completions`: prints completion scripts for shells.

use clap::Args;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror completions bash > ~/.local/share/bash-completion/completions/juror
  juror completions zsh > ~/.zfunc/_juror
  juror completions fish > ~/.config/fish/completions/juror.fish";

/// Print a script that completes commands and options in a shell.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "juror", &mut script);
    output::print_data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
