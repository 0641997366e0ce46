//! `juror demo`: the example, from inside the program.

use std::path::Path;

use clap::Args;
use juror_run::Settings;
use juror_score::read::{Document, Format};

use super::eval::{self, ReportArgs};
use crate::exit::Exit;
use crate::talk;

const REFERENCE: &str = include_str!("../../../../examples/reference.yaml");
const RESPONSES: &str = include_str!("../../../../examples/responses.jsonl");
const SETTINGS: &str = include_str!("../../../../examples/juror.yaml");

const ABOUT: &str = "\
Judge a worked example from inside the program: no files, no key, no network.

With --write FOLDER the example's files are put there, to look at and to play with.";

/// Judge a worked example from inside the program.
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(super) struct DemoArgs {
    /// Write the example's files to this folder instead of judging them.
    #[arg(long, value_name = "FOLDER")]
    write: Option<String>,

    /// Print the summary as JSON.
    #[arg(long, env = "JUROR_JSON")]
    json: bool,
}

pub(super) fn run(args: &DemoArgs) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.write {
        return write(Path::new(folder));
    }
    let embedded = |name: &str, text: &str, format| Document::new(name, text.into(), format);
    let reference = embedded("reference.yaml", REFERENCE, Format::Yaml)?;
    let responses = embedded("responses.jsonl", RESPONSES, Format::JsonLines)?;
    let settings = Settings::read(&embedded("juror.yaml", SETTINGS, Format::Yaml)?)?;
    let report = ReportArgs::summary_only(args.json);
    let exit = eval::judge(&reference, &responses, &settings, &report)?;
    if !args.json {
        talk::say("\nThese were the files of `juror demo --write FOLDER`; now try your own:");
        talk::say("  juror eval REFERENCE RESPONSES");
    }
    Ok(exit)
}

/// Puts the example's files into a folder; a file that is there already is left alone.
fn write(folder: &Path) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(folder).map_err(|error| anyhow::anyhow!("{}: {error}", folder.display()))?;
    let files = [("reference.yaml", REFERENCE), ("responses.jsonl", RESPONSES), ("juror.yaml", SETTINGS)];
    for (name, text) in files {
        let path = folder.join(name);
        let mut file = std::fs::File::create_new(&path)
            .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        std::io::Write::write_all(&mut file, text.as_bytes())
            .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    }
    let shown = folder.display();
    talk::say(&format!("written to {shown}; judge them with"));
    talk::say(&format!(
        "  juror eval {shown}/reference.yaml {shown}/responses.jsonl -c {shown}/juror.yaml"
    ));
    Ok(Exit::Done)
}
