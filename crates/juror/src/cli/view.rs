//! `juror view`: shows the runs of a folder in a browser.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use juror_files::reason;
use juror_models::Secret;
use juror_runs::{is_shared, shown};
use juror_view::{Viewer, ViewerSetup};
use tokio::net::TcpListener;

use super::page::RepliesArgs;
use super::runs::root_of;
use super::serve::{parse_host, parse_name, stop_signal};
use super::{RuleArgs, boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;

const SERVER: &str = "Server";

const EXAMPLES: &str = "\
Examples:
  juror view                          the runs that are kept here, at http://127.0.0.1:8090
  juror view runs --port 0            those of a folder, at a free port, which is printed
  juror view runs --name ann          labels that people give are kept with this name
  juror view runs --host 0.0.0.0 --token \"$(openssl rand -hex 16)\"
      for other machines, too, which open http://ADDRESS:8090/?token=… once

Shows all runs with their metrics, the report of each, comparisons, progress while they run, a
metric or a question over all runs, and answers for people to label. FOLDER is as in `juror runs`.
docs/viewer.md says more.";

/// Show the runs of a folder in a browser: list, reports, comparisons, progress, history, labels.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ViewArgs {
    /// Folder of runs, or the folder of one run.
    #[arg(value_name = "FOLDER")]
    folder: Option<String>,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    replies: RepliesArgs,

    /// File that labels are added to [default: labels.jsonl in the folder of their run].
    #[arg(long, value_name = "FILE", env = "JUROR_VIEW_LABELS")]
    labels: Option<PathBuf>,

    /// Who labels answers. Without this, the page asks.
    #[arg(long, value_name = "WHO", env = "JUROR_VIEW_NAME")]
    name: Option<String>,

    /// Address to listen at; others than loopback let other machines in, and need --token.
    #[arg(long, help_heading = SERVER, value_name = "ADDRESS", default_value = "127.0.0.1", env = "JUROR_VIEW_HOST", value_parser = parse_host)]
    host: IpAddr,

    /// Port to listen at; 0 takes a free one.
    #[arg(long, help_heading = SERVER, value_name = "PORT", default_value_t = 8090, env = "JUROR_VIEW_PORT")]
    port: u16,

    /// Token that browsers have to bring once, as `/?token=…`, or requests as `Authorization: Bearer …`.
    #[arg(long, help_heading = SERVER, value_name = "TOKEN", env = "JUROR_VIEW_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Host name that browsers may ask for besides localhost and addresses of this machine; may be
    /// repeated.
    #[arg(long, help_heading = SERVER, value_name = "NAME", env = "JUROR_ALLOW_HOST", value_delimiter = ',', value_parser = parse_name)]
    allow_host: Vec<String>,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

pub(super) fn run(args: &ViewArgs) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.token.as_ref().is_none_or(|token| !token.trim().is_empty()),
        "the token is empty\n  hint: leave --token and JUROR_VIEW_TOKEN out to ask for none"
    );
    anyhow::ensure!(
        args.host.is_loopback() || args.token.is_some(),
        "--host {}: other machines could read all runs\n  hint: ask for a token with --token, or leave --host out",
        args.host
    );
    let settings = args.rules.settings()?;
    let root: PathBuf = args.folder.as_ref().map_or_else(|| root_of(&settings), Into::into);
    anyhow::ensure!(
        !is_shared(&root),
        "{}: juror view shows runs in folders, where it adds labels\n  hint: copy them with `juror store copy --runs ADDRESS FOLDER`, and view that folder",
        shown(&root).display()
    );
    let viewer = Viewer::new(ViewerSetup {
        root: root.clone(),
        plan: settings.plan(),
        token: args.token.as_deref().map(Secret::new),
        allowed_hosts: args.allow_host.clone(),
        labels: args.labels.clone(),
        name: args.name.clone().filter(|name| !name.trim().is_empty()),
        replies: args.replies.with(settings),
    });
    let n_runs = viewer.read_runs().map_err(|error| {
        anyhow::anyhow!(
            "{}: {}\n  hint: name the folder of runs, or keep a run with juror eval --run FOLDER",
            root.display(),
            reason(&error)
        )
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Outside(error.into()))?;
    runtime.block_on(async {
        let address = SocketAddr::new(args.host, args.port);
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Outside(anyhow::anyhow!(
                "cannot listen at {address}: {error}\n  hint: choose another port with --port, or --port 0"
            ))
        })?;
        let stop = stop_signal(true)?;
        let address = listener.local_addr()?;
        if !args.quiet {
            say_what_is_shown(&root, n_runs, address, args.token.is_some());
        }
        // Scripts that let the system choose the port read it from here.
        output::print_data(&format!("http://{address}\n"))?;
        viewer.serve(listener, stop).await;
        if !args.quiet {
            output::print_note("stopped");
        }
        Ok(Exit::Done)
    })
}

fn say_what_is_shown(root: &Path, n_runs: usize, address: SocketAddr, has_token: bool) {
    let runs = if n_runs == 0 { "no runs yet".to_owned() } else { count(n_runs, "run") };
    output::print_note(&format!("{} · {runs}", root.display()));
    let token = if has_token { "/?token=…" } else { "" };
    output::print_note(&format!("showing them at http://{address}{token} (Ctrl-C to stop)"));
}
