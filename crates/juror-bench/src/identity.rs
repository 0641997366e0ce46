//! The identity of a run: everything that affects what an agent answers.
//!
//! The judge is not part of it, because verdicts are recomputed whenever a run is resumed.

use std::collections::BTreeMap;
use std::path::Path;

use juror_mcp::Address;
use juror_postgres::shown_place;
use juror_run::{RealSettings, Settings, ToolsSettings};
use juror_runs::hidden::{Mask, in_address, in_agent};
use juror_runs::{
    BenchIdentity, Manifest, RunKind, ShardIdentity, file_hash, fingerprint, short_hash,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::known_replies::ReplyPlace;
use crate::pool::Pool;
use crate::queries::Selected;
use crate::query_hash::query_hash;
use crate::tools::Tools;

/// The data behind a run: hashes, and the sources of tool replies.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// The sources of tool replies, in order; unknown for an external server.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<&'static str>>,
    /// The model that simulates tools, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulator: Option<Value>,
    /// Hashes of the data.
    data: DataHashes,
}

impl Provenance {
    /// Returns whether a simulator may be used; an external server counts, since it may have one.
    pub(super) fn may_simulate(&self) -> bool {
        self.sources.as_ref().is_none_or(|sources| sources.contains(&"simulator"))
    }
}

/// Hashes of a run's data: equal data has equal hashes.
#[derive(Clone, Debug, Serialize)]
struct DataHashes {
    queries: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<String>,
    /// Hashes of the read-only places of known replies.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    cache: BTreeMap<String, String>,
}

/// Everything about an agent, and how it is run, that affects the outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentIdentity {
    /// The agent's name.
    pub(super) name: String,
    /// The agent as the user writes it.
    pub(super) agent: String,
    /// The agent's method, if it has one to choose.
    pub(super) method: Option<String>,
    /// How much of the pool the agent sees.
    pub(super) pool: Pool,
    /// How often the agent is tried on each query.
    pub(super) trials: u16,
    /// The built-in agent's model and limits.
    pub(super) limits: Vec<(&'static str, String)>,
    /// The program and arguments of the agent's command, if it is one.
    pub(super) words: Vec<String>,
    /// The model that Juror calls for the agent: name, address, parameters.
    pub(super) model: Option<Value>,
    /// The environment that reaches the agent: names, and hashes of values.
    pub(super) environment: BTreeMap<String, String>,
    /// The agent's description of itself.
    pub(super) declared: Option<Value>,
    /// Whether this process answers tool calls.
    pub(super) answers_calls: bool,
    /// The tool server, if it is another process.
    pub(super) server: Option<String>,
    /// Which part of a list the queries are.
    pub(super) shard: Option<ShardIdentity>,
}

impl Provenance {
    /// Describes the data behind a run with these settings. If an external server answers calls, no
    /// local replies are involved.
    pub fn new(
        settings: &Settings,
        tools: &Tools,
        queries: &[Selected],
        is_elsewhere: bool,
    ) -> Provenance {
        let hashes: Vec<String> = queries.iter().map(|own| query_hash(&own.query)).collect();
        let is_here = !is_elsewhere;
        Provenance {
            sources: is_here.then(|| tools.sources.clone()),
            simulator: tools.simulator.clone().filter(|_| is_here),
            data: DataHashes {
                queries: short_hash(&hashes.join(" ")),
                tools: tools_hash(&settings.tools.folder),
                cache: if is_here { cache_hashes(&tools.places) } else { BTreeMap::new() },
            },
        }
    }
}

/// Places that the run writes to count by name only, not by content.
fn cache_hashes(places: &[ReplyPlace]) -> BTreeMap<String, String> {
    let hashed = |place: &ReplyPlace| match &place.read {
        Some(path) => (place.name.clone(), hash_of(path)),
        None => (place.name.clone(), "written to".to_owned()),
    };
    places.iter().map(hashed).collect()
}

/// Hashes the settings that affect how calls are answered, without keys.
fn tool_options(tools: &ToolsSettings) -> String {
    // How much is held in memory, and whether new replies are stored, changes no reply. Caches and
    // models are recorded elsewhere in the identity. The limit on calls in flight stays, because a
    // refused call has no reply.
    let options = ToolsSettings {
        memory_mb: None,
        keep: None,
        write_back: None,
        folder: Vec::new(),
        cache: Vec::new(),
        sources: None,
        store: tools.store.as_deref().map(shown_place),
        real: tools.real.as_ref().map(RealSettings::without_secrets),
        ..tools.clone()
    };
    short_hash(&json!(options).to_string())
}

/// Hashes where tools are described; a live server counts by its address.
fn tools_hash(names: &[String]) -> Option<String> {
    let hash = |name: &String| {
        let is_server = Address::is_meant(name);
        if is_server { short_hash(&in_agent(name, Mask::Hash)) } else { hash_of(Path::new(name)) }
    };
    match names {
        [] => None,
        [one] => Some(hash(one)),
        many => Some(short_hash(&many.iter().map(hash).collect::<Vec<_>>().join(" "))),
    }
}

fn hash_of(place: &Path) -> String {
    fingerprint(place).unwrap_or_else(|error| format!("unreadable: {error}"))
}

impl AgentIdentity {
    /// Creates the manifest of a run that starts now, with everything that affects its outcome.
    pub(super) fn manifest(
        &self,
        settings: &Settings,
        queries: &[Selected],
        provenance: &Provenance,
    ) -> Manifest {
        let id = |own: &Selected| (format!("{}/{}", own.set, own.id), query_hash(&own.query));
        let limit = |(key, value): &(&str, String)| ((*key).to_owned(), value.clone());
        let sources = provenance.sources.as_ref();
        let identity = BenchIdentity {
            juror: env!("CARGO_PKG_VERSION").into(),
            name: self.name.clone(),
            agent: in_agent(&self.agent, Mask::Hash),
            agent_files: agent_files(&self.words),
            declared: self.declared.clone(),
            method: self.method.clone(),
            pool: self.pool.to_string(),
            limits: self.limits.iter().map(limit).collect(),
            model: self.model.clone(),
            environment: self.environment.clone(),
            queries: queries.iter().map(id).collect(),
            trials: self.trials.max(1).into(),
            tools: provenance.data.tools.clone(),
            tool_options: self.answers_calls.then(|| tool_options(&settings.tools)),
            sources: sources.map(|sources| sources.iter().map(|own| (*own).into()).collect()),
            simulator: provenance.simulator.clone(),
            cache: provenance.data.cache.clone(),
            server: self.server.as_deref().map(|address| in_address(address, Mask::Hash)),
            shard: self.shard.clone(),
        };
        Manifest::new(RunKind::Bench, &self.name, json!(identity))
    }
}

/// Hashes the files named in the agent's command, such as its script: another script is another
/// agent.
fn agent_files(words: &[String]) -> BTreeMap<String, String> {
    let files = words.iter().filter(|word| Path::new(word).is_file());
    let hashed = |word: &String| Some((word.clone(), file_hash(Path::new(word)).ok()?));
    files.filter_map(hashed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(agent: &str, settings: &Settings, identity: &AgentIdentity) -> Manifest {
        let (name, agent, pool) = ("x".to_owned(), agent.to_owned(), Pool::Own);
        let answers_calls = identity.server.is_none();
        let identity = AgentIdentity { name, agent, pool, answers_calls, ..identity.clone() };
        let data = DataHashes { queries: String::new(), tools: None, cache: BTreeMap::default() };
        let provenance = Provenance { sources: None, simulator: None, data };
        identity.manifest(settings, &[], &provenance)
    }

    fn settings_of(tools: ToolsSettings) -> Settings {
        let mut settings = Settings::default();
        settings.tools = tools;
        settings
    }

    #[test]
    fn every_word_of_a_command_decides_and_no_key_is_written() {
        let of = |agent: &str| run(agent, &Settings::default(), &AgentIdentity::default());
        for (one, other) in [
            ("command:a --max-tokens 256", "command:a --max-tokens 4096"),
            ("command:env MAX_TOKENS=1 a", "command:env MAX_TOKENS=2 a"),
            ("command:a --stop-token hush1", "command:a --stop-token hush2"),
            ("http://host/?token=hush1", "http://host/?token=hush2"),
        ] {
            assert_eq!(of(one).differences(&of(other)), ["agent"], "{one}");
            assert!(!of(one).identity.to_string().contains("hush"), "{one}");
        }
    }

    #[test]
    fn a_run_of_several_trials_is_another_run() {
        let of = |trials| {
            let identity = AgentIdentity { trials, ..AgentIdentity::default() };
            run("x", &Settings::default(), &identity)
        };
        assert_eq!(of(1).identity["trials"], 1);
        assert_eq!(of(1).differences(&of(3)), ["trials"]);
        assert_eq!(of(3).differences(&of(5)), ["trials"]);
    }

    #[test]
    fn every_setting_of_tools_that_decides_replies_makes_another_run() {
        let of = |tools: Value| {
            let tools = serde_json::from_value(tools).expect("settings");
            run("x", &settings_of(tools), &AgentIdentity::default())
        };
        let one = of(json!({"real": {"proxy": "http://p", "hosts": {"h": {"X-Api-Key": "1"}}}}));
        for other in [
            json!({"accept": "strict", "proxy": "http://p", "hosts": {"h": {"X-Api-Key": "1"}}}),
            json!({"timeout_seconds": 5, "proxy": "http://p", "hosts": {"h": {"X-Api-Key": "1"}}}),
            json!({"proxy": "http://p", "hosts": {"h": {"X-Api-Key": "1", "X-Route": "b"}}}),
            json!({"proxy": "http://q", "hosts": {"h": {"X-Api-Key": "1"}}}),
        ] {
            assert_eq!(one.differences(&of(json!({"real": other}))), ["tool options"], "{other}");
        }
        for other in [
            json!({"on_miss": "fail"}),
            json!({"arguments": "any_order"}),
            json!({"numbers": "exact"}),
            json!({"refresh": true}),
            json!({"in_flight_mb": 1}),
            json!({"store": "elsewhere"}),
        ] {
            assert_eq!(of(json!({})).differences(&of(other.clone())), ["tool options"], "{other}");
        }
        let real = json!({"proxy": "http://p", "key": "2", "hosts": {"h": {"X-Api-Key": "2"}}});
        let again = of(json!({"real": real, "memory_mb": 5, "keep": false}));
        assert!(one.differences(&again).is_empty(), "keys decide who pays");
    }

    #[test]
    fn what_is_set_here_says_nothing_of_a_server_elsewhere() {
        let identity =
            AgentIdentity { server: Some("http://host".into()), ..AgentIdentity::default() };
        let of = |tools: Value| {
            let tools = serde_json::from_value(tools).expect("settings");
            run("x", &settings_of(tools), &identity)
        };
        assert!(of(json!({})).differences(&of(json!({"on_miss": "fail"}))).is_empty());
    }

    #[test]
    fn passwords_of_a_server_are_not_written() {
        let identity = AgentIdentity {
            server: Some("http://me:hush@host".into()),
            ..AgentIdentity::default()
        };
        let run = run("x", &Settings::default(), &identity);
        assert_eq!(run.identity["server"], "http://host");
    }

    #[test]
    fn a_changed_script_is_another_agent() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("my agent.py");
        let words = ["python3", &script.to_string_lossy(), "--fast"].map(str::to_owned).to_vec();
        let identity = AgentIdentity { words, ..AgentIdentity::default() };
        let run = || run("x", &Settings::default(), &identity);
        std::fs::write(&script, "1").expect("written");
        let first = run();
        std::fs::write(&script, "2").expect("written");
        let differences = first.differences(&run());
        assert_eq!(differences, [format!("agent files ({})", script.display())]);
    }
}
