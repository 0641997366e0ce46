//! The settings of virtual tools: the section `tools`, and the public server's own configuration.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;

use juror_document::{Document, Problems};
use juror_mcp::Address;
use juror_models::says_who_asks;
use juror_runs::hidden::{Mask, in_agent, without_credentials};
use juror_tools::{ArgumentRules, FaultRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::settings::{ModelSettings, Settings, null_as_default, positive};

/// Where tools answer from.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolsSettings {
    /// Where tools are described: folders of tool files, documents (`OpenAPI`, functions, MCP
    /// tools), live MCP servers.
    #[serde(deserialize_with = "one_or_many", serialize_with = "as_one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub folder: Vec<String>,
    /// Whether tools are served even if the folder is missing, as the public server does.
    #[serde(skip)]
    #[schemars(skip)]
    pub is_folder_optional: bool,
    /// Where more replies are known, read after those of the store and never changed: cache folders
    /// of the public servers, or other stores of juror's.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub cache: Vec<String>,
    /// The folder that replies are kept in, read and written, `.juror/tools` when left out; or a
    /// database (postgresql://…) that many machines share.
    pub store: Option<String>,
    /// A folder that replies are recorded to and replayed from, in place of a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cassette: Option<String>,
    /// Which arguments are secrets, and which do not identify a call.
    #[serde(deserialize_with = "null_as_default", skip_serializing_if = "ArgumentRules::is_empty")]
    pub r#match: ArgumentRules,
    /// What goes wrong, for a share of calls.
    #[serde(deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRule>,
    /// Decides which calls faults hit; 0 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault_seed: Option<u64>,
    /// Who is asked for a reply, in order; what is configured, when left out. Without `cache`
    /// nothing that is known is read.
    pub sources: Option<Vec<SourceWord>>,
    /// Whether new replies are kept; they are when left out.
    pub keep: Option<bool>,
    /// Whether known replies are passed over, and replaced by new ones.
    pub refresh: Option<bool>,
    /// Whether new replies are also written into the first cache folder.
    pub write_back: Option<bool>,
    /// What happens to a call whose reply is not known.
    pub on_miss: Option<MissWord>,
    /// How the arguments of a call are compared with those of known replies.
    pub arguments: Option<ArgumentsWord>,
    /// How the numbers of a call are compared with those of known replies; `equal` for juror's own
    /// tools and runs, `exact` for other clients, when left out.
    pub numbers: Option<NumbersWord>,
    /// Megabytes of known replies to hold in memory; 1024 when left out.
    pub memory_mb: Option<u32>,
    /// Megabytes of calls that may be on their way; 128 when left out.
    pub in_flight_mb: Option<NonZero<u32>>,
    /// The model that plays tools.
    #[serde(skip_serializing)]
    pub simulator: Option<SimulatorSettings>,
    /// The real tools.
    pub real: Option<RealSettings>,
}

/// Who is asked for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceWord {
    /// Known replies.
    Cache,
    /// A model.
    Simulator,
    /// The tool itself.
    Real,
}

impl SourceWord {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            SourceWord::Cache => "cache",
            SourceWord::Simulator => "simulator",
            SourceWord::Real => "real",
        }
    }
}

/// What happens to a call whose reply is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissWord {
    /// The next source is asked.
    Ask,
    /// The call fails, for exact replay.
    Fail,
}

/// How arguments are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentsWord {
    /// To the letter.
    Exact,
    /// In any order, if there is no exact match.
    AnyOrder,
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumbersWord {
    /// As they are written: `5` is not `5.0`.
    Exact,
    /// By value, if there is no exact match.
    Equal,
}

/// What kind of model plays tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormWord {
    /// Any chat model.
    Chat,
    /// A `MirrorAPI` model.
    Mirror,
    /// A `MirrorAPI` model that was trained on a cache.
    MirrorCache,
}

/// The model that plays tools.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SimulatorSettings {
    /// What kind of model it is; `chat` when left out.
    pub form: Option<FormWord>,
    /// The model; `llm.generation` when left out.
    pub model: Option<ModelSettings>,
    /// A file with what the model is told it is, in place of juror's own text.
    pub prompt: Option<String>,
    /// Whether prompts are exactly those of the public servers.
    #[serde(skip)]
    #[schemars(skip)]
    pub published: bool,
}

/// The real tools.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RealSettings {
    /// Addresses of what answers calls: a `ToolBench` proxy, the API of an `OpenAPI` document, or
    /// MCP servers.
    #[serde(deserialize_with = "one_or_many", serialize_with = "as_one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub proxy: Vec<String>,
    /// The key for them where a request brings none, or `env:NAME`.
    pub key: Option<String>,
    /// Variables named like keys that MCP servers which are commands may see.
    #[serde(deserialize_with = "null_as_default", skip_serializing)]
    pub environment: Vec<String>,
    /// Hosts that may be asked at the addresses in tool files, with headers for each; a header's
    /// value may be `env:NAME`.
    #[serde(deserialize_with = "null_as_default")]
    pub hosts: BTreeMap<String, Option<BTreeMap<String, String>>>,
    /// Which replies are taken; `compatible`, as the public server, when left out.
    pub accept: Option<AcceptWord>,
    /// Seconds a reply may take; 30 when left out.
    #[schemars(range(min = 0.001, max = 86400))]
    #[serde(deserialize_with = "positive")]
    pub timeout_seconds: Option<f64>,
}

/// Which replies of real tools are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcceptWord {
    /// Those that the public server takes.
    Compatible,
    /// All but those that say that they failed.
    Strict,
}

impl std::fmt::Debug for RealSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RealSettings")
            .field("proxy", &self.proxy)
            .field("hosts", &self.hosts.keys())
            .finish_non_exhaustive()
    }
}

/// The store of tool replies if settings name none.
pub const DEFAULT_TOOL_STORE: &str = ".juror/tools";

impl RealSettings {
    /// Removes keys, which affect who pays but not the replies.
    #[must_use]
    pub fn without_secrets(&self) -> RealSettings {
        let open = |proxy: &String| {
            let is_server = Address::is_meant(proxy);
            if is_server { in_agent(proxy, Mask::Hash) } else { without_credentials(proxy) }
        };
        let proxy = self.proxy.iter().map(open).collect();
        let mut open = RealSettings { key: None, proxy, ..self.clone() };
        for (name, value) in open.hosts.values_mut().flatten().flatten() {
            if says_who_asks(name) {
                value.clear();
            }
        }
        open
    }
}

impl ToolsSettings {
    /// Uses tools that the user names, which must exist.
    pub fn name_folders(&mut self, folders: &[String]) {
        if !folders.is_empty() {
            self.folder = folders.to_vec();
            self.is_folder_optional = false;
        }
    }

    /// The addresses of MCP servers that answer calls.
    pub fn servers(&self) -> Vec<String> {
        let proxies = self.real.iter().flat_map(|real| &real.proxy);
        proxies.filter(|proxy| Address::is_meant(proxy)).cloned().collect()
    }

    /// The place of the store: a folder or a database.
    pub fn store_place(&self) -> &str {
        self.store.as_deref().unwrap_or(DEFAULT_TOOL_STORE)
    }

    /// Whether new replies are not kept.
    pub fn only_reads(&self) -> bool {
        self.on_miss == Some(MissWord::Fail) || self.keep == Some(false)
    }

    /// Turns off refreshing, because an external server follows its own settings.
    pub fn leave_to_server(&mut self) {
        self.refresh = None;
    }
}

pub(crate) fn one_or_many<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::<OneOrMany>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(OneOrMany::One(one)) => vec![one],
        Some(OneOrMany::Many(many)) => many,
    })
}

/// Writes a list as one value where it has one, as settings of one value were written.
fn as_one_or_many<S: serde::Serializer>(list: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match list {
        [] => serializer.serialize_none(),
        [one] => serializer.serialize_str(one),
        many => many.serialize(serializer),
    }
}

/// The public server's configuration, `config.yml`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PublicConfig {
    api_key: Option<String>,
    api_base: Option<String>,
    model: Option<String>,
    temperature: Option<f64>,
    toolbench_url: Option<String>,
    tools_folder: Option<String>,
    cache_folder: Option<String>,
    is_save: Option<bool>,
    /// The port to listen on.
    pub port: Option<u16>,
    /// The file to log to.
    pub log_file: Option<String>,
}

/// Keys that only the public server's configuration has.
const PUBLIC_KEYS: [&str; 7] =
    ["api_base", "toolbench_url", "tools_folder", "cache_folder", "is_save", "log_file", "api_key"];

impl PublicConfig {
    /// Reads a document as such a configuration; `None` if it is not one.
    pub fn read(document: &Document) -> Option<Result<PublicConfig, Problems>> {
        let fields: Map<String, Value> = serde_json::from_str(document.json()).ok()?;
        if !fields.keys().any(|key| PUBLIC_KEYS.contains(&key.as_str())) {
            return None;
        }
        Some(crate::settings::read_typed(document))
    }

    /// Converts the configuration to Juror's settings. Folders that do not exist relative to the
    /// working directory are looked up next to the file.
    pub fn settings(&self, file: &str, form: FormWord) -> Settings {
        let beside = Path::new(file).parent().unwrap_or(Path::new(""));
        let place = |name: &String| {
            let other = beside.join(name);
            let is_there = |path: &Path| path.exists();
            if is_there(Path::new(name)) || !is_there(&other) {
                return name.clone();
            }
            other.to_string_lossy().into_owned()
        };
        let is_set = |text: &&String| !text.trim().is_empty();
        // The public server creates a missing folder once it has something to store.
        let is_used = |name: &String| self.is_save == Some(true) || Path::new(name).exists();
        let cache = self.cache_folder.as_ref().filter(is_set).map(place).filter(is_used);
        let proxy = self.toolbench_url.clone().filter(|text| is_set(&text));
        let tools = ToolsSettings {
            folder: self.tools_folder.as_ref().filter(is_set).map(place).into_iter().collect(),
            is_folder_optional: true,
            cache: cache.into_iter().collect(),
            keep: self.is_save,
            write_back: self.is_save,
            real: proxy.map(|proxy| RealSettings { proxy: vec![proxy], ..RealSettings::default() }),
            simulator: self.model.as_ref().map(|model| self.simulator(model, form)),
            ..ToolsSettings::default()
        };
        Settings { tools, ..Settings::default() }
    }

    fn simulator(&self, model: &str, form: FormWord) -> SimulatorSettings {
        let parameters = match form {
            FormWord::Chat => json!({"max_tokens": 1024,
                "temperature": self.temperature.unwrap_or(0.0),
                "response_format": {"type": "json_object"}}),
            FormWord::Mirror | FormWord::MirrorCache => json!({"max_tokens": 2048,
                "temperature": self.temperature.unwrap_or(0.1), "seed": 42}),
        };
        let is_set = |text: &String| !text.trim().is_empty();
        let base_url = self.api_base.clone().filter(is_set);
        let model = ModelSettings {
            api_key: self.api_key.clone().filter(is_set),
            parameters: parameters.as_object().cloned().unwrap_or_default(),
            ..ModelSettings::at(base_url, model)
        };
        SimulatorSettings { form: Some(form), model: Some(model), prompt: None, published: true }
    }
}
