//! The settings that users write in `juror.yaml`.

mod check;
mod gates;
mod rules;
mod typed;

use std::collections::BTreeMap;
use std::num::NonZero;

use indexmap::IndexMap;
use juror_compare::{Gates, Share};
use juror_document::{Document, Notice, Path, Problem, Problems, option, phrase};
use juror_judge::Input;
use juror_read::OwnMetrics;
use juror_runs::hidden::without_keys;
use juror_score::{
    AnswerErrorKey, Aspect, Choice, ContextJudge, ErrorResponses, KeyPart, KindNames, Limits,
    MissingStatus, NameMatching, Noncommittal, Profile, QUESTION_METRICS, ScoredGroups, StepKind,
    StepKinds, Traits, WithoutOutput, question_metric, split_key,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::plan::Plan;
use crate::tool_settings::{ToolsSettings, one_or_many};

use self::check::Complaints;
pub use self::gates::{
    BoundWord, GateSettings, InconclusiveWord, LevelWord, LimitWord, MarginWord,
};
pub(crate) use self::rules::rules;
pub use self::rules::{rules_name, scoring_rules};
pub(crate) use self::typed::read_typed;

/// The settings file. Every key is optional.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// The set of rules: 5, the published document, or 6, the library's newer release.
    #[schemars(with = "Option<u8>")]
    pub profile: Option<ProfileNumber>,
    /// Switches of step matching; each overrides the profile.
    #[serde(deserialize_with = "null_as_default")]
    pub steps: StepSettings,
    /// Switches of the statistics; each overrides the profile.
    #[serde(deserialize_with = "null_as_default")]
    pub aggregates: AggregateSettings,
    /// The share of the questions to which a gated metric applies that must have a verdict, from 0
    /// to 1 or as a percentage; 0.95 when left out.
    #[schemars(schema_with = "share_schema")]
    pub coverage: Option<Share>,
    /// Conditions that a run, or the change from one run to another, must meet to pass.
    #[serde(deserialize_with = "null_as_default")]
    pub gates: Vec<GateSettings>,
    /// What one answer may cost; what asks for more cannot be read.
    #[serde(deserialize_with = "null_as_default")]
    pub limits: LimitSettings,
    /// The models that judge answers.
    pub llm: Option<ModelsSettings>,
    /// Who judges, and how.
    #[serde(deserialize_with = "null_as_default")]
    pub judge: JudgeSettings,
    /// Claims of the answer against the reference answer.
    pub answer_correctness: Option<AnswerCorrectness>,
    /// How near the answer is to its question.
    pub answer_relevance: Option<AnswerRelevance>,
    /// Words of the answer against those of the reference answer, without a model.
    pub answer_overlap: Option<AnswerOverlap>,
    /// Retrieved contexts against the reference answer.
    pub retrieval_answer: Option<Switch>,
    /// Retrieved contexts against the expected ones.
    pub retrieval_context: Option<Switch>,
    /// Where tools answer from, for agents.
    #[serde(deserialize_with = "null_as_default")]
    pub tools: ToolsSettings,
    /// Where runs are stored if no folder is named for one.
    #[serde(deserialize_with = "null_as_default")]
    pub runs: RunsSettings,
    /// Metrics of your own, judged by a model.
    #[serde(deserialize_with = "null_as_default")]
    pub custom_evaluations: Vec<CustomEvaluation>,
    /// The settings as they were written, without keys, for records of a run.
    #[serde(skip)]
    #[schemars(skip)]
    pub written: Value,
    /// Known problems of models, reported with their places once one of the models is to be asked.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) unaskable: Problems,
}

/// Treats a key without a value, which is how YAML writes an empty section, as the default.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A profile's number, written `5` or `"5"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub enum ProfileNumber {
    /// The published document.
    Five,
    /// The library's newer release.
    Six,
}

impl TryFrom<Value> for ProfileNumber {
    type Error = String;
    fn try_from(value: Value) -> Result<ProfileNumber, String> {
        match value.to_string().trim_matches('"') {
            "5" => Ok(ProfileNumber::Five),
            "6" => Ok(ProfileNumber::Six),
            other => Err(format!("there is no profile {other}; choose 5 or 6")),
        }
    }
}

impl ProfileNumber {
    /// Returns the rules it stands for.
    pub fn profile(self) -> Profile {
        match self {
            ProfileNumber::Five => Profile::V5,
            ProfileNumber::Six => Profile::V6,
        }
    }
}

/// Returns the schema of a share: a number, or a string with a percentage.
fn share_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["number", "string", "null"],
        "minimum": 0,
        "maximum": 1,
        "pattern": r"^\s*[0-9.]+\s*%?\s*$",
    })
}

/// Returns the schema of a file, or a list of files.
fn files_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "array", "null"], "items": {"type": "string"}})
}

/// Switches of step matching.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepSettings {
    /// Which groups of expected steps are scored.
    pub scoring: Option<Scoring>,
    /// Whether a step of another name can match.
    pub names: Option<NameRule>,
    /// Which expected step of a group chooses first.
    pub choice: Option<ChoiceRule>,
    /// Which kinds of steps have rules of their own, or names of steps with their kinds.
    pub kinds: Option<Kinds>,
    /// Whether a step that has an output but no status can match.
    pub missing_status: Option<MissingStatusRule>,
    /// What an expected step without output can match by.
    pub match_without_output: Option<WithoutOutputRule>,
    /// Whether steps of error responses are scored.
    pub score_error_responses: Option<bool>,
    /// Who judges retrieved contexts.
    pub contexts: Option<ContextRule>,
}

/// Switches of the statistics.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AggregateSettings {
    /// Whether error responses enter the statistics.
    pub count_error_responses: Option<bool>,
    /// Whether step counts stand in `micro` too.
    pub micro_steps: Option<bool>,
    /// Whether `retrieval_*` statistics are repeated inside `steps`, for old readers.
    pub retrieval_in_steps: Option<bool>,
}

/// Where runs are stored.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunsSettings {
    /// The folder in which every run gets a folder of its own, named after its time, its name and a
    /// short id. When left out, evaluations are not stored, and benchmarks are in `.juror/runs`.
    #[schemars(length(min = 1))]
    pub folder: Option<String>,
}

/// What one answer may cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LimitSettings {
    /// The cells that the tables of an answer may have together beyond one for every four bytes of
    /// their texts, and those of a question's reference likewise; 4194304 when left out. A table of
    /// up to 1024 cells may always have one for every two bytes.
    pub table_cells: Option<NonZero<u32>>,
    /// The documents that the steps of an answer may retrieve together beyond one for every eight
    /// bytes of their texts, and those of a question's reference likewise; 65536 when left out.
    pub documents: Option<NonZero<u32>>,
    /// How many pairs of an expected and an actual step are compared for a question, in all groups
    /// together; 4194304 when left out.
    pub step_pairs: Option<NonZero<u32>>,
    /// How many looks at pairs it may take to find the best pairing for a question, and half as many
    /// to choose the latest steps among equals; 134217728 when left out.
    pub pairing_work: Option<NonZero<u32>>,
    /// How many pairs of a word of the reference answer and one of the actual answer are compared for
    /// `answer_rouge_l`; 1073741824 when left out.
    pub word_pairs: Option<NonZero<u32>>,
}

impl LimitSettings {
    fn meant(self) -> Limits {
        let or = |number: Option<NonZero<u32>>, default| {
            number.map_or(default, |number| number.get() as usize)
        };
        let Limits { table_cells, documents, step_pairs, pairing_work, word_pairs } =
            Limits::DEFAULT;
        Limits {
            table_cells: or(self.table_cells, table_cells),
            documents: or(self.documents, documents),
            step_pairs: or(self.step_pairs, step_pairs),
            pairing_work: or(self.pairing_work, pairing_work),
            word_pairs: or(self.word_pairs, word_pairs),
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident => $meant:ty { $($(#[$word_doc:meta])* $word:ident => $value:path,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$word_doc])* $word,)* }

        impl $name {
            pub(crate) fn meant(self) -> $meant {
                match self { $($name::$word => $value,)* }
            }

            /// Returns the word for a rule.
            #[allow(dead_code, reason = "some rules are never written")]
            pub(crate) fn word(meant: $meant) -> $name {
                match meant { $($value => $name::$word,)* }
            }
        }
    };
}

words! {
    /// Which groups are scored.
    Scoring => ScoredGroups {
        /// The last group alone.
        LastGroup => ScoredGroups::Last,
        /// All groups, from the last to the first incomplete one.
        AllGroups => ScoredGroups::All,
    }
}
words! {
    /// Whether names must agree.
    NameRule => NameMatching {
        /// Only steps of the same name match.
        MustAgree => NameMatching::MustAgree,
        /// Any step with an equal output matches.
        Free => NameMatching::Free,
    }
}
words! {
    /// Who chooses first.
    ChoiceRule => Choice {
        /// The first expected step.
        FirstToLast => Choice::FirstToLast,
        /// The last expected step.
        LastToFirst => Choice::LastToFirst,
    }
}
words! {
    /// Which kinds of steps are typed.
    KindRule => StepKinds {
        /// SPARQL, retrieval, JSON, text.
        Document => StepKinds::Document,
        /// Also time series, data points and IRI discovery.
        All => StepKinds::All,
    }
}
words! {
    /// A kind of steps that has a rule of its own, by its name.
    KindWord => StepKind {
        /// Queries, whose results are compared as tables.
        SparqlQuery => StepKind::SparqlQuery,
        /// Retrieved documents.
        Retrieval => StepKind::Retrieval,
        /// Time series, by their arguments.
        RetrieveTimeSeries => StepKind::RetrieveTimeSeries,
        /// Data points, by their arguments.
        RetrieveDataPoints => StepKind::RetrieveDataPoints,
        /// An IRI that a search or query has to find.
        IriDiscovery => StepKind::IriDiscovery,
        /// A search for IRIs.
        AutocompleteSearch => StepKind::AutocompleteSearch,
    }
}
words! {
    /// What an expected step without output can match by.
    WithoutOutputRule => WithoutOutput {
        /// By nothing.
        NoMatch => WithoutOutput::NoMatch,
        /// By its name and arguments.
        Args => WithoutOutput::Args,
    }
}

/// Which kinds of steps have rules of their own, or names of steps with their kinds.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum Kinds {
    /// Those of the document, or all.
    Which(KindRule),
    /// What steps of some names are, beside those of the profile.
    Names(BTreeMap<String, KindWord>),
}

impl<'de> Deserialize<'de> for Kinds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kinds, D::Error> {
        struct KindsVisitor;
        impl<'de> Visitor<'de> for KindsVisitor {
            type Value = Kinds;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a word, or names of steps with their kinds")
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Kinds, E> {
                KindRule::deserialize(word.into_deserializer()).map(Kinds::Which)
            }
            fn visit_map<A: MapAccess<'de>>(self, names: A) -> Result<Kinds, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(names)).map(Kinds::Names)
            }
        }
        deserializer.deserialize_any(KindsVisitor)
    }
}

words! {
    /// What a step without status counts as.
    MissingStatusRule => MissingStatus {
        /// It cannot match.
        NoMatch => MissingStatus::NoMatch,
        /// It succeeded, if it has an output and no error.
        Success => MissingStatus::Success,
    }
}
words! {
    /// Who judges retrieved contexts.
    ContextRule => ContextJudge {
        /// Text distance.
        Text => ContextJudge::Text,
        /// A model.
        Model => ContextJudge::Model,
    }
}

words! {
    /// When an answer counts as evasive.
    NoncommittalRule => Noncommittal {
        /// If any of the questions generated from it says so.
        Any => Noncommittal::Any,
        /// If all of them do; empty ones are dropped.
        All => Noncommittal::All,
    }
}
words! {
    /// The key of a failed judgement of claims.
    ErrorKeyRule => AnswerErrorKey {
        /// The document's.
        AnswerEvalError => AnswerErrorKey::Eval,
        /// The newer release's.
        AnswerCorrectnessError => AnswerErrorKey::Correctness,
    }
}
words! {
    /// What a model can be shown.
    InputWord => Input {
        /// The question.
        Question => Input::Question,
        /// The expected answer.
        ReferenceAnswer => Input::ReferenceAnswer,
        /// Expected steps.
        ReferenceSteps => Input::ReferenceSteps,
        /// The answer given.
        ActualAnswer => Input::ActualAnswer,
        /// Steps taken.
        ActualSteps => Input::ActualSteps,
    }
}

/// How kept replies are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheRule {
    /// Known replies are used, new ones are kept.
    ReadWrite,
    /// Known replies are used; a call that is not known fails.
    ReadOnly,
    /// Every call is asked.
    Off,
}

/// The models that judge, and how they are asked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelsSettings {
    /// Writes judgements, and is the built-in agent's model; openai's gpt-4o-mini when no model is
    /// named.
    pub generation: Option<ModelSettings>,
    /// Judges in place of `generation`.
    pub judge: Option<ModelSettings>,
    /// The built-in agent's model in place of `generation`.
    pub agent: Option<ModelSettings>,
    /// Compares meanings, for `answer_relevance`.
    pub embedding: Option<ModelSettings>,
    /// Calls at a time; as many as the server can handle when left out, 16 at most.
    pub concurrency: Option<NonZero<u32>>,
    /// Calls a minute at most.
    pub requests_per_minute: Option<NonZero<u64>>,
    /// Tokens a minute at most, sent and expected.
    pub tokens_per_minute: Option<NonZero<u64>>,
    /// Seconds a reply may take, from when its turn has come; 60 when left out, 600 for servers of
    /// one's own.
    #[schemars(range(min = 0.001, max = 86400))]
    #[serde(deserialize_with = "positive")]
    pub timeout_seconds: Option<f64>,
    /// How often a call that failed for a passing reason is asked again; 5 when left out.
    pub retries: Option<u32>,
    /// The folder replies are kept in, `.juror/llm` when left out; a database
    /// (postgresql://…) that many machines share; or a file of recorded replies (.jsonl) to be used
    /// read-only.
    pub cache: Option<String>,
    /// How the cache is used.
    pub cache_mode: Option<CacheRule>,
    /// US dollars after which nothing more is asked.
    #[schemars(range(min = 0.0))]
    #[serde(deserialize_with = "positive")]
    pub max_cost_usd: Option<f64>,
    /// Prices of your own, in US dollars per million tokens, by model or provider/model.
    #[serde(deserialize_with = "null_as_default")]
    pub prices: BTreeMap<String, PriceSettings>,
}

/// Deserializes a positive number.
pub(crate) fn positive<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    match number {
        Some(number) if !(number > 0.0 && number <= 1e9) => {
            Err(serde::de::Error::custom("expected a number above 0"))
        }
        number => Ok(number),
    }
}

/// What a model takes, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct PriceSettings {
    /// For tokens sent.
    #[schemars(range(min = 0.0))]
    #[serde(deserialize_with = "not_negative")]
    pub input: f64,
    /// For tokens it writes; 0 when left out.
    #[serde(default, deserialize_with = "not_negative")]
    #[schemars(range(min = 0.0))]
    pub output: f64,
}

/// Deserializes a number that is not negative.
fn not_negative<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number >= 0.0 {
        Ok(number)
    } else {
        Err(serde::de::Error::custom("expected a price, 0 or more"))
    }
}

/// A model and its parameters, among which there may be a key: only their names are ever printed.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct ModelSettings {
    /// Who serves it, such as openai, azure, anthropic, gemini, ollama, vllm.
    pub provider: String,
    /// Its name there.
    pub model: String,
    /// The key, or `env:NAME` for the environment variable that holds it.
    pub api_key: Option<String>,
    /// Another address than the provider's own.
    #[serde(alias = "api_base")]
    pub base_url: Option<String>,
    /// Whether that address passes calls on to the provider's own models, so that their kept
    /// replies are the same.
    #[serde(default)]
    pub gateway: bool,
    /// The version of Azure's protocol.
    pub api_version: Option<String>,
    /// Whether replies are streamed.
    #[serde(default)]
    pub stream: bool,
    /// Headers to send along; a value may be `env:NAME`.
    #[serde(default, alias = "extra_headers")]
    pub headers: BTreeMap<String, String>,
    /// Whatever else the provider takes, such as `temperature` and `max_tokens`.
    #[serde(flatten)]
    pub parameters: serde_json::Map<String, Value>,
}

impl ModelSettings {
    /// A model that speaks `OpenAI`'s protocol at an address, or `OpenAI`'s own, with nothing else said.
    pub fn at(base_url: Option<String>, model: &str) -> ModelSettings {
        let provider = if base_url.is_some() { "openai_compatible" } else { "openai" };
        ModelSettings {
            provider: provider.into(),
            model: model.into(),
            api_key: None,
            base_url,
            gateway: false,
            api_version: None,
            stream: false,
            headers: BTreeMap::new(),
            parameters: serde_json::Map::new(),
        }
    }
}

impl std::fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.parameters.keys().collect();
        let mut shown = f.debug_struct("ModelSettings");
        shown.field("provider", &self.provider).field("model", &self.model);
        shown.field("parameters", &names).finish_non_exhaustive()
    }
}

/// Who judges, and how.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeSettings {
    /// How often every verdict is asked for; all are kept, and their mean or majority counts. Once
    /// when left out.
    pub repeats: Option<NonZero<u32>>,
    /// A folder with prompts that take the place of the built-in ones of the same name.
    pub prompts: Option<String>,
    /// Files of `juror calibrate`: means of judged metrics are shown with and without the judge's
    /// errors.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "files_schema")]
    pub calibration: Vec<String>,
}

/// Claims of the answer against the reference answer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerCorrectness {
    /// Off when false.
    pub enabled: Option<bool>,
    /// A prompt of your own with `{question}`, `{reference_answer}` and `{actual_answer}`; its
    /// reply is four values separated by tabs: claims of the reference, of the answer, matching
    /// claims, reason.
    pub prompt: Option<String>,
    /// Who counts claims: the model, or Juror in the lists that a model gives, which is easier for
    /// small models.
    pub method: Option<ClaimsMethod>,
    /// The key of a failed judgement.
    pub error_key: Option<ErrorKeyRule>,
}

/// Who counts claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimsMethod {
    /// The model.
    Counted,
    /// Juror, in the model's lists.
    Listed,
}

/// How near the answer is to its question.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerRelevance {
    /// Off when false.
    pub enabled: Option<bool>,
    /// When an answer counts as evasive.
    pub noncommittal: Option<NoncommittalRule>,
}

/// Words of the answer against those of the reference answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerOverlap {
    /// On when true.
    pub enabled: Option<bool>,
}

/// A metric that can be turned off.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Switch {
    /// Off when false.
    pub enabled: Option<bool>,
}

/// A metric of your own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CustomEvaluation {
    /// Its name.
    pub name: String,
    /// What the model is shown.
    pub inputs: Vec<InputWord>,
    /// What the model is asked to do.
    pub instructions: String,
    /// The values it gives, each with its meaning, in the order in which they are to be given.
    #[schemars(with = "BTreeMap<String, String>")]
    pub outputs: IndexMap<String, Value>,
    /// Of which steps, when steps are shown.
    pub steps_name: Option<String>,
    /// Which parts of those steps.
    pub steps_keys: Option<Vec<StepsKey>>,
}

impl CustomEvaluation {
    /// Returns the aspect that results report.
    fn aspect(&self) -> Aspect {
        Aspect::custom(&self.name, self.outputs.keys().cloned().collect())
    }

    /// Returns what a question needs for the metric to apply.
    fn needs(&self) -> Traits {
        let shows = |wanted: InputWord| self.inputs.contains(&wanted);
        Traits {
            answer: shows(InputWord::ReferenceAnswer),
            steps: shows(InputWord::ReferenceSteps),
            ..Traits::NONE
        }
    }
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepsKey {
    /// What it was called with.
    Args,
    /// What it returned.
    Output,
}

/// Result keys that custom evaluations may not use.
const RESERVED: [&str; 22] = [
    "answer_claims",
    "template_id",
    "question_id",
    "trial",
    "trace_id",
    "span_id",
    "question_text",
    "reference_answer",
    "reference_steps",
    "actual_answer",
    "actual_steps",
    "status",
    "error",
    "answer_reference_claims_count",
    "answer_actual_claims_count",
    "answer_matching_claims_count",
    "answer_correctness_reason",
    "answer_correctness_error",
    "answer_eval_error",
    "answer_relevance_error",
    "judged_by",
    "matches",
];

/// Whether a key is one that results may have already: a metric, or a part of one such as its error.
fn is_reserved(key: &str) -> bool {
    let is_metric = |name: &str| question_metric(name).is_some();
    let (name, part) = split_key(key);
    RESERVED.contains(&key) || is_metric(key) || (part.is_some() && is_metric(name))
}

/// Returns the reserved result key that a name equals, that starts with the name and `_`, or that
/// the name is a part of, such as the error of a metric.
pub fn reserved_key(name: &str) -> Option<&'static str> {
    let is_it = |key: &&str| {
        let rest = key.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let metrics = QUESTION_METRICS.iter().map(|metric| metric.name);
    let (own, part) = split_key(name);
    let of_part = part.and_then(|_| question_metric(own)).map(|metric| metric.name);
    RESERVED.into_iter().chain(metrics).find(is_it).or(of_part)
}

impl Settings {
    /// Reads settings; fails with all of their problems.
    pub fn read(document: &Document) -> Result<Settings, Problems> {
        Settings::read_with(document, &OwnMetrics::default())
    }

    /// Reads settings whose gates may be on metrics of the user's own.
    pub fn read_with(document: &Document, metrics: &OwnMetrics) -> Result<Settings, Problems> {
        document.refuse_repeated_keys()?;
        if document.json().trim() == "null" {
            return Ok(Settings::default());
        }
        if !document.json().trim_start().starts_with('{') {
            let message = "settings are keys with their values".into();
            let hint = Some("for example `profile: 6`".into());
            let problem = Problem::BadSetting { message, hint };
            return Err(document.error_at(Path::default(), problem).into());
        }
        let (mut settings, mut problems) = typed::read_all::<Settings>(document);
        let is_whole = problems.is_empty();
        let mut complaints = Complaints::default();
        settings.check_custom(&mut complaints);
        settings.check_gates(metrics, &problems, &mut complaints);
        settings.check_values(document, is_whole, &mut complaints);
        complaints.report(document, &mut problems);
        let written: Value = serde_json::from_str(document.json()).unwrap_or_default();
        settings.written = without_keys(&written);
        settings.unaskable = settings.check_servers(document);
        problems.sort();
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Complains about custom evaluations that overwrite other keys, or each other's, or do not say
    /// which steps they show.
    fn check_custom(&self, complaints: &mut Complaints) {
        let mut taken: Vec<String> = Vec::new();
        for (index, evaluation) in self.custom_evaluations.iter().enumerate() {
            let path = Path::default().key("custom_evaluations").index(index);
            let aspect = evaluation.aspect();
            let mut own =
                [KeyPart::Error, KeyPart::Cost].map(|part| aspect.key(part).into_owned()).to_vec();
            if is_reserved(&own[0]) || taken.contains(&own[0]) {
                let message = format!("the name `{}` is taken", evaluation.name);
                complaints.add(path.clone().key("name"), message, "choose another name");
            }
            for (at, name) in evaluation.outputs.keys().enumerate() {
                let repeats = aspect.key(KeyPart::Repeats(at)).into_owned();
                let is_taken = |key: &String| taken.contains(key) || own.contains(key);
                let path = path.clone().key("outputs").key(name);
                if is_reserved(name) {
                    let message = format!("the output `{name}` is a key of the results already");
                    complaints.add(path, message, "choose another name");
                } else if is_taken(name) || is_taken(&repeats) {
                    let message = format!("the output `{name}` is given twice");
                    complaints.add(path, message, "choose another name");
                }
                own.extend([name.clone(), repeats]);
            }
            taken.append(&mut own);
            if evaluation.inputs.is_empty() {
                complaints.add(path.clone().key("inputs"), "nothing is shown", "name an input");
            }
            if evaluation.outputs.is_empty() {
                let message = "nothing is asked for";
                complaints.add(
                    path.clone().key("outputs"),
                    message,
                    "name an output and its meaning",
                );
            }
            if evaluation.inputs.iter().any(|input| input.meant().is_steps()) {
                let keys = evaluation.steps_keys.as_deref().unwrap_or_default();
                if evaluation.steps_name.is_none() || keys.is_empty() {
                    let message = "steps are shown, but `steps_name` and `steps_keys` are missing";
                    complaints.add(
                        path,
                        message,
                        "add `steps_name` and `steps_keys: [args, output]`",
                    );
                }
            }
        }
    }

    /// Returns a warning if the settings look like those of the library's release 6, but the rules
    /// of release 5 apply only because no profile was chosen.
    pub fn word_on_profile(&self) -> Option<Notice> {
        let is_meant_for_6 = self.profile.is_none() && is_release_6(&self.written);
        is_meant_for_6.then(|| {
            Notice::new("these settings could be those of the library's release 6, but the rules are those of profile 5")
                .hint(phrase!["choose with `profile: 6` or `profile: 5` in the settings, or with ", option("profile")])
        })
    }

    /// Resolves the settings to a plan.
    pub fn plan(&self) -> Plan {
        let base = self.profile.map_or(Profile::V5, ProfileNumber::profile);
        let mut plan = Plan::new(self.rules_on(base));
        // Whoever decides on failed responses has chosen: only they show the profile of results.
        let is_chosen = self.profile.is_some()
            || self.steps.score_error_responses.is_some()
            || self.aggregates.count_error_responses.is_some();
        plan.profile_of_6 = (!is_chosen).then(|| Box::new(self.rules_on(Profile::V6)));
        for custom in &self.custom_evaluations {
            plan.custom_metrics.extend(custom.outputs.keys().cloned());
            plan.custom_metrics.push(custom.aspect().key(KeyPart::Cost).into_owned());
            plan.custom_needs.resize(plan.custom_metrics.len(), custom.needs());
        }
        plan.gates = self.meant_gates();
        plan
    }

    /// Returns the rules of a profile, with the switches of the settings.
    fn rules_on(&self, base: Profile) -> Profile {
        let (steps, aggregates) = (&self.steps, &self.aggregates);
        let errors = |counted: Option<bool>, otherwise: ErrorResponses| match counted {
            Some(true) => ErrorResponses::CountedIn,
            Some(false) => ErrorResponses::LeftOut,
            None => otherwise,
        };
        Profile {
            scored_groups: steps.scoring.map_or(base.scored_groups, Scoring::meant),
            names: steps.names.map_or(base.names, NameRule::meant),
            choice: steps.choice.map_or(base.choice, ChoiceRule::meant),
            kinds: match &steps.kinds {
                Some(Kinds::Which(rule)) => rule.meant(),
                Some(Kinds::Names(_)) | None => base.kinds,
            },
            kind_names: match &steps.kinds {
                Some(Kinds::Names(names)) => {
                    KindNames::new(names.iter().map(|(name, kind)| (name.clone(), kind.meant())))
                }
                Some(Kinds::Which(_)) | None => base.kind_names,
            },
            without_output: steps
                .match_without_output
                .map_or(base.without_output, WithoutOutputRule::meant),
            missing_status: steps
                .missing_status
                .map_or(base.missing_status, MissingStatusRule::meant),
            steps_of_errors: errors(steps.score_error_responses, base.steps_of_errors),
            statistics_of_errors: errors(
                aggregates.count_error_responses,
                base.statistics_of_errors,
            ),
            micro_steps: aggregates.micro_steps.unwrap_or(base.micro_steps),
            retrieval_in_steps: aggregates.retrieval_in_steps.unwrap_or(base.retrieval_in_steps),
            contexts: steps.contexts.map_or(base.contexts, ContextRule::meant),
            noncommittal: self
                .answer_relevance
                .as_ref()
                .and_then(|relevance| relevance.noncommittal)
                .map_or(base.noncommittal, NoncommittalRule::meant),
            answer_error_key: self
                .answer_correctness
                .as_ref()
                .and_then(|correctness| correctness.error_key)
                .map_or(base.answer_error_key, ErrorKeyRule::meant),
            asked_like: base.asked_like,
            answer_overlap: self
                .answer_overlap
                .and_then(|overlap| overlap.enabled)
                .unwrap_or(base.answer_overlap),
            limits: self.limits.meant(),
        }
    }
}

impl Settings {
    /// The gates, without those that make no sense, which reading the settings has reported.
    pub fn meant_gates(&self) -> Gates {
        Gates {
            gates: self.gates.iter().filter_map(|gate| gate.gate().ok()).collect(),
            coverage: self.coverage.unwrap_or(Share::COVERAGE),
        }
    }
}

/// Returns whether settings could be those that the library reads since release 6: models, and no
/// key that it does not know.
fn is_release_6(written: &Value) -> bool {
    let has_only = |value: &Value, known: &[&str]| {
        let keys = value.as_object().into_iter().flat_map(serde_json::Map::keys);
        keys.into_iter().all(|key| known.contains(&key.as_str()))
    };
    written.pointer("/llm/generation").is_some_and(Value::is_object)
        && has_only(
            written,
            &["llm", "custom_evaluations", "answer_correctness", "answer_relevance"],
        )
        && has_only(&written["llm"], &["generation", "embedding"])
        && has_only(&written["answer_correctness"], &["enabled", "prompt"])
        && has_only(&written["answer_relevance"], &["enabled"])
}

/// Returns the JSON Schema of the settings, for editors.
pub fn settings_schema() -> Value {
    schemars::schema_for!(Settings).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    fn read(yaml: &str) -> Result<Settings, String> {
        let document = Document::new("juror.yaml", yaml.into(), Format::Yaml).expect("YAML");
        Settings::read(&document).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_switch_overrides_its_profile() {
        let settings = read("profile: 6\nsteps: {scoring: last_group}\n").expect("settings");
        let profile = settings.plan().profile;
        assert_eq!(profile, Profile { scored_groups: ScoredGroups::Last, ..Profile::V6 });
    }

    #[test]
    fn limits_can_be_set() {
        let settings =
            read("limits: {table_cells: 5, documents: 6, step_pairs: 7, pairing_work: 8, word_pairs: 9}\n")
                .expect("settings");
        let (table_cells, documents, step_pairs) = (5, 6, 7);
        let (pairing_work, word_pairs) = (8, 9);
        let limits = Limits { table_cells, documents, step_pairs, pairing_work, word_pairs };
        assert_eq!(settings.plan().profile.limits, limits);
        let settings = read("limits:\n  table_cells: 5\n").expect("settings");
        assert_eq!(settings.plan().profile.limits, Limits { table_cells: 5, ..Limits::DEFAULT });
        assert!(read("limits: {table_cells: 0}\n").is_err());
    }

    #[test]
    fn answers_are_compared_word_by_word_only_if_settings_say_so() {
        for (yaml, is_on) in [
            ("answer_overlap: {enabled: true}\n", true),
            ("answer_overlap: {enabled: false}\n", false),
            ("answer_overlap:\n", false),
            ("answer_overlap: {}\n", false),
            ("profile: 6\n", false),
        ] {
            let settings = read(yaml).expect("settings");
            assert_eq!(settings.plan().profile.answer_overlap, is_on, "{yaml}");
            assert_eq!(settings.needs_model(), None, "{yaml}");
        }
        assert!(read("answer_overlap: {enabled: 1}\n").is_err());
        assert!(read("answer_overlap: {rouge: true}\n").is_err());
    }

    #[test]
    fn outputs_are_asked_for_in_the_order_of_the_settings() {
        let settings = read(
            "custom_evaluations:\n- {name: n, inputs: [question], instructions: i, \
             outputs: {why: a, mood: b, a_score: c}}\n",
        );
        let metrics = settings.expect("settings").plan().custom_metrics;
        assert_eq!(metrics, ["why", "mood", "a_score", "n_cost"]);
    }

    #[test]
    fn the_librarys_keys_are_known() {
        let settings = read(
            "llm:\n  generation: {provider: openai, model: m, temperature: 0.0, api_key: k}\n\
             custom_evaluations:\n- name: tone\n  inputs: [question]\n  instructions: judge\n  \
             outputs: {tone_score: 0 to 1}\n",
        );
        assert_eq!(settings.expect("settings").plan().custom_metrics, ["tone_score", "tone_cost"]);
    }

    #[test]
    fn settings_of_release_6_are_not_judged_by_older_rules_without_a_word() {
        let word = |yaml: &str| read(yaml).expect("settings").word_on_profile().is_some();
        let llm = "llm:\n  generation: {provider: openai, model: m, api_key: k}\n";
        assert!(word(llm));
        assert!(word(&format!("{llm}answer_relevance: {{enabled: false}}\n")));
        for chosen in
            ["profile: 5", "profile: 6", "steps: {}", "answer_correctness: {method: listed}"]
        {
            assert!(!word(&format!("{llm}{chosen}\n")), "{chosen}");
        }
        assert!(!word(&format!("{llm}  cache: here\n")), "the library keeps no replies");
        assert!(!word("answer_correctness: {enabled: false}\n"));
    }

    #[test]
    fn nothing_is_all_defaults() {
        assert_eq!(read("").expect("settings").plan().profile, Profile::V5);
        assert_eq!(
            read("steps:\ncustom_evaluations:\n").expect("settings").plan().profile,
            Profile::V5
        );
        assert_eq!(read("# nothing yet\n").expect("settings").plan().profile, Profile::V5);
    }

    #[test]
    fn values_that_cannot_be_meant_are_refused_with_their_places() {
        let model =
            |own: &str| format!("llm:\n  generation: {{provider: openai, model: m, {own}}}\n");
        for (yaml, message) in [
            (model("temperature: 2.1"), "expected a number from 0 to 2, found `2.1`"),
            (model("temperature: -0.1"), "expected a number from 0 to 2, found `-0.1`"),
            (model("temperature: hot"), "expected a number from 0 to 2, found the text `hot`"),
            (model("temperature: true"), "expected a number from 0 to 2, found `true`"),
            (model("max_tokens: 0"), "expected a whole number, 1 or more, found `0`"),
            (model("max_tokens: 1.5"), "expected a whole number, 1 or more, found `1.5`"),
            (model("top_p: 7"), "expected a number from 0 to 1, found `7`"),
        ] {
            let error = read(&yaml).expect_err(message);
            assert!(error.starts_with("juror.yaml:2:"), "{error}");
            assert!(error.contains(message) && error.contains("hint: "), "{error}");
            assert!(error.contains("at llm.generation."), "{error}");
        }
        for (yaml, message) in [
            ("custom_evaluations: []", "there is no custom evaluation in the list"),
            ("llm: {concurrency: 0}", "expected a whole number, 1 or more, found `0`"),
            ("llm: {retries: -1}", "expected a whole number, 0 or more, found `-1`"),
            ("llm: {retries: often}", "expected a whole number, 0 or more, found the text `often`"),
            ("llm: {timeout_seconds: 0}", "expected a number above 0"),
            ("llm: {timeout_seconds: long}", "expected a number, found the text `long`"),
            ("runs: {folder: ' '}", "the folder of runs has no name"),
            ("judge: {repeats: 0}", "expected a whole number, 1 or more, found `0`"),
            (
                "tools: {simulator: {model: {provider: openai, model: m, max_tokens: 0}}}",
                "expected a whole number, 1 or more, found `0`",
            ),
        ] {
            let error = read(yaml).expect_err(message);
            assert!(error.starts_with("juror.yaml:1:") && error.contains(message), "{error}");
        }
        let fine =
            model("temperature: 2, max_tokens: 1, top_p: 1, seed: x, max_completion_tokens: null");
        assert!(read(&fine).is_ok());
    }

    #[test]
    fn all_that_is_wrong_with_settings_is_told_together() {
        let told = |yaml: &str| -> Vec<String> {
            let told = read(yaml).expect_err("wrong settings");
            let places = told.lines().filter_map(|line| line.strip_prefix("juror.yaml:"));
            places.map(str::to_owned).collect()
        };
        let errors = told("steps: {scorin: 1}\nfoo: 3\nprofile: 9\n");
        assert_eq!(errors.len(), 3, "{errors:?}");
        assert!(errors[0].starts_with("1:9: unknown setting `scorin`"), "{errors:?}");
        assert!(errors[1].starts_with("2:1: unknown setting `foo`"), "{errors:?}");
        assert!(errors[2].starts_with("3:10: there is no profile 9"), "{errors:?}");
        let errors = told(
            "llm:\n  concurency: 4\n  timeout_seconds: 0\n  retries: -1\n  \
             generation: {provider: openai, model: 3, temperature: 9}\n",
        );
        let starts = ["2:3: unknown", "3:20: expected", "4:12: expected", "5:41: expected a text"];
        for (error, start) in errors.iter().zip(starts) {
            assert!(error.starts_with(start), "{errors:?}");
        }
        let errors = told(
            "answer_relevance: {enabled: true}\n\
             llm:\n  generation: {provider: openai, model: m}\n  embedding: {provider: 3}\n\
             custom_evaluations:\n- {name: n, inputs: [wrong], instructions: i, outputs: {}, x: 1}\n",
        );
        let starts = ["4:25: expected a text", "6:22: not a value"];
        assert_eq!(errors.len(), starts.len(), "no more follows from these: {errors:?}");
        for (error, start) in errors.iter().zip(starts) {
            assert!(error.starts_with(start), "{errors:?}");
        }
    }

    #[test]
    fn many_values_of_wrong_types_are_not_all_told() {
        let kinds: Vec<String> = (0..500).map(|n| format!("    a{n}: x\n")).collect();
        let told =
            read(&format!("steps:\n  kinds:\n{}", kinds.concat())).expect_err("wrong settings");
        assert_eq!(told.matches(": not a value").count(), 50, "{told}");
        assert!(told.contains("more than 50 settings have the wrong type"), "{told}");
    }

    #[test]
    fn thousands_of_mistakes_are_found_at_once() {
        let kinds: Vec<String> = (0..20_000).map(|n| format!("    a{n}: x\n")).collect();
        let unknown: Vec<String> = (0..20_000).map(|n| format!("x{n}: 1\n")).collect();
        let told = |yaml: &str| read(yaml).expect_err("wrong settings");
        let kinds = told(&format!("steps:\n  kinds:\n{}", kinds.concat()));
        assert_eq!(kinds.matches(": not a value").count(), 50, "{kinds}");
        let unknown = told(&unknown.concat());
        assert!(unknown.contains("1:1: unknown setting `x0`"), "{unknown}");
        assert_eq!(unknown.matches(": unknown setting").count(), Problems::MOST, "{unknown}");
        assert!(unknown.contains("19900 more"), "{unknown}");
    }

    #[test]
    fn values_are_told_as_they_were_meant() {
        let model =
            |own: &str| format!("llm: {{generation: {{provider: openai, model: m, {own}}}}}");
        for (yaml, message) in [
            (model("temperature: '0'"), "expected a number from 0 to 2, found the text `0`"),
            (
                "llm: {max_cost_usd: .inf}".into(),
                "expected a number, found `Infinity`, in YAML `.inf`",
            ),
            (model("temperature: .nan"), "from 0 to 2, found `NaN`, in YAML `.nan`"),
            ("steps: {kinds: {lookup: retreival}}".into(), "hint: did you mean `retrieval`?"),
            ("steps: {kinds: {lookup: x}}".into(), "hint: one of: sparql_query, retrieval, "),
            ("steps: {kinds: [x]}".into(), "hint: one of: document, all; or a mapping of names"),
            ("steps: {scoring: first}".into(), "hint: one of: last_group, all_groups"),
            ("steps: {scoring: last_grup}".into(), "hint: did you mean `last_group`?"),
        ] {
            let error = read(&yaml).expect_err(message);
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn models_that_cannot_be_asked_are_told_where_they_stand() {
        let yaml = "llm:\n  generation: {provider: opnai, model: m}\n  \
                    embedding:\n    provider: openai\n    model: m\n    base_url: localhost\n";
        let document = Document::new("juror.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let settings = Settings::read(&document).expect("settings");
        let told = settings.check_servers(&document).to_string();
        assert!(told.starts_with("juror.yaml:2:26: there is no provider `opnai`"), "{told}");
        assert!(
            told.contains("at llm.generation.provider\n  hint: did you mean `openai`?"),
            "{told}"
        );
        assert!(told.contains("juror.yaml:6:15: `localhost` is not an address"), "{told}");
    }

    #[test]
    fn relevance_without_an_embedding_model_is_refused_where_it_is_asked_for() {
        let yaml =
            "llm: {generation: {provider: openai, model: m}}\nanswer_relevance:\n  enabled: true\n";
        let error = read(yaml).expect_err("no model");
        assert!(error.starts_with("juror.yaml:3:12: there is no embedding model"), "{error}");
        assert!(
            error.ends_with("hint: name one in `llm.embedding`, or leave the metric out"),
            "{error}"
        );
    }

    #[test]
    fn a_metric_that_is_turned_on_and_asks_a_model_needs_one() {
        let needs = |yaml: &str| read(yaml).expect("settings").needs_model();
        for metric in ["answer_correctness", "answer_relevance", "retrieval_answer"] {
            assert_eq!(needs(&format!("{metric}: {{enabled: true}}\n")), Some(metric));
            assert_eq!(needs(&format!("{metric}: {{enabled: false}}\n")), None);
        }
        let contexts = "retrieval_context: {enabled: true}\n";
        assert_eq!(needs(&format!("profile: 6\n{contexts}")), Some("retrieval_context"));
        assert_eq!(needs(&format!("profile: 5\n{contexts}")), None, "texts are compared");
    }

    #[test]
    fn wrong_settings_are_located_with_a_hint() {
        assert_eq!(
            read("profile: 5\nsteps:\n  scorng: last_group\n").expect_err("unknown"),
            "juror.yaml:3:3: unknown setting `scorng`\n  at steps.scorng\n  hint: did you mean `scoring`?"
        );
        let error = read("steps:\n  scoring: first\n").expect_err("no such word");
        assert!(error.starts_with("juror.yaml:2:12: not a value of this setting"), "{error}");
        assert!(error.ends_with("hint: one of: last_group, all_groups"), "{error}");
        let error = read("profile: 7\n").expect_err("no such profile");
        assert!(error.contains("there is no profile 7; choose 5 or 6"), "{error}");
        let custom = "custom_evaluations: [{name: n, inputs: [], instructions: i, outputs: {steps_score: x}}]";
        let error = read(custom).expect_err("reserved");
        assert!(error.contains("`steps_score` is a key of the results already"), "{error}");
    }

    #[test]
    fn outputs_leave_room_for_what_every_repeat_says() {
        let told = |outputs: &str| {
            let custom = "{name: n, inputs: [question], instructions: i, outputs:";
            let read = read(&format!("custom_evaluations: [{custom} {{{outputs}}}}}]"));
            read.err().unwrap_or_default()
        };
        for outputs in ["a: x, a_repeats: y", "a_repeats: y, a: x"] {
            assert!(told(outputs).contains("is given twice"), "{outputs}");
        }
        for output in ["answer_f1_repeats", "trial", "trace_id", "steps_score_error"] {
            let message = format!("`{output}` is a key of the results already");
            assert!(told(&format!("{output}: x")).contains(&message), "{output}");
        }
        assert_eq!(told("a: x, b_repeats: y"), "");
        assert_eq!(told("status_of_stock: x, taste_error: y"), "");
        for (name, key) in [
            ("steps_score_error", Some("steps_score")),
            ("answer", Some("answer_claims")),
            ("span_id", Some("span_id")),
            ("taste_error", None),
        ] {
            assert_eq!(reserved_key(name), key, "{name}");
        }
    }

    #[test]
    fn a_gate_is_reported_once_and_may_be_on_a_metric_of_the_users_own() {
        let gates = |text: &str, own: &[&str]| {
            let document = Document::new("g.yaml", text.into(), Format::Yaml).expect("YAML");
            let names = own.iter().map(ToString::to_string).collect();
            let settings = Settings::read_with(&document, &OwnMetrics { names });
            settings.map(|settings| settings.gates.len()).map_err(|problems| problems.to_string())
        };
        let own = "gates: [{metric: taste_salt, min: 0.5}]";
        assert_eq!(gates(own, &["taste"]), Ok(1));
        let error = gates(own, &[]).expect_err("unknown");
        assert!(error.contains("`taste_salt` is not a metric\n  at gates[0].metric"), "{error}");
        // Looking for the place of each takes as long as the text is.
        let many = format!("gates:\n{}", "- {metric: an}\n".repeat(5_000));
        let error = gates(&many, &[]).expect_err("no limits");
        assert!(error.contains("4900 more"), "{}", &error[error.len() - 300..]);
        let error = gates("gates: [{metric: steps_score, minn: 1}]", &[]).expect_err("misspelt");
        assert!(
            error.ends_with(
                "unknown setting `minn`\n  at gates[0].minn\n  hint: did you mean `min`?"
            )
        );
        assert_eq!(error.lines().count(), 3, "{error}");
        let error =
            gates("gates: [{errors: 1}, {metric: steps_score}]", &[]).expect_err("no limit");
        assert!(error.ends_with("hint: for example `{metric: steps_score, min: 0.8}`"), "{error}");
    }

    #[test]
    fn editors_allow_a_share_in_both_ways_of_writing_it() {
        let schema = settings_schema();
        let coverage = &schema["properties"]["coverage"];
        assert_eq!(coverage["type"], serde_json::json!(["number", "string", "null"]));
        assert!(coverage["description"].is_string(), "{coverage}");
    }
}
