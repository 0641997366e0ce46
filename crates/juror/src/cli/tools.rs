//! `juror tools`: lists, searches and calls APIs, and manages their kept replies.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use juror_bench::open_tools;
use juror_mcp::ClientSetup;
use juror_models::Tell;
use juror_run::{DEFAULT_TOOL_STORE, Environment, StoreUse, open_tool_store, shown_place};
use juror_serve::MatchNumbers;
use juror_store::{NewReply, Origin, ToolStore, ToolTotal};
use juror_tools::{
    ApiPath, CacheEntries, CacheFolder, Catalog, NumberMatching, PoolSetup, ServedFrom, ToolCall,
    ToolsError, export, load_pools, read_entries, seconds_now,
};
use serde_json::json;

use super::bench::error_of;
use super::tool_args::ToolArgs;
use super::{boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror tools list --tools toolenv/tools
  juror tools list --tools openapi.yaml --json
  juror tools list --tools 'mcp:npx -y @modelcontextprotocol/server-everything'
  juror tools search \"weather forecast\" --tools toolenv/tools
  juror tools import tool_response_cache           bring a cache folder into the store
  juror tools stats
  juror tools call current_for_weather '{\"city\": \"Oslo\"}' --tools toolenv/tools
  juror tools export tool_response_cache           bring kept replies back to a folder";

/// The APIs that agents can call, and their kept replies: list, search, call, import, export.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ToolsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List all APIs.
    List {
        #[command(flatten)]
        folder: FolderArg,
        /// Print them as functions in OpenAI's form, with their raw names.
        #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
        json: bool,
    },
    /// Find the APIs that fit a text best.
    Search {
        /// What to look for.
        query: String,
        #[command(flatten)]
        folder: FolderArg,
        /// How many to find.
        #[arg(short, long, value_name = "N", default_value_t = 10)]
        k: usize,
        /// Print them as functions in OpenAI's form, with their raw names.
        #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
        json: bool,
    },
    /// Call an API once, as an agent would, and print the reply.
    Call {
        /// The API by any of its names, such as get_5_day_forecast_for_easy_weather; or
        /// CATEGORY/TOOL/API.
        name: String,
        /// Its arguments, a JSON object.
        #[arg(default_value = "{}")]
        input: String,
        #[command(flatten)]
        tools: Box<ToolArgs>,
    },
    /// Import the replies of a cache folder into the store; replies that it has already stay.
    Import {
        /// The folder, in the public servers' layout or in the document's.
        folder: String,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Write kept replies to a cache folder, as the public servers would have; what is there stays.
    Export {
        /// The folder to write to.
        folder: String,
        #[command(flatten)]
        store: StoreArg,
    },
    /// How many replies are kept, where they came from, and how often they were given.
    Stats {
        #[command(flatten)]
        store: StoreArg,
        /// Print them as JSON.
        #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
        json: bool,
    },
}

#[derive(Args)]
struct FolderArg {
    /// The tools: a folder of tool files, an OpenAPI document, a list of OpenAI functions or MCP
    /// tools, or a live MCP server (mcp:COMMAND, mcp+http://…). May be repeated.
    #[arg(long = "tools", value_name = "PLACE", env = "JUROR_TOOLS", required = true)]
    places: Vec<String>,
}

#[derive(Args)]
struct StoreArg {
    /// The folder or the database that replies are kept in.
    #[arg(long, value_name = "PLACE", env = "JUROR_TOOL_STORE", default_value = DEFAULT_TOOL_STORE)]
    store: String,
}

/// How long a live server may take to list its tools.
const LONGEST_LIST: Duration = Duration::from_secs(30);

pub(super) fn run(args: &ToolsArgs) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List { folder, json } => list(&load(&folder.places)?, *json),
        Command::Search { query, folder, k, json } => {
            search(&load(&folder.places)?, query, *k, *json)
        }
        Command::Call { name, input, tools } => call(name, input, tools),
        Command::Import { folder, store } => import(Path::new(folder), &store.store),
        Command::Export { folder, store } => run_export(Path::new(folder), &*existing(store)?),
        Command::Stats { store, json } => stats(&*existing(store)?, *json),
    }
}

fn load(places: &[String]) -> anyhow::Result<Catalog> {
    let client = ClientSetup {
        timeout: LONGEST_LIST,
        token: None,
        kept_back: Vec::new(),
        tell: Arc::new(|text: &str| output::warn(text)),
    };
    let setup = PoolSetup { client, cassette: None, replays: false };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let loaded = runtime.block_on(load_pools(places, &[], &setup));
    let (catalog, _) = loaded.map_err(|error| match error {
        ToolsError::Server(_) => Outside(error.into()).into(),
        error => anyhow::Error::from(error),
    })?;
    output::warn_all(catalog.problems());
    anyhow::ensure!(
        catalog.n_apis() > 0,
        "{}: there are no tools here\n  hint: name a folder of tool files, an OpenAPI document, a list of functions, or an MCP server",
        places.join(", ")
    );
    Ok(catalog)
}

fn list(catalog: &Catalog, json: bool) -> anyhow::Result<Exit> {
    if json {
        output::print_data(&format!("{}\n", catalog.list(0..catalog.n_apis())))?;
        return Ok(Exit::Done);
    }
    let lines = catalog.registry().entries().iter().zip(catalog.names()).map(|(entry, name)| {
        let category = entry.category.as_deref().unwrap_or("");
        let line = format!("{name}\t{category}\t{}\t{}", entry.tool, entry.api);
        visible_line(&line)
    });
    output::print_data(&lines.collect::<String>())?;
    output::print_note(&counted(catalog));
    Ok(Exit::Done)
}

/// Escapes a line, so that no text of a tool file can control the terminal.
fn visible_line(line: &str) -> String {
    let parts: Vec<String> = line.split('\t').map(juror_report::visible).collect();
    format!("{}\n", parts.join("\t"))
}

fn counted(catalog: &Catalog) -> String {
    format!("{} of {}", count(catalog.n_apis(), "API"), count(catalog.tools().len(), "tool"))
}

fn search(catalog: &Catalog, query: &str, k: usize, json: bool) -> anyhow::Result<Exit> {
    if json {
        output::print_data(&format!("{}\n", catalog.list_found(query, k)))?;
        return Ok(Exit::Done);
    }
    let found = catalog.find(query, k);
    let lines = found.iter().filter_map(|found| {
        let (tool, api) = catalog.api(found.number)?;
        let category = tool.category.as_deref().unwrap_or("");
        let about: String = api.description.chars().take(80).collect();
        let about = about.replace(['\n', '\r', '\t'], " ");
        let (score, tool) = (found.score, &tool.name);
        Some(visible_line(&format!("{score:.2}\t{category}\t{tool}\t{}\t{about}", api.name)))
    });
    output::print_data(&lines.collect::<String>())?;
    if found.is_empty() {
        output::print_note("no API fits this text");
    }
    Ok(Exit::Done)
}

fn call(name: &str, input: &str, args: &ToolArgs) -> anyhow::Result<Exit> {
    let environment = Environment::read(output::warn);
    let (settings, _) = args.settings(&environment)?;
    let tell: Tell = Arc::new(|text: &str| output::warn(text));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let tools = open_tools(&settings, &environment, &tell).await.map_err(error_of)?;
        for problem in &tools.problems {
            output::warn(&problem.to_string());
        }
        let call = read_call(name, input, &tools.catalog)?;
        let mut call = call.ruled_by(tools.virtual_tools.rules());
        if tools.match_numbers != Some(MatchNumbers::Never) {
            call.numbers = NumberMatching::Equal;
        }
        let served = tools.virtual_tools.call(call).await;
        for trouble in served.troubles.iter() {
            output::warn(trouble);
        }
        output::print_data(&format!("{}\n", String::from_utf8_lossy(&served.body)))?;
        let found = served.from != ServedFrom::Nowhere;
        let source = served.from.as_str();
        output::print_note(&match served.found_by() {
            None => format!("source: {source}"),
            Some(found_by) => format!("source: {source}, by arguments that differ in: {found_by}"),
        });
        if let Err(error) = tools.virtual_tools.cached().write_hits() {
            output::warn(&error.to_string());
        }
        Ok(if found { Exit::Done } else { Exit::OutsideFailed })
    })
}

fn read_call(name: &str, input: &str, catalog: &Catalog) -> anyhow::Result<ToolCall> {
    let known = catalog.registry().position(name).and_then(|number| catalog.offer(number));
    let parts: Vec<&str> = name.split('/').collect();
    let (category, tool, api) = match (known, parts.as_slice()) {
        (Some(known), _) => (known.category, known.tool, known.api.name.as_str()),
        (None, [category, tool, api]) => (*category, *tool, *api),
        (None, _) => anyhow::bail!(
            "there is no API `{name}`\n  hint: give its function name, with --tools, or CATEGORY/TOOL/API"
        ),
    };
    ToolCall::new(category, tool, api, input, "").map_err(|error| {
        anyhow::anyhow!(
            "the arguments are not JSON: {error}\n  hint: for example '{{\"city\": \"Oslo\"}}'"
        )
    })
}

fn existing(store: &StoreArg) -> anyhow::Result<Box<dyn ToolStore>> {
    let found = open_tool_store(&store.store, StoreUse::Read)?;
    found.ok_or_else(|| {
        anyhow::anyhow!(
            "{}: no replies are kept here\n  hint: name the folder with --store, or begin with `juror tools import`",
            shown_place(&store.store)
        )
    })
}

/// How many replies are imported at a time.
const BATCH: usize = 5_000;

fn import(root: &Path, store: &str) -> anyhow::Result<Exit> {
    let folder = CacheFolder::look_through(root)?;
    anyhow::ensure!(
        may_hold_replies(&folder),
        "{}: no replies are found here\n  hint: name the folder that holds CATEGORY/TOOL/API.json, each an object from arguments to replies",
        root.display()
    );
    let replies = open_tool_store(store, StoreUse::Keep)?;
    let replies = replies.ok_or_else(|| anyhow::anyhow!("{}: no store", shown_place(store)))?;
    let outside = |error: juror_store::StoreError| Outside(error.into());
    let mut problems: Vec<String> = folder.problems().iter().map(ToString::to_string).collect();
    let (mut batch, mut n_all, mut n_new) = (Vec::new(), 0, 0);
    let mut apis = BTreeSet::new();
    let kept_at = seconds_now();
    let mut keep = |batch: &mut Vec<NewReply>| -> Result<(), Outside> {
        let kept = replies.keep(batch).map_err(outside)?;
        n_new += kept.iter().filter(|kept| !kept.was_known).count();
        n_all += batch.len();
        batch.clear();
        Ok(())
    };
    for (names, path) in folder
        .apis()
        .into_iter()
        .flat_map(|(names, paths)| paths.iter().map(move |path| (names, path)))
    {
        match read_entries(path) {
            Ok(entries) => {
                apis.insert(names);
                batch.extend(entries.into_iter().map(|(key, reply)| NewReply {
                    names: names.clone(),
                    key,
                    reply,
                    origin: Origin::Imported,
                    model: None,
                    kept_at,
                }));
            }
            Err(problem) => problems.push(format!("{problem}; left as it is")),
        }
        if batch.len() >= BATCH {
            keep(&mut batch)?;
        }
    }
    keep(&mut batch)?;
    for problem in &problems {
        output::warn(problem);
    }
    let n_known = n_all - n_new;
    output::print_note(&format!(
        "took in {} of {} to {}; {n_known} known already",
        replies_counted(n_new),
        count(apis.len(), "API"),
        replies.place()
    ));
    Ok(if problems.is_empty() { Exit::Done } else { Exit::OutsideFailed })
}

/// Whether a folder has a file that is not plainly one of something else.
fn may_hold_replies(folder: &CacheFolder) -> bool {
    let files = folder.apis().into_iter().flat_map(|(_, files)| files);
    let is_other =
        |file: &PathBuf| read_entries(file).is_err_and(|problem| problem.is_of_other_kind);
    !files.into_iter().all(is_other)
}

/// How many replies are read at a time.
const PAGE: usize = 500;

fn run_export(root: &Path, replies: &dyn ToolStore) -> anyhow::Result<Exit> {
    let mut by_api: BTreeMap<ApiPath, CacheEntries> = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = replies.page(after, PAGE).map_err(|error| Outside(error.into()))?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (_, reply) in page {
            let names = [reply.category, reply.tool, reply.api];
            by_api.entry(names).or_default().push((reply.key, reply.reply));
        }
    }
    let done = export(root, by_api).map_err(|problem| Outside(problem.into()))?;
    for problem in &done.problems {
        output::warn(&problem.to_string());
    }
    output::print_note(&format!(
        "wrote {} in {} to {}; {} there already",
        replies_counted(done.n_replies),
        count(done.n_files, "file"),
        root.display(),
        done.n_known
    ));
    Ok(if done.problems.is_empty() { Exit::Done } else { Exit::OutsideFailed })
}

fn stats(replies: &dyn ToolStore, as_json: bool) -> anyhow::Result<Exit> {
    let totals = replies.totals()?;
    if as_json {
        let rows: Vec<serde_json::Value> = totals
            .iter()
            .map(|total| {
                json!({"origin": total.origin.as_str(), "model": total.model,
                    "replies": total.count, "apis": total.apis, "hits": total.hits,
                    "bytes": total.bytes, "first_kept_at": moment(total.first_kept_at),
                    "last_kept_at": moment(total.last_kept_at)})
            })
            .collect();
        output::print_data(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        return Ok(Exit::Done);
    }
    let n_all: u64 = totals.iter().map(|total| total.count).sum();
    let n_all = usize::try_from(n_all).unwrap_or(usize::MAX);
    let mut text = format!("{}: {}\n", replies.place(), replies_counted(n_all));
    for total in &totals {
        text.push_str(&row(total));
    }
    output::print_data(&text)?;
    Ok(Exit::Done)
}

fn row(total: &ToolTotal) -> String {
    let model = total.model.as_deref().map(|model| format!(" by {model}")).unwrap_or_default();
    format!(
        "  {}{model}: {} of {}, {:.1} MB, hits {}, kept {} to {}\n",
        total.origin.as_str(),
        replies_counted(usize::try_from(total.count).unwrap_or(usize::MAX)),
        count(usize::try_from(total.apis).unwrap_or(usize::MAX), "API"),
        total.bytes as f64 / 1e6,
        total.hits,
        moment(total.first_kept_at),
        moment(total.last_kept_at),
    )
}

fn replies_counted(n: usize) -> String {
    if n == 1 { "1 reply".into() } else { format!("{n} replies") }
}

fn moment(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map(|moment| moment.to_string()).unwrap_or_default()
}
