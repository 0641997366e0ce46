//! Opens virtual tools from settings and environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use juror_document::{Notice, Phrase, option, option_as, phrase, program_only};
use juror_mcp::{Address, ClientSetup};
use juror_models::{
    CacheMode, Limits, ModelSpec, Models, ModelsSetup, Prices, Secret, Tell, Width, http_client,
};
use juror_run::{
    AcceptWord, Environment, FormWord, MissWord, NumbersWord, RealSettings, Settings, SetupError,
    SimulatorSettings, SourceWord, ToolsSettings, from_environment, model_identity, own_prices,
    resolve_model,
};
use juror_runs::short_hash;
use juror_serve::MatchNumbers;
use juror_toolbench::{LAST_RESORT_CATEGORY, Rule};
use juror_tools::{
    Cached, CachedSetup, Catalog, CoolDown, Direct, Faults, Host, LivePool, McpSource,
    MemoryBudget, PoolSetup, PromptBuilder, Proxy, Simulator, SimulatorKind, SimulatorStyle,
    Source, ToolSource, ToolsError, VirtualTools, load_pools,
};
use serde_json::Value;

use crate::benchmark::BenchError;
use crate::environment::kept_back;
use crate::known_replies::{ReplyPlace, categories_of, known_replies};

/// The default time limit for real tools, in seconds.
const REAL_TIMEOUT: f64 = 30.0;

/// How often a failing simulator is retried by default.
const SIMULATOR_RETRIES: u32 = 2;

/// Virtual tools, and facts about them.
pub struct Tools {
    /// The tools that answer calls.
    pub virtual_tools: Arc<VirtualTools>,
    /// All tools that can be called.
    pub catalog: Arc<Catalog>,
    /// Whether only known replies are given.
    pub replays: bool,
    /// Whose numbers are compared by value, if settings say so.
    pub match_numbers: Option<MatchNumbers>,
    /// The store, if there is one.
    pub store: Option<String>,
    /// How many APIs have replies in the cache folders.
    pub n_cached_apis: usize,
    /// How many replies are in the store.
    pub n_kept: u64,
    /// Problems with parts that could not be used.
    pub problems: Vec<Notice>,
    /// The sources of replies, in order.
    pub sources: Vec<&'static str>,
    /// What affects the simulator's replies, if there is one.
    pub simulator: Option<Value>,
    /// The places of known replies, and which of them are read-only.
    pub places: Vec<ReplyPlace>,
}

/// Opens virtual tools.
pub async fn open_tools(
    settings: &Settings,
    environment: &Environment,
    tell: &Tell,
) -> Result<Tools, BenchError> {
    let tools = &settings.tools;
    let replays = tools.on_miss == Some(MissWord::Fail);
    let mut problems = Vec::new();
    let client = mcp_client(settings, environment, tell)?;
    let (mut catalog, live) = load_catalog(tools, &client, &mut problems).await?;
    let words = source_words(tools, replays)?;
    let mut names: Vec<&str> = words.iter().map(|word| word.name()).collect();
    let mut played_by = None;
    let has_makers = words.iter().any(|word| *word != SourceWord::Cache);
    let shows_known = words.contains(&SourceWord::Cache);
    if words.contains(&SourceWord::Simulator) {
        // What is refused leaves no store behind.
        check_simulator(settings, environment)?;
    }
    let known = known_replies(tools, has_makers, &mut problems)?;
    fill_categories(&mut catalog, &known.setup, &mut problems)?;
    let catalog = Arc::new(catalog);
    let (store, n_cached_apis, n_kept) = (known.store, known.n_cached_apis, known.n_kept);
    let places = known.places;
    let told = tell.clone();
    let cached = Arc::new(Cached::new(known.setup, move |text| told(text)));
    let mut sources = Vec::new();
    for word in words {
        match word {
            SourceWord::Cache => sources.push(Source::Cache),
            SourceWord::Real => {
                let real = real(tools, environment, &catalog, (&client, &live))?;
                sources.extend(real.into_iter().map(Source::Maker));
            }
            SourceWord::Simulator => {
                // A simulator that is used without known replies must not see any of them.
                let examples = shows_known.then(|| cached.clone());
                match simulator(settings, environment, (&catalog, examples), tell) {
                    Ok(simulator) => {
                        played_by = Some(simulator_identity(settings, environment, &simulator)?);
                        sources.push(Source::Maker(Box::new(simulator)));
                    }
                    // The public server starts with any configuration, and serves what it can.
                    Err(error) if is_published(tools) => {
                        names.retain(|name| *name != SourceWord::Simulator.name());
                        let told =
                            error.0.below("no model simulates the tools until this is fixed");
                        problems.push(told);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    Ok(Tools {
        virtual_tools: serve_from(sources, cached, tools),
        catalog,
        replays,
        match_numbers: tools.numbers.map(numbers_meant),
        store,
        n_cached_apis,
        n_kept,
        problems,
        sources: names,
        simulator: played_by,
        places,
    })
}

/// Fails if the model of the simulator is not configured. The public server starts without.
fn check_simulator(settings: &Settings, environment: &Environment) -> Result<(), SetupError> {
    if is_published(&settings.tools) {
        return Ok(());
    }
    let own = settings.tools.simulator.clone().unwrap_or_default();
    simulator_spec(settings, &own, environment, simulator_kind(&own)).map(drop)
}

/// Puts sources of replies together, by the rules of the settings.
fn serve_from(
    sources: Vec<Source>,
    cached: Arc<Cached>,
    tools: &ToolsSettings,
) -> Arc<VirtualTools> {
    let keeps = tools.keep.unwrap_or(true);
    let budget =
        tools.in_flight_mb.map(|megabytes| MemoryBudget::new(megabytes.get())).unwrap_or_default();
    let rules = match tools.cassette {
        Some(_) => tools.r#match.for_cassette(),
        None => tools.r#match.clone(),
    };
    let faults = Faults::new(tools.faults.clone(), tools.fault_seed.unwrap_or_default());
    VirtualTools::with_rules(cached, sources, keeps, budget, rules, faults)
}

fn numbers_meant(word: NumbersWord) -> MatchNumbers {
    match word {
        NumbersWord::Exact => MatchNumbers::Never,
        NumbersWord::Equal => MatchNumbers::Always,
    }
}

/// Fills in categories that tool files lack from known replies, which are filed by category.
fn fill_categories(
    catalog: &mut Catalog,
    known: &CachedSetup,
    problems: &mut Vec<Notice>,
) -> Result<(), SetupError> {
    let tools = catalog.tools();
    let n_tools = tools.len();
    if tools.iter().all(|tool| tool.category.is_some()) {
        return Ok(());
    }
    let categories = categories_of(known)?;
    let n_left = catalog.fill_categories(|tool| categories.get(tool)?.clone());
    if n_left > 0 {
        let problem = format!(
            "{n_left} of {n_tools} tools have no category, neither in their files nor by known replies: they count as tools of `{LAST_RESORT_CATEGORY}`, so replies stored under another category are not found"
        );
        let hint = "name a folder of tool files with a folder for each category";
        problems.push(Notice::new(problem).hint(hint));
    }
    Ok(())
}

fn is_published(tools: &ToolsSettings) -> bool {
    tools.simulator.as_ref().is_some_and(|simulator| simulator.published)
}

/// Returns the sources in order: those of the settings, else known replies, real tools and a
/// simulator, as far as configured. A replay uses neither of the last two; a refresh uses only
/// those.
fn source_words(tools: &ToolsSettings, replays: bool) -> Result<Vec<SourceWord>, SetupError> {
    let refreshes = tools.refresh == Some(true);
    let configured = || {
        let known = (!refreshes).then_some(SourceWord::Cache);
        let real = tools.real.as_ref().map(|_| SourceWord::Real);
        let simulator = tools.simulator.as_ref().map(|_| SourceWord::Simulator);
        known.into_iter().chain(real).chain(simulator).collect()
    };
    let mut words: Vec<SourceWord> = tools.sources.clone().unwrap_or_else(configured);
    if replays {
        words.retain(|word| *word == SourceWord::Cache);
    }
    if refreshes {
        check_refresh(tools, &words)?;
    }
    Ok(words)
}

/// Fails if a refresh could not replace anything.
fn check_refresh(tools: &ToolsSettings, words: &[SourceWord]) -> Result<(), SetupError> {
    let sources = || option_as("sources", "tools.sources");
    let (why, hint) = if tools.keep == Some(false) || tools.on_miss == Some(MissWord::Fail) {
        ("nothing new is kept", keep_nothing_or_refresh())
    } else if !words.iter().any(|word| *word != SourceWord::Cache) {
        let hint = phrase!["configure a simulator or real tools, and name them in ", sources()];
        ("nobody can be asked", hint)
    } else if words.first() == Some(&SourceWord::Cache) {
        let hint = phrase!["leave `cache` out of ", sources(), ", or name it last"];
        ("known replies come first", hint)
    } else {
        return Ok(());
    };
    let problem = format!("kept replies are to be replaced by new ones, but {why}");
    Err(SetupError::new(problem).hint(hint))
}

fn keep_nothing_or_refresh() -> Phrase {
    phrase![
        "leave out ",
        option("refresh"),
        ", or ",
        option_as("no-keep", "tools.keep"),
        " and ",
        option_as("on-miss", "tools.on_miss"),
        " fail"
    ]
}

async fn load_catalog(
    tools: &ToolsSettings,
    client: &ClientSetup,
    problems: &mut Vec<Notice>,
) -> Result<(Catalog, Vec<LivePool>), BenchError> {
    let is_missing = |folder: &&String| tools.is_folder_optional && !Path::new(folder).exists();
    if let Some(folder) = tools.folder.iter().find(is_missing) {
        let problem = format!(
            "{folder}: there is no such folder, so no APIs are listed, and models do not see any"
        );
        problems.push(Notice::new(problem).hint(name_the_folder()));
        return Ok((Catalog::default(), Vec::new()));
    }
    let setup = PoolSetup {
        client: client.clone(),
        cassette: tools.cassette.as_ref().map(PathBuf::from),
        replays: tools.on_miss == Some(MissWord::Fail),
    };
    let loaded = load_pools(&tools.folder, &tools.servers(), &setup).await;
    let (catalog, live) = loaded.map_err(unloaded)?;
    problems.extend(catalog.problems().errors.iter().map(Notice::from));
    if catalog.n_apis() == 0 && !tools.folder.is_empty() {
        let names = tools.folder.join(", ");
        problems.push(Notice::new(format!("{names}: no tool files are found here")));
    }
    Ok((catalog, live))
}

fn unloaded(error: ToolsError) -> BenchError {
    match error {
        ToolsError::Server(error) => {
            let hint = "start the command, or open the address, by hand to see what it says";
            BenchError::Unreachable(Notice::new(error.to_string()).hint(hint))
        }
        ToolsError::Folder { ref source, .. } => {
            SetupError::new(format!("{error}: {source}")).hint(name_the_folder()).into()
        }
        error => SetupError::new(error.to_string()).into(),
    }
}

/// How MCP servers are reached.
fn mcp_client(
    settings: &Settings,
    environment: &Environment,
    tell: &Tell,
) -> Result<ClientSetup, SetupError> {
    let nothing = RealSettings::default();
    let own = settings.tools.real.as_ref().unwrap_or(&nothing);
    let key = own.key.as_deref().map(|key| from_environment(key, environment)).transpose();
    let key = key.map_err(|why| SetupError::new(format!("tools.real: {why}")))?;
    Ok(ClientSetup {
        timeout: Duration::from_secs_f64(own.timeout_seconds.unwrap_or(REAL_TIMEOUT)),
        token: key.as_deref().map(Secret::new),
        kept_back: kept_back(&own.environment, settings, std::env::vars_os()),
        tell: tell.clone(),
    })
}

fn name_the_folder() -> Phrase {
    phrase!["name the folder of tool files with ", option("tools")]
}

fn simulator_kind(own: &SimulatorSettings) -> SimulatorKind {
    match own.form {
        None | Some(FormWord::Chat) => SimulatorKind::Chat,
        Some(FormWord::Mirror) => SimulatorKind::Mirror,
        Some(FormWord::MirrorCache) => SimulatorKind::MirrorCache,
    }
}

fn simulator(
    settings: &Settings,
    environment: &Environment,
    (catalog, cached): (&Arc<Catalog>, Option<Arc<Cached>>),
    tell: &Tell,
) -> Result<Simulator, SetupError> {
    let own = settings.tools.simulator.clone().unwrap_or_default();
    let form = simulator_kind(&own);
    let system = match &own.prompt {
        None => None,
        Some(file) => Some(std::fs::read_to_string(file).map_err(|error| {
            let why = juror_files::reason(&error);
            SetupError::new(format!("tools.simulator.prompt: {file}: cannot read: {why}"))
        })?),
    };
    Ok(Simulator {
        models: simulator_models(settings, &own, environment, form, tell)?,
        prompts: PromptBuilder {
            kind: form,
            style: if own.published { SimulatorStyle::Published } else { SimulatorStyle::Own },
            catalog: catalog.clone(),
            cached,
        },
        system,
        cool_down: CoolDown::default(),
    })
}

/// Returns what affects a simulator's replies: its model, address and prompt.
fn simulator_identity(
    settings: &Settings,
    environment: &Environment,
    simulator: &Simulator,
) -> Result<Value, SetupError> {
    let own = settings.tools.simulator.clone().unwrap_or_default();
    let form = simulator.prompts.kind;
    let mut identity = model_identity(&simulator_spec(settings, &own, environment, form)?);
    let told = simulator.system.as_deref().filter(|text| !text.trim().is_empty());
    identity["form"] = format!("{form:?}").to_lowercase().into();
    identity["prompt"] = short_hash(told.unwrap_or(form.default_system())).into();
    Ok(identity)
}

fn simulator_spec(
    settings: &Settings,
    own: &SimulatorSettings,
    environment: &Environment,
    form: SimulatorKind,
) -> Result<ModelSpec, SetupError> {
    let llm = settings.llm.clone().unwrap_or_default();
    let model = own.model.clone().or(llm.generation.clone()).ok_or_else(no_simulator_model)?;
    let timeout = llm.timeout_seconds.map(Duration::from_secs_f64);
    let mut spec = resolve_model(&model, environment, timeout, true)
        .map_err(|why| SetupError::from(settings.unaskable("tools.simulator", &model, why)))?;
    let (temperature, max_tokens) = match form {
        SimulatorKind::Chat => (0.0, 4096),
        SimulatorKind::Mirror | SimulatorKind::MirrorCache => (0.1, 2048),
    };
    spec.parameters.entry("temperature").or_insert(temperature.into());
    spec.parameters.entry("max_tokens").or_insert(max_tokens.into());
    if form != SimulatorKind::Chat {
        spec.parameters.entry("seed").or_insert(42.into());
    }
    Ok(spec)
}

fn no_simulator_model() -> SetupError {
    SetupError::new("a simulator is wanted, but there is no model").hint(phrase![
        "name it in `tools.simulator.model` or `llm.generation`",
        program_only(", or with --model and --model-url"),
        "; OPENAI_API_KEY alone names none here"
    ])
}

fn simulator_models(
    settings: &Settings,
    own: &SimulatorSettings,
    environment: &Environment,
    form: SimulatorKind,
    tell: &Tell,
) -> Result<Models, SetupError> {
    let llm = settings.llm.clone().unwrap_or_default();
    let spec = simulator_spec(settings, own, environment, form)?;
    let defaults = Limits::default();
    let limits = Limits {
        width: llm.concurrency.map_or(spec.width, |n| Width::fixed(n.get() as usize)),
        requests_per_minute: llm.requests_per_minute.map(std::num::NonZero::get),
        tokens_per_minute: llm.tokens_per_minute.map(std::num::NonZero::get),
        retries: llm.retries.unwrap_or(SIMULATOR_RETRIES),
        first_wait: defaults.first_wait,
        max_cost: llm.max_cost_usd,
    };
    let told = tell.clone();
    let setup = ModelsSetup {
        chat: spec,
        conversing: None,
        embedding: None,
        limits,
        prices: Prices::new(own_prices(&llm)),
        // Tool replies have a store of their own.
        cache: None,
        mode: CacheMode::Off,
        retry_unreadable: false,
        only_count: false,
        tell: Arc::new(move |text: &str| told(text)),
    };
    Models::new(setup).map_err(|why| SetupError::new(format!("tools.simulator: {why}")))
}

fn real(
    tools: &ToolsSettings,
    environment: &Environment,
    catalog: &Arc<Catalog>,
    (mcp, live): (&ClientSetup, &[LivePool]),
) -> Result<Vec<Box<dyn ToolSource>>, SetupError> {
    let nothing = RealSettings::default();
    let own = tools.real.as_ref().unwrap_or(&nothing);
    let wrong = |why: String| SetupError::new(format!("tools.real: {why}"));
    let rule = match own.accept {
        Some(AcceptWord::Strict) => Rule::Strict,
        Some(AcceptWord::Compatible) | None => Rule::Compatible,
    };
    let timeout = Duration::from_secs_f64(own.timeout_seconds.unwrap_or(REAL_TIMEOUT));
    let client = http_client().map_err(wrong)?;
    let secret = |value: &str| from_environment(value, environment).map(|key| Secret::new(&key));
    let mut sources: Vec<Box<dyn ToolSource>> = Vec::new();
    let mut base = None;
    for proxy in &own.proxy {
        if Address::is_meant(proxy) {
            let source = McpSource::new(proxy, mcp, live, catalog);
            sources.push(Box::new(source.map_err(|error| wrong(error.to_string()))?));
            continue;
        }
        let address = proxy.parse().map_err(|_| wrong(format!("`{proxy}` is not an address")))?;
        if catalog.is_openapi() {
            base = Some(address);
            continue;
        }
        let (client, key) = (client.clone(), mcp.token.clone());
        sources.push(Box::new(Proxy { client, address, key, rule, timeout }));
    }
    if !own.hosts.is_empty() || base.is_some() {
        let mut hosts = Vec::new();
        for (name, headers) in &own.hosts {
            let headers = headers.iter().flatten();
            let headers: Result<Vec<(String, Secret)>, String> =
                headers.map(|(name, value)| Ok((name.clone(), secret(value)?))).collect();
            hosts.push(Host::new(name, &headers.map_err(wrong)?).map_err(wrong)?);
        }
        let catalog = catalog.clone();
        sources.push(Box::new(Direct { client, catalog, hosts, base, rule, timeout }));
    }
    if sources.is_empty() {
        return Err(wrong("real tools are wanted, but neither `proxy` nor `hosts` is set".into()));
    }
    Ok(sources)
}
