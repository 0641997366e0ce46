//! `juror cache`: manages the kept replies of models.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use juror_files::load;
use juror_models::{Prices, RecordedLine, Usage};
use juror_report::{CallRow, Palette, calls_table};
use juror_run::{
    DEFAULT_CACHE, Output, StoreUse, kept_of, open_reply_store, reply_of, shown_place,
};
use juror_store::{ReplyStore, Which, wait};
use serde_json::json;

use super::{boolish, check_is_lines};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror cache stats
  juror cache export replies.jsonl        one reply a line, to commit beside a dataset
  juror cache import replies.jsonl
  juror cache prune --older-than 90       forget replies of more than 90 days ago

Replay exported replies in a pipeline, without a key and without network:
  juror eval reference.yaml responses.jsonl -c juror.yaml \\
    --cache replies.jsonl --cache-mode read-only";

/// The replies of models that are kept: count, export, import, prune.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CacheArgs {
    /// The folder or the database that replies are kept in.
    #[arg(long, value_name = "PLACE", env = "JUROR_CACHE", default_value = DEFAULT_CACHE, global = true)]
    cache: String,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// How many replies are kept, for what and from whom, and what they cost.
    Stats {
        /// Print them as JSON.
        #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
        json: bool,
    },
    /// Write all replies to a file, one a line; `-` is standard output.
    Export {
        /// The file to write.
        file: String,
    },
    /// Take in replies from a file; those that are kept already stay.
    Import {
        /// The file to read; `-` is standard input.
        file: String,
    },
    /// Forget replies.
    Prune {
        /// Only those kept more than this many days ago.
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Only those for this purpose, such as `answer_claims`.
        #[arg(long, value_name = "PURPOSE")]
        purpose: Option<String>,
        /// Only those of this model, such as openai/gpt-4o-mini.
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// Forget all of them.
        #[arg(long, conflicts_with_all = ["older_than", "purpose", "model"])]
        all: bool,
    },
}

pub(super) fn run(args: &CacheArgs) -> anyhow::Result<Exit> {
    if let Command::Import { file } = &args.command {
        return import(&args.cache, file);
    }
    let Some(replies) = open_reply_store(&args.cache, StoreUse::Existing)? else {
        anyhow::bail!(
            "{}: no replies are kept here\n  hint: name the folder with --cache, as llm.cache does",
            shown_place(&args.cache)
        );
    };
    match &args.command {
        Command::Stats { json } => stats(&*replies, *json),
        Command::Export { file } => export(&*replies, file),
        Command::Import { .. } => Ok(Exit::Done),
        Command::Prune { older_than, purpose, model, all } => {
            anyhow::ensure!(
                *all || older_than.is_some() || purpose.is_some() || model.is_some(),
                "which replies?\n  hint: --older-than DAYS, --purpose, --model or --all"
            );
            let before = older_than.map(|days| {
                let age = Duration::from_secs(u64::from(days) * 86_400);
                let moment = SystemTime::now().checked_sub(age).unwrap_or(UNIX_EPOCH);
                let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
                i64::try_from(seconds).unwrap_or(i64::MAX)
            });
            let which = Which { before, purpose: purpose.clone(), model: model.clone() };
            let gone = wait(replies.prune(&which))?;
            output::print_note(&format!("forgot {}", counted(gone)));
            Ok(Exit::Done)
        }
    }
}

fn counted(n: usize) -> String {
    if n == 1 { "1 reply".into() } else { format!("{n} replies") }
}

fn stats(replies: &dyn ReplyStore, as_json: bool) -> anyhow::Result<Exit> {
    let prices = Prices::new(std::collections::BTreeMap::new());
    let totals = wait(replies.totals())?;
    let usd = |total: &juror_store::Total| {
        let usage = Usage { input_tokens: total.input_tokens, output_tokens: total.output_tokens };
        Some(prices.of(&total.model)?.of(usage))
    };
    if as_json {
        let rows: Vec<serde_json::Value> = totals
            .iter()
            .map(|total| {
                json!({"purpose": total.purpose, "model": total.model, "replies": total.count,
                    "input_tokens": total.input_tokens, "output_tokens": total.output_tokens,
                    "bytes": total.bytes, "usd": usd(total)})
            })
            .collect();
        output::print_data(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<CallRow> = totals
        .iter()
        .map(|total| CallRow {
            purpose: format!("{} · {}", total.purpose, total.model),
            sent: 0,
            known: total.count,
            failed: 0,
            input_tokens: total.input_tokens,
            output_tokens: total.output_tokens,
            usd: usd(total),
        })
        .collect();
    let n_all: u64 = totals.iter().map(|total| total.count).sum();
    let bytes: u64 = totals.iter().map(|total| total.bytes).sum();
    let shown = replies.place();
    let title = format!(
        "{shown}: {} · {:.1} MB of text · prices of {}\n\n",
        counted(usize::try_from(n_all).unwrap_or(usize::MAX)),
        bytes as f64 / 1e6,
        prices.as_of()
    );
    output::print_data(&format!("{title}{}", calls_table(&rows, Palette::Plain)))?;
    Ok(Exit::Done)
}

/// How many replies are read at a time.
const PAGE: usize = 500;

fn export(replies: &dyn ReplyStore, file: &str) -> anyhow::Result<Exit> {
    check_is_lines(file, "replies")?;
    let mut output = Output::create_text(file)?;
    let (mut n_written, mut after) = (0, None);
    loop {
        let page = wait(replies.page(after, PAGE)).map_err(|error| Outside(error.into()))?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        n_written += page.len();
        for (key, reply) in page {
            let key = juror_models::CallKey::from_bytes(key).to_hex();
            let line = RecordedLine { key, kept: kept_of(reply) };
            // Strings and integers always serialize.
            let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
            bytes.push(b'\n');
            output.write(&bytes).map_err(|error| Outside(error.into()))?;
        }
    }
    output.finish().map_err(|error| Outside(error.into()))?;
    if file != "-" {
        output::print_note(&format!("wrote {} to {file}", counted(n_written)));
    }
    Ok(Exit::Done)
}

fn import(place: &str, file: &str) -> anyhow::Result<Exit> {
    let document = load(file)?;
    let text = document.json();
    let mut replies = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (key, kept) = RecordedLine::read(line).map_err(|why| {
            anyhow::anyhow!("{file}:{}: not a recorded reply: {why}\n  hint: import what `juror cache export` wrote", index + 1)
        })?;
        replies.push((*key.as_bytes(), reply_of(kept)));
    }
    let store = open_reply_store(place, StoreUse::Keep)?;
    let new = store.map_or(Ok(0), |store| wait(store.import(&replies)))?;
    let n_known = replies.len() - new;
    output::print_note(&format!("took in {}; {n_known} known already", counted(new)));
    Ok(Exit::Done)
}
