//! `juror store`: looks after stores of replies and runs, in folders and in databases.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

mod runs;

use clap::{Args, Subcommand};
use juror_postgres::{Address, check, migrate};
use juror_run::{StoreUse, is_database, open_reply_store, open_tool_store, shown_place};
use juror_store::{NewReply, ReplyStore, StoreError, ToolStore, wait};
use serde_json::json;

use super::{boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror store check postgresql://juror@db.example.org/evals?schema=juror
  juror store migrate postgresql://juror@db.example.org/evals?schema=juror
  juror store copy .juror/llm postgresql://juror@db.example.org/evals
  juror store copy --tools .juror/tools postgresql://juror@db.example.org/evals
  juror store copy --runs runs postgresql://juror@db.example.org/evals
  juror store copy postgresql://juror@db.example.org/evals .juror/llm

The password comes from PGPASSWORD, from ~/.pgpass or from the address itself.";

/// Stores of replies and runs, in folders and in databases: check, migrate, copy.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say whether a database can be used, and what it holds.
    Check {
        /// The address: postgresql://user@host/database?sslmode=verify-full&schema=juror
        address: String,
        /// Print it as JSON.
        #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
        json: bool,
    },
    /// Make the tables of a database, or update those of an older release.
    Migrate {
        /// The address: postgresql://user@host/database?sslmode=verify-full&schema=juror
        address: String,
    },
    /// Copy kept replies, or runs, from one store to another; what is kept there already stays.
    ///
    /// A copy that was interrupted is completed by running it again.
    Copy {
        /// The folder or the address to copy from.
        from: String,
        /// The folder or the address to copy to.
        to: String,
        /// Copy the replies of tools, rather than those of models.
        #[arg(long)]
        tools: bool,
        /// Copy runs, rather than replies: all that are there, or the one that FROM names.
        #[arg(long, conflicts_with = "tools")]
        runs: bool,
    },
}

pub(super) fn run(args: &StoreArgs) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Check { address, json } => run_check(address, *json),
        Command::Migrate { address } => run_migrate(address),
        Command::Copy { from, to, runs: true, .. } => runs::copy(from, to),
        Command::Copy { from, to, tools: true, .. } => copy_tools(from, to),
        Command::Copy { from, to, .. } => copy_replies(from, to),
    }
}

fn read(address: &str) -> anyhow::Result<Address> {
    anyhow::ensure!(
        is_database(address),
        "{address}: not the address of a database\n  hint: a store in a folder needs neither check nor migration"
    );
    Ok(Address::read(address)?)
}

fn run_check(address: &str, as_json: bool) -> anyhow::Result<Exit> {
    let found = check(&read(address)?)?;
    let is_current = found.version == Some(found.wanted);
    let (mut n_replies, mut n_tools, mut n_runs) = (0, 0, 0);
    if is_current {
        let replies = open_reply_store(address, StoreUse::Read)?;
        let totals = replies.map_or(Ok(Vec::new()), |store| wait(store.totals()))?;
        n_replies = totals.iter().map(|total| total.count).sum();
        let tools = open_tool_store(address, StoreUse::Read)?;
        n_tools = tools.map_or(Ok(0), |store| store.count())?;
        n_runs = runs::count(address)?;
    }
    if as_json {
        let told = json!({"place": found.place, "server": found.server, "version": found.version,
            "wanted": found.wanted, "replies": n_replies, "tool_replies": n_tools, "runs": n_runs});
        output::print_data(&format!("{told:#}\n"))?;
    } else {
        let tables = match found.version {
            None => "no tables yet: the first run makes them".to_owned(),
            Some(version) if is_current => format!(
                "tables of version {version}: {n_replies} replies of models, {n_tools} of tools, {}",
                count(n_runs, "run")
            ),
            Some(version) => {
                format!("tables of version {version}, and this release uses {}", found.wanted)
            }
        };
        output::print_data(&format!(
            "{}: PostgreSQL {}, locks hold, {tables}\n",
            found.place, found.server
        ))?;
    }
    Ok(if found.version.is_none() || is_current { Exit::Done } else { Exit::OutsideFailed })
}

fn run_migrate(address: &str) -> anyhow::Result<Exit> {
    let address = read(address)?;
    let before = migrate(&address)?;
    let now = check(&address)?.wanted;
    output::print_note(&match before {
        None => format!("{address}: made tables of version {now}"),
        Some(before) if before == now => format!("{address}: has version {now} already"),
        Some(before) => format!("{address}: updated from version {before} to {now}"),
    });
    Ok(Exit::Done)
}

/// How many replies are copied at a time. Each batch is kept before the next is read.
const BATCH: usize = 500;

/// Opens the store to copy from, which has to be there, and the one to copy to.
fn open<S>(
    from: &str,
    to: &str,
    open: impl Fn(&str, StoreUse) -> Result<Option<S>, StoreError>,
) -> anyhow::Result<(S, S)> {
    anyhow::ensure!(from != to, "a store cannot be copied to itself");
    let nothing = |place: &str| anyhow::anyhow!("{}: no replies are kept here", shown_place(place));
    let source = open(from, StoreUse::Read)?.ok_or_else(|| nothing(from))?;
    let target = open(to, StoreUse::Keep)?.ok_or_else(|| nothing(to))?;
    Ok((source, target))
}

fn outside(error: StoreError) -> Outside {
    Outside(error.into())
}

fn copy_replies(from: &str, to: &str) -> anyhow::Result<Exit> {
    let (source, target): (Box<dyn ReplyStore>, _) = open(from, to, open_reply_store)?;
    let (mut n_all, mut n_new, mut after) = (0, 0, None);
    loop {
        let page = wait(source.page(after, BATCH)).map_err(outside)?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        n_all += page.len();
        n_new += wait(target.import(&page)).map_err(outside)?;
    }
    say_copied(n_new, n_all, &target.place());
    Ok(Exit::Done)
}

fn copy_tools(from: &str, to: &str) -> anyhow::Result<Exit> {
    let (source, target): (Box<dyn ToolStore>, _) = open(from, to, open_tool_store)?;
    let (mut n_all, mut n_new, mut after) = (0, 0, 0);
    loop {
        let page = source.page(after, BATCH).map_err(outside)?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        n_all += page.len();
        let hits: Vec<u64> = page.iter().map(|(_, reply)| reply.hits).collect();
        let new = page.into_iter().map(|(_, reply)| NewReply {
            names: [reply.category, reply.tool, reply.api],
            key: reply.key,
            reply: reply.reply,
            origin: reply.origin,
            model: reply.model,
            kept_at: reply.kept_at,
        });
        let kept = target.keep(&new.collect::<Vec<_>>()).map_err(outside)?;
        let new = kept.iter().zip(hits).filter(|(kept, _)| !kept.was_known);
        let new: Vec<(i64, u64)> = new.map(|(kept, hits)| (kept.id, hits)).collect();
        n_new += new.len();
        target.count_hits(&new).map_err(outside)?;
    }
    say_copied(n_new, n_all, &target.place());
    Ok(Exit::Done)
}

fn say_copied(n_new: usize, n_all: usize, to: &str) {
    let copied = if n_new == 1 { "1 reply".into() } else { format!("{n_new} replies") };
    let n_known = n_all - n_new;
    output::print_note(&format!(
        "copied {copied} of {} to {to}; {n_known} known already",
        count(n_all, "kept one")
    ));
}
