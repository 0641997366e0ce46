//! Creates judges and their models from settings and environment.

use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use juror_document::{Notice, option_as, phrase};
use juror_files::read_plain_text;
use juror_judge::{
    Against, ClaimRules, Correctness, Custom, FinalAnswerJudge, Judge, PROMPTS, Panel,
    PassRateJudge, PreferenceJudge, Relevance, Retrieval, ShownSteps, TemplateError,
};
use juror_models::{
    CacheMode, Limits, ModelSpec, Models, ModelsSetup, PROVIDERS, Price, Prices, Provider,
    ReplyCache, Secret, Tell, Width, says_who_asks,
};
use juror_postgres::shown_place;
use juror_runs::hidden::{without_credentials, without_keys};
use juror_runs::short_hash;
use juror_score::{AskedLike, ContextJudge, Profile};
use serde_json::Value;

use crate::environment::{Environment, Found, Origin};
use crate::reply_store;
use crate::roles::Role;
use crate::settings::{
    CacheRule, ClaimsMethod, CustomEvaluation, ModelSettings, ModelsSettings, Settings, StepsKey,
    rules,
};
use crate::setup_error::SetupError;

/// The folder of kept replies if settings name none.
pub const DEFAULT_CACHE: &str = ".juror/llm";

/// The default models: those documented by the Python library.
const DEFAULT_CHAT: &str = "gpt-4o-mini";
const DEFAULT_EMBEDDING: &str = "text-embedding-ada-002";

/// Options of the caller for asking models; each overrides the settings.
#[derive(Default)]
pub struct AskOptions {
    /// Count calls without making them.
    pub only_count: bool,
    /// Ask again if a kept reply is unusable.
    pub retry_errors: bool,
    /// How to use the cache.
    pub cache_mode: Option<CacheMode>,
    /// The location of the cache.
    pub cache: Option<String>,
    /// The cost ceiling, in US dollars.
    pub max_cost: Option<f64>,
    /// The maximum number of concurrent calls.
    pub concurrency: Option<usize>,
    /// The time limit for a reply, in seconds.
    pub timeout: Option<f64>,
    /// Recorded replies to use instead of any cache.
    pub recorded: Option<juror_models::Recorded>,
}

/// Judges and the models they ask.
pub struct Judges {
    /// The judges.
    pub panel: Panel,
    /// The models they ask.
    pub models: Models,
    /// The location of kept replies, for messages.
    pub cache: Option<String>,
    /// Everything besides the dataset that affects verdicts, for the identity of runs.
    pub identity: Value,
}

/// Creates the judges that settings and environment configure; `None` if there is no model.
pub fn judges(
    settings: &Settings,
    profile: &Profile,
    environment: &Environment,
    options: AskOptions,
    tell: Tell,
) -> Result<Option<Judges>, SetupError> {
    let Some(specs) = specs(settings, environment, &options, Role::Judge)? else {
        return match settings.custom_evaluations.first() {
            Some(custom) => {
                let problem = format!("the custom evaluation `{}` needs a model", custom.name);
                Err(SetupError::new(problem).hint(NAME_A_MODEL))
            }
            None => match settings.needs_model() {
                Some(metric) => Err(no_model_for(metric)),
                None => Ok(None),
            },
        };
    };
    let panel = panel(settings, profile, specs.embedding.is_some())?;
    if panel.is_empty() {
        return Ok(None);
    }
    let identity = identity(profile, &specs, &panel);
    let (models, cache) = models(settings, specs, options, tell)?;
    Ok(Some(Judges { panel, models, cache, identity }))
}

/// Returns whether [`judges`] might find a model to ask, without opening or asking anything.
pub fn may_ask(settings: &Settings, environment: &Environment) -> bool {
    settings.llm.is_some()
        || !settings.custom_evaluations.is_empty()
        || settings.needs_model().is_some()
        || environment.get("OPENAI_API_KEY").is_some()
}

/// Checks that judges can be created from the settings, ignoring keys and addresses.
pub fn check_judges(settings: &Settings) -> Result<(), SetupError> {
    let options = AskOptions { cache_mode: Some(CacheMode::ReadOnly), ..AskOptions::default() };
    let specs = specs(settings, &Environment::nothing(), &options, Role::Judge)?;
    let embeds = specs.is_some_and(|specs| specs.embedding.is_some());
    panel(settings, &settings.plan().profile, embeds).map(|_| ())
}

/// Opens the model that judges, for a command that creates its own judges; also returns the location of kept
/// replies.
pub fn models_for(
    settings: &Settings,
    environment: &Environment,
    options: AskOptions,
    tell: Tell,
) -> Result<(Models, Option<String>), SetupError> {
    let specs = specs(settings, environment, &options, Role::Judge)?.ok_or_else(no_model)?;
    // Such a command compares no embeddings.
    models(settings, Specs { embedding: None, ..specs }, options, tell)
}

const NAME_A_MODEL: &str = "name one in `llm.generation`, or set OPENAI_API_KEY";

/// Returns the error for a command that needs a model and has none.
pub fn no_model() -> SetupError {
    SetupError::new("no model is configured")
        .hint("set OPENAI_API_KEY, or name a model in `llm.generation` of the settings")
}

fn no_model_for(metric: &str) -> SetupError {
    SetupError::new(format!("{metric} is enabled, but there is no model")).hint(phrase![
        "name one in `llm.generation`, set OPENAI_API_KEY, or ask none (",
        option_as("no-model", "ask_models=False"),
        ")"
    ])
}

/// Creates the judge of claims that settings configure.
pub fn correctness(settings: &Settings, profile: &Profile) -> Result<Correctness, SetupError> {
    let rules = ClaimRules {
        trims_lines: profile.asked_like == AskedLike::Release5,
        error_key: profile.answer_error_key,
    };
    let set = settings.answer_correctness.as_ref();
    let own = set.and_then(|own| own.prompt.as_deref());
    let lists = set.and_then(|own| own.method) == Some(ClaimsMethod::Listed);
    match own {
        Some(_) if lists => Err(SetupError::new(
            "answer_correctness.prompt asks for counts, and `method: listed` for lists",
        )
        .hint("leave one of them out; a prompt for lists is listed_claims.md in `judge.prompts`")),
        None if lists => {
            let (name, text) = prompt(settings, "listed_claims")?;
            Correctness::listing(&text, rules).map_err(|error| bad_prompt(&name, &error))
        }
        Some(prompt) => Correctness::with_own_prompt(prompt, rules)
            .map_err(|error| SetupError::new(format!("answer_correctness.prompt: {error}"))),
        None => {
            let (name, text) = prompt(settings, "answer_claims")?;
            Correctness::new(&text, rules).map_err(|error| bad_prompt(&name, &error))
        }
    }
}

/// Creates the judge of whether agents' answers solve their queries.
pub fn pass_rate_judge(settings: &Settings) -> Result<PassRateJudge, SetupError> {
    let (status_name, status) = prompt(settings, "answer_status")?;
    let (detailed_name, detailed) = prompt(settings, "answer_status_detailed")?;
    PassRateJudge::new(&status, &detailed)
        .map_err(|error| bad_prompt(&format!("{status_name} or {detailed_name}"), &error))
}

/// Creates the judge of which of two answers is better.
pub fn preference_judge(settings: &Settings) -> Result<PreferenceJudge, SetupError> {
    let (name, text) = prompt(settings, "better_answer")?;
    PreferenceJudge::new(&text, pass_rate_judge(settings)?)
        .map_err(|error| bad_prompt(&name, &error))
}

/// Creates the judge of final answers alone.
pub fn final_answer_judge(settings: &Settings) -> Result<FinalAnswerJudge, SetupError> {
    let (name, text) = prompt(settings, "final_answer_status")?;
    FinalAnswerJudge::new(&text).map_err(|error| bad_prompt(&name, &error))
}

/// The models of a run.
pub(crate) struct Specs {
    pub(crate) chat: ModelSpec,
    /// The built-in agent's model, if it is another one.
    pub(crate) conversing: Option<ModelSpec>,
    pub(crate) embedding: Option<ModelSpec>,
}

/// Resolves the chat model for a role, and the embedding model; `None` if there is none.
pub(crate) fn specs(
    settings: &Settings,
    environment: &Environment,
    options: &AskOptions,
    role: Role,
) -> Result<Option<Specs>, SetupError> {
    let llm = settings.llm.clone().unwrap_or_default();
    // Recorded replies and counted calls need no key, since no model is asked.
    let asks = cache_mode(&llm, options) != CacheMode::ReadOnly && !options.only_count;
    let timeout = options.timeout.or(llm.timeout_seconds).map(Duration::from_secs_f64);
    let resolve = |place: &str, own: &ModelSettings| {
        let spec = resolve_model(own, environment, timeout, asks);
        spec.map_err(|why| SetupError::from(settings.unaskable(&format!("llm.{place}"), own, why)))
    };
    match (role.model(&llm), &llm.embedding) {
        (Some((key, chat)), embedding) => Ok(Some(Specs {
            chat: resolve(key, &with_temperature(chat))?,
            conversing: None,
            embedding: embedding.as_ref().map(|own| resolve("embedding", own)).transpose()?,
        })),
        (None, Some(_)) if llm.judge.is_none() => {
            Err(SetupError::new("llm.embedding is set, but not llm.generation")
                .hint("name the model that judges"))
        }
        (None, _) if environment.get("OPENAI_API_KEY").is_none() && asks => {
            // A model for another role says nothing about this one.
            if settings.llm.is_some() && llm.judge.is_none() && llm.agent.is_none() {
                let error = SetupError::new("llm is set, but there is no model");
                return Err(error.hint(NAME_A_MODEL));
            }
            Ok(None)
        }
        (None, _) => {
            let default = |model| ModelSettings::at(None, model);
            Ok(Some(Specs {
                chat: resolve("generation", &with_temperature(&default(DEFAULT_CHAT)))?,
                conversing: None,
                embedding: Some(resolve("embedding", &default(DEFAULT_EMBEDDING))?),
            }))
        }
    }
}

/// Sets the temperature to 0 unless settings have one, so that judgements are repeatable.
fn with_temperature(settings: &ModelSettings) -> ModelSettings {
    let mut settings = settings.clone();
    settings.parameters.entry("temperature").or_insert(Value::from(0.0));
    settings
}

/// Resolves settings of a model to what calls need. If `asks` is false, no model is asked, and its key
/// and address may be missing.
pub fn resolve_model(
    settings: &ModelSettings,
    environment: &Environment,
    timeout: Option<Duration>,
    asks: bool,
) -> Result<ModelSpec, Notice> {
    let provider = Provider::of(&settings.provider)
        .ok_or_else(|| Notice::new(no_provider(&settings.provider)).hint(known_providers()))?;
    let resolving = Resolving { settings, provider, environment, asks };
    let (address, given) = resolving.address()?;
    let is_own_address = provider.is_at(&address);
    let brought = given.filter(|given| given.origin == Origin::File && !is_own_address && asks);
    let key = resolving.key(brought.as_ref())?;
    if key.is_none() && provider.needs_key && is_own_address && asks {
        let variables = provider.key_variables.join(" or ");
        return Err(Notice::new(format!("no key for {}", provider.names[0]))
            .hint(format!("set {variables}, in the environment or in .env, or `api_key`")));
    }
    let defaults = provider.defaults_at(is_own_address);
    Ok(ModelSpec {
        provider,
        model: settings.model.clone(),
        key: key.map(|key| Secret::new(&key.value)),
        address,
        is_gateway: settings.gateway,
        api_version: resolving.api_version(),
        stream: settings.stream,
        headers: resolving.headers(brought.as_ref())?,
        parameters: settings.parameters.clone(),
        timeout: timeout.unwrap_or(defaults.timeout),
        width: defaults.width,
        is_paid: defaults.is_paid,
    })
}

/// Finds the address, key and headers of a model: in its settings, else in the environment.
///
/// An address that a `.env` file brought (`brought`) receives only keys from that file.
struct Resolving<'r> {
    settings: &'r ModelSettings,
    provider: &'static Provider,
    environment: &'r Environment,
    asks: bool,
}

impl Resolving<'_> {
    /// Returns the value of a setting; `None` if it is missing and no model is asked.
    fn find(&self, key: &str, value: &str) -> Result<Option<Found>, Notice> {
        match find(key, value, self.environment) {
            Err(_) if !self.asks => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    /// Returns the address, and where it was found if it is not the provider's own.
    fn address(&self) -> Result<(String, Option<Found>), Notice> {
        let given = match self.settings.base_url.as_deref() {
            Some(address) => self.find("base_url", address)?,
            None => self.environment.first_of(self.provider.address_variables),
        };
        let own = || self.provider.address.map(str::to_owned);
        let unused = || (!self.asks).then(|| "http://127.0.0.1".to_owned());
        let address = given.as_ref().map(|given| given.value.clone()).or_else(own).or_else(unused);
        let address = address.ok_or_else(|| {
            let variables = self.provider.address_variables.join(" or ");
            Notice::new("no address").hint(format!("set `base_url`, or {variables}"))
        })?;
        if !is_address(&address) {
            return Err(Notice::new(no_address(&address)).hint(AN_ADDRESS));
        }
        Ok((address, given))
    }

    fn key(&self, brought: Option<&Found>) -> Result<Option<Found>, Notice> {
        let variables = self.provider.key_variables;
        let key = match (self.settings.api_key.as_deref(), brought) {
            (Some(key), _) => self.find("api_key", key)?,
            (None, None) => self.environment.first_of(variables),
            (None, Some(_)) => {
                let own = self.environment.in_file(variables);
                own.or_else(|| self.environment.in_process(variables))
            }
        };
        key.iter().try_for_each(|key| check_together(brought, key))?;
        Ok(key)
    }

    fn headers(&self, brought: Option<&Found>) -> Result<Vec<(String, Secret)>, Notice> {
        let mut headers = Vec::new();
        for (name, value) in &self.settings.headers {
            let Some(value) = self.find(&format!("headers.{name}"), value)? else { continue };
            // A literal value counts as a key only if its name says so.
            if value.origin == Origin::Process || says_who_asks(name) {
                check_together(brought, &value)?;
            }
            headers.push((name.clone(), Secret::new(&value.value)));
        }
        Ok(headers)
    }

    fn api_version(&self) -> Option<String> {
        let names = ["AZURE_OPENAI_API_VERSION", "AZURE_API_VERSION", "OPENAI_API_VERSION"];
        let found = || Some(self.environment.first_of(&names)?.value);
        self.settings.api_version.clone().or_else(found)
    }
}

/// Refuses to send a secret to an address that a `.env` file brought, unless it is from there too.
fn check_together(brought: Option<&Found>, secret: &Found) -> Result<(), Notice> {
    match brought {
        Some(address) if secret.origin != Origin::File => Err(not_together(address, secret)),
        _ => Ok(()),
    }
}

/// Returns the message about an unknown provider.
pub(crate) fn no_provider(name: &str) -> String {
    format!("there is no provider `{name}`")
}

/// Returns a hint that lists the known providers.
pub(crate) fn known_providers() -> String {
    let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.names[0]).collect();
    format!(
        "one of {}; for any other address use `provider: openai_compatible` with `base_url`",
        known.join(", ")
    )
}

/// Returns whether an address is an HTTP URL.
pub(crate) fn is_address(address: &str) -> bool {
    address.starts_with("http://") || address.starts_with("https://")
}

/// A hint that shows what an address looks like.
pub(crate) const AN_ADDRESS: &str = "for example http://127.0.0.1:8000/v1";

/// Returns the message about an invalid address.
pub(crate) fn no_address(address: &str) -> String {
    // The query string may hold a key.
    let shown = address.split('?').next().unwrap_or_default();
    format!("`{shown}` is not an address: it begins with http:// or https://")
}

/// Explains why a key is not sent to an address from `.env`.
fn not_together(address: &Found, secret: &Found) -> Notice {
    let shown = without_credentials(&address.value);
    let (name, secret) = (&address.name, &secret.name);
    Notice::new(format!(
        "the address `{shown}` is from .env ({name}), and {secret} is not: who wrote the file would be sent your key"
    ))
    .hint(format!(
        "if you trust that address, set {name} in the environment or name it as `base_url` in the settings; or write a key for it into .env, too"
    ))
}

/// Returns the value of a setting: as written, or from the variable that `env:NAME` names.
fn find(key: &str, value: &str, environment: &Environment) -> Result<Found, String> {
    match value.strip_prefix("env:").map(str::trim) {
        None => Ok(Found {
            value: value.to_owned(),
            name: format!("`{key}`"),
            origin: Origin::Settings,
        }),
        Some(name) => environment
            .first_of(&[name])
            .ok_or_else(|| format!("the environment variable {name} is not set")),
    }
}

/// Returns a value as written, or from the environment variable that `env:NAME` names.
pub fn from_environment(value: &str, environment: &Environment) -> Result<String, String> {
    find("", value, environment).map(|found| found.value)
}

fn cache_mode(llm: &ModelsSettings, options: &AskOptions) -> CacheMode {
    if options.recorded.is_some() {
        return CacheMode::ReadOnly;
    }
    let place = options.cache.as_ref().or(llm.cache.as_ref());
    // A file of recorded replies can only be read.
    let is_file = place.is_some_and(|place| reply_store::is_file(place));
    options.cache_mode.unwrap_or(match llm.cache_mode {
        Some(CacheRule::ReadOnly) => CacheMode::ReadOnly,
        Some(CacheRule::Off) => CacheMode::Off,
        None if is_file => CacheMode::ReadOnly,
        Some(CacheRule::ReadWrite) | None => CacheMode::ReadWrite,
    })
}

pub(crate) fn models(
    settings: &Settings,
    specs: Specs,
    options: AskOptions,
    tell: Tell,
) -> Result<(Models, Option<String>), SetupError> {
    let llm = settings.llm.clone().unwrap_or_default();
    let mode = cache_mode(&llm, &options);
    let prices = Prices::new(own_prices(&llm));
    let max_cost = options.max_cost.or(llm.max_cost_usd);
    if max_cost.is_some() {
        let others = [&specs.conversing, &specs.embedding].into_iter().flatten();
        let mut names = std::iter::once(&specs.chat).chain(others).map(ModelSpec::name);
        if let Some(name) = names.find(|name| prices.of(name).is_none()) {
            return Err(SetupError::new(format!(
                "there is a cost ceiling, but the price of {name} is not known"
            ))
            .hint("add it to `llm.prices`, in USD per million tokens"));
        }
    }
    let place = options.cache.or(llm.cache).unwrap_or_else(|| DEFAULT_CACHE.into());
    let (cache, place): (Option<Box<dyn ReplyCache>>, Option<String>) =
        match (options.recorded, mode) {
            (Some(recorded), _) => (Some(Box::new(recorded)), None),
            (None, CacheMode::Off) => (None, None),
            (None, mode) => {
                let keeps = mode == CacheMode::ReadWrite && !options.only_count;
                (
                    Some(reply_store::open(&place, mode, keeps, tell.clone())?),
                    Some(shown_place(&place)),
                )
            }
        };
    let defaults = Limits::default();
    let narrower = |width: Width, other: &ModelSpec| width.narrower(other.width);
    let width = specs.conversing.iter().fold(specs.chat.width, narrower);
    let limits = Limits {
        width: options
            .concurrency
            .or(llm.concurrency.map(|n| n.get() as usize))
            .map_or(width, Width::fixed),
        requests_per_minute: llm.requests_per_minute.map(std::num::NonZero::get),
        tokens_per_minute: llm.tokens_per_minute.map(std::num::NonZero::get),
        retries: llm.retries.unwrap_or(defaults.retries),
        first_wait: defaults.first_wait,
        max_cost,
    };
    let setup = ModelsSetup {
        chat: specs.chat,
        conversing: specs.conversing,
        embedding: specs.embedding,
        limits,
        prices,
        cache,
        mode,
        retry_unreadable: options.retry_errors,
        only_count: options.only_count,
        tell,
    };
    let models = Models::new(setup).map_err(|why| SetupError::new(format!("llm: {why}")))?;
    Ok((models, place))
}

/// Returns the prices that settings give for models.
pub fn own_prices(llm: &ModelsSettings) -> std::collections::BTreeMap<String, Price> {
    let price = |(model, price): (&String, &crate::settings::PriceSettings)| {
        (model.clone(), Price { input: price.input, output: price.output })
    };
    llm.prices.iter().map(price).collect()
}

fn panel(settings: &Settings, profile: &Profile, embeds: bool) -> Result<Panel, SetupError> {
    let mut judges: Vec<Box<dyn Judge>> = Vec::new();
    let relevance = settings.answer_relevance.as_ref().and_then(|own| own.enabled);
    if relevance == Some(true) && !embeds {
        return Err(SetupError::new(
            "answer_relevance is enabled, but there is no embedding model",
        )
        .hint("name one in `llm.embedding`"));
    }
    if relevance.unwrap_or(embeds) {
        let (name, text) = prompt(settings, "generated_question")?;
        let judge = Relevance::new(&text, profile.noncommittal);
        judges.push(Box::new(judge.map_err(|error| bad_prompt(&name, &error))?));
    }
    let correct = settings.answer_correctness.as_ref().and_then(|own| own.enabled);
    if correct.unwrap_or(true) {
        judges.push(Box::new(correctness(settings, profile)?));
    }
    let falls_back = profile.asked_like == AskedLike::Release5;
    let is_on = |switch: &Option<crate::settings::Switch>| {
        switch.as_ref().and_then(|switch| switch.enabled).unwrap_or(true)
    };
    if is_on(&settings.retrieval_answer) {
        judges.push(Box::new(retrieval(settings, profile, Against::Answer { falls_back })?));
    }
    if is_on(&settings.retrieval_context) && profile.contexts == ContextJudge::Model {
        judges.push(Box::new(retrieval(settings, profile, Against::Contexts)?));
    }
    for evaluation in &settings.custom_evaluations {
        judges.push(Box::new(custom(evaluation)?));
    }
    let repeats = settings.judge.repeats.unwrap_or(NonZero::<u32>::MIN);
    Ok(Panel::new(judges).repeated(repeats))
}

fn retrieval(
    settings: &Settings,
    profile: &Profile,
    against: Against,
) -> Result<Retrieval, SetupError> {
    let (attribution_name, attribution) = prompt(settings, "attribution")?;
    let (usefulness_name, usefulness) = prompt(settings, "usefulness")?;
    Retrieval::new(&attribution, &usefulness, against)
        .map(|judge| judge.with_names(profile.kind_names.clone()).within(profile.limits))
        .map_err(|error| bad_prompt(&format!("{attribution_name} or {usefulness_name}"), &error))
}

fn custom(evaluation: &CustomEvaluation) -> Result<Custom, SetupError> {
    let keys = evaluation.steps_keys.iter().flatten().map(|key| match key {
        StepsKey::Args => "args".to_owned(),
        StepsKey::Output => "output".to_owned(),
    });
    let steps = ShownSteps {
        name: evaluation.steps_name.clone().unwrap_or_default(),
        keys: keys.collect(),
    };
    let inputs = evaluation.inputs.iter().map(|input| input.meant()).collect();
    let meaning = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let outputs: Vec<(String, String)> =
        evaluation.outputs.iter().map(|(key, value)| (key.clone(), meaning(value))).collect();
    Custom::new(&evaluation.name, inputs, steps, &evaluation.instructions, &outputs)
        .map_err(|error| bad_prompt(&evaluation.name, &error))
}

/// Returns the name and text of a prompt: the user's, if there is one of this name, else the
/// built-in one.
fn prompt(settings: &Settings, name: &str) -> Result<(String, String), SetupError> {
    let built_in = PROMPTS.iter().find(|(known, ..)| *known == name);
    let built_in = built_in.map(|(_, text, _)| (*text).to_owned()).unwrap_or_default();
    let Some(folder) = &settings.judge.prompts else { return Ok((name.to_owned(), built_in)) };
    check_prompts(folder)?;
    let path = Path::new(folder).join(format!("{name}.md"));
    match read_plain_text(&path) {
        Ok(text) => Ok((path.display().to_string(), text.replace("\r\n", "\n"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok((name.to_owned(), built_in))
        }
        Err(error) => Err(SetupError::new(format!(
            "{}: cannot read: {}",
            path.display(),
            juror_files::reason(&error)
        ))),
    }
}

/// Fails if the folder has a file that no prompt is read from, since its name must be a typo.
fn check_prompts(folder: &str) -> Result<(), SetupError> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Err(SetupError::new(format!("judge.prompts: {folder}: there is no such folder")));
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_prompt = |name: &&str| PROMPTS.iter().any(|(known, ..)| known == name);
    for name in names {
        let stem = name.strip_suffix(".md");
        if stem.is_some_and(|stem| !is_prompt(&stem)) {
            let known: Vec<String> =
                PROMPTS.iter().map(|(name, ..)| format!("{name}.md")).collect();
            let problem = format!("judge.prompts: {folder}: there is no prompt `{name}`");
            return Err(SetupError::new(problem).hint(format!("known are {}", known.join(", "))));
        }
    }
    Ok(())
}

fn bad_prompt(name: &str, error: &TemplateError) -> SetupError {
    SetupError::new(format!("the prompt {name}: {error}"))
}

/// Returns what affects the replies of the built-in agent's model: name, address, parameters.
pub fn agent_identity(
    settings: &Settings,
    environment: &Environment,
) -> Result<Option<Value>, SetupError> {
    let specs = specs(settings, environment, &AskOptions::default(), Role::Agent)?;
    Ok(specs.map(|specs| model_identity(&specs.chat)))
}

/// Returns what affects the replies of a model.
pub fn model_identity(spec: &ModelSpec) -> Value {
    let parameters = without_keys(&Value::Object(spec.parameters.clone()));
    let address = without_credentials(&spec.address);
    let mut identity =
        serde_json::json!({"model": spec.name(), "address": address, "parameters": parameters});
    // A gateway may select the model by a header.
    let deciding = spec.headers.iter().filter(|(name, _)| !says_who_asks(name));
    let hash = |value: &Secret| short_hash(value.expose())[..8].to_owned();
    let headers: std::collections::BTreeMap<&String, String> =
        deciding.map(|(name, value)| (name, hash(value))).collect();
    if !headers.is_empty() {
        identity["headers"] = serde_json::json!(headers);
    }
    identity
}

/// Returns what affects the verdicts of a model that judges.
pub(crate) fn judge_identity(spec: &ModelSpec) -> Value {
    // Parameters may be confidential, and a hash distinguishes them just as well.
    let parameters = short_hash(&Value::Object(spec.parameters.clone()).to_string());
    let mut own = serde_json::json!({"model": spec.name(), "parameters": parameters});
    if let Some(address) = spec.other_address() {
        own["address"] = without_credentials(&address).into();
    }
    own
}

/// Returns what affects verdicts: models with their parameters, prompts, rules.
fn identity(profile: &Profile, specs: &Specs, panel: &Panel) -> Value {
    let mut identity = serde_json::json!({
        "chat": judge_identity(&specs.chat),
        "embedding": specs.embedding.as_ref().map(judge_identity),
        "prompts": panel.prompts(),
        "rules": rules(profile),
    });
    if panel.repeats() > 1 {
        identity["repeats"] = panel.repeats().into();
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(base_url: &str, key: Option<&str>) -> Result<ModelSpec, Notice> {
        let written = serde_json::json!({"provider": "openai", "model": "m", "api_key": key,
            "base_url": base_url});
        let settings: ModelSettings = serde_json::from_value(written).expect("settings");
        resolve_model(&settings, &Environment::nothing(), None, true)
    }

    #[test]
    fn a_providers_own_address_is_its_own_when_it_is_written_out() {
        for address in ["https://api.openai.com/v1", "https://api.openai.com/v1/"] {
            let spec = resolved(address, Some("k")).expect("a model");
            assert!(spec.is_paid && spec.width.begin == 16, "{address}");
            let error = resolved(address, None).expect_err("no key").to_string();
            assert!(error.starts_with("no key for openai"), "{error}");
        }
        let elsewhere = resolved("https://elsewhere/v1", None).expect("a model");
        assert!(!elsewhere.is_paid && elsewhere.width.begin == 4);
    }
}
