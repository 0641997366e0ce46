//! What tells a run from others: everything that decides what an agent answers.
//!
//! Who judges is left out: verdicts are made anew whenever a run is gone on with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::naming::{Manner, without_secrets};
use super::queries::Selected;
use crate::fingerprint::{file_hash, fingerprint};
use crate::manifest::{Manifest, RunKind, short_hash};
use crate::settings::Settings;
use crate::subject::Headers;
use crate::tool_settings::ToolsSettings;
use crate::tools::Tools;

/// What a run rests on: hashes of its data, and where replies of tools come from.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// Who is asked for replies of tools, in order.
    sources: Vec<&'static str>,
    /// The model that plays tools, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulator: Option<Value>,
    /// Stand for the data.
    data: DataHashes,
}

/// Stand for the data of a run: equal data has equal hashes.
#[derive(Clone, Debug, Serialize)]
struct DataHashes {
    queries: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<String>,
    /// Of each folder of known replies that is only read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    cache: BTreeMap<String, String>,
}

/// What only the agent's side knows of what decides its answers.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The words of its command, where it is one.
    pub words: Vec<String>,
    /// The model that Juror asks for the agent: name, address, parameters.
    pub model: Option<Value>,
    /// The environment that reaches the agent: names, and hashes of values.
    pub environment: BTreeMap<String, String>,
    /// What the agent says of itself.
    pub declared: Option<Value>,
    /// The server of tools, if it is another process.
    pub server: Option<String>,
}

impl Provenance {
    /// What a run with these settings rests on.
    pub fn new(settings: &Settings, tools: &Tools, queries: &[Selected]) -> Provenance {
        let hashes: Vec<String> = queries.iter().map(query_hash).collect();
        let folder = settings.tools.folder.as_deref();
        Provenance {
            sources: tools.sources.clone(),
            simulator: tools.simulator.clone(),
            data: DataHashes {
                queries: short_hash(&hashes.join(" ")),
                tools: folder.map(hash_of),
                cache: cache_hashes(&settings.tools),
            },
        }
    }
}

/// Of what is written to while the run goes on, only the place tells it from others.
fn cache_hashes(tools: &ToolsSettings) -> BTreeMap<String, String> {
    let n_written = usize::from(tools.write_back == Some(true));
    let hashed = |(at, place): (usize, &String)| {
        let hash = if at < n_written { "written to".to_owned() } else { hash_of(place) };
        (place.clone(), hash)
    };
    tools.cache.iter().enumerate().map(hashed).collect()
}

fn hash_of(place: &str) -> String {
    fingerprint(Path::new(place)).unwrap_or_else(|error| format!("unreadable: {error}"))
}

fn query_hash(own: &Selected) -> String {
    short_hash(&format!("{:?}", own.query))
}

impl Manner<'_> {
    /// A run that begins now, and everything that decides what comes of it.
    pub fn run(
        &self,
        settings: &Settings,
        queries: &[Selected],
        provenance: &Provenance,
        reach: &Reach,
    ) -> Manifest {
        let id = |own: &Selected| (format!("{}/{}", own.set, own.id), query_hash(own));
        let queries: BTreeMap<String, String> = queries.iter().map(id).collect();
        // How much is held in memory, and whether more is kept, change no reply; what caches and
        // models there are is told apart.
        let options = ToolsSettings {
            memory_mb: None,
            keep: None,
            write_back: None,
            folder: None,
            cache: Vec::new(),
            simulator: None,
            sources: None,
            ..settings.tools.clone()
        };
        let limits: BTreeMap<&str, &String> =
            self.more.iter().map(|(key, value)| (*key, value)).collect();
        let identity = json!({
            "juror": env!("CARGO_PKG_VERSION"),
            "name": self.name,
            "agent": without_secrets(self.agent),
            "agent files": agent_files(&reach.words),
            "agent's own word": reach.declared,
            "method": self.method,
            "pool": self.open.to_string(),
            "limits": limits,
            "model": reach.model,
            "environment": reach.environment,
            "queries": queries,
            "tools": provenance.data.tools,
            "tool options": short_hash(&format!("{options:?}")),
            "sources": provenance.sources,
            "simulator": provenance.simulator,
            "cache": provenance.data.cache,
            "server": reach.server,
        });
        Manifest::new(RunKind::Bench, self.name, identity)
    }
}

/// The files that an agent's command names, such as its script: another script is another agent.
fn agent_files(words: &[String]) -> BTreeMap<String, String> {
    let files = words.iter().filter(|word| Path::new(word).is_file());
    let hashed = |word: &String| {
        let hash = file_hash(Path::new(word)).ok()?;
        Some((word.clone(), hash.to_hex()[..16].to_owned()))
    };
    files.filter_map(hashed).collect()
}

/// The environment that reaches an agent which is a process, or part of this one: names, and
/// hashes of values. Where users name variables, those alone decide; else all but those that
/// differ from one terminal to the next, and keys, which decide who pays and not what is said.
pub fn agent_environment(
    named: &[String],
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, String> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let all: BTreeMap<String, String> = variables
        .into_iter()
        .map(|(name, value)| (text(name), short_hash(&text(value))[..8].to_owned()))
        .collect();
    if named.is_empty() {
        return all.into_iter().filter(|(name, _)| decides(name)).collect();
    }
    let of = |name: &String| {
        let value = all.get(name).cloned();
        (name.clone(), value.unwrap_or_else(|| "not set".into()))
    };
    named.iter().map(of).collect()
}

/// The headers that are sent to an agent and may decide its answers: names, and hashes of values.
/// Who it is that asks does not decide them.
pub fn agent_headers(headers: &Headers) -> BTreeMap<String, String> {
    let decides =
        |name: &str| decides(name) && !name.ends_with("authorization") && name != "cookie";
    let hash = |value: &[u8]| short_hash(&String::from_utf8_lossy(value))[..8].to_owned();
    let deciding = headers.iter().filter(|(name, _)| decides(name));
    deciding.map(|(name, value)| (format!("header {name}"), hash(value))).collect()
}

/// Variables of shells, terminals, sessions and of jobs of continuous integration.
const PASSING: [&str; 34] = [
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "LINES",
    "COLUMNS",
    "COLORTERM",
    "COLORFGBG",
    "LS_COLORS",
    "NO_COLOR",
    "FORCE_COLOR",
    "PS1",
    "PS2",
    "PROMPT_COMMAND",
    "PAGER",
    "LESS",
    "EDITOR",
    "VISUAL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "STY",
    "WINDOWID",
    "HOSTNAME",
    "HOST",
    "USER",
    "LOGNAME",
    "MAIL",
    "SHELL",
    "GPG_TTY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "RUST_BACKTRACE",
    "TMPDIR",
    "PYTEST_CURRENT_TEST",
];

/// Beginnings of such names.
const PASSING_FAMILIES: [&str; 26] = [
    "JUROR_",
    "TERM",
    "SSH_",
    "XDG_",
    "DBUS_",
    "TMUX",
    "VTE_",
    "WT_",
    "ITERM",
    "KITTY_",
    "ALACRITTY_",
    "GNOME_",
    "KONSOLE_",
    "KDE_",
    "WEZTERM_",
    "VSCODE_",
    "SYSTEMD_",
    "HIST",
    "LESS",
    "GITHUB_",
    "RUNNER_",
    "ACTIONS_",
    "CI_",
    "BUILD_",
    "CARGO_",
    "JENKINS_",
];

fn decides(name: &str) -> bool {
    let is_key = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"]
        .iter()
        .any(|word| name.to_ascii_uppercase().ends_with(word));
    let is_passing = PASSING.contains(&name)
        || PASSING_FAMILIES.iter().any(|beginning| name.starts_with(beginning));
    !is_key && !is_passing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Open;

    fn environment(named: &[&str], variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let own = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        agent_environment(&named, variables.iter().map(own))
    }

    #[test]
    fn what_reaches_an_agent_decides_and_what_passes_does_not() {
        let one = environment(&[], &[("MODEL", "gpt"), ("PATH", "/bin"), ("SHLVL", "1")]);
        let again = environment(&[], &[("MODEL", "gpt"), ("PATH", "/bin"), ("PWD", "/x")]);
        assert_eq!(one, again);
        assert_eq!(one.keys().collect::<Vec<_>>(), ["MODEL", "PATH"]);
        assert_ne!(one, environment(&[], &[("MODEL", "claude"), ("PATH", "/bin")]));
        let keyed = [("MODEL", "gpt"), ("PATH", "/bin"), ("OPENAI_API_KEY", "sk-1")];
        assert_eq!(one, environment(&[], &keyed), "a key decides who pays");
        assert!(!format!("{one:?}").contains("gpt"), "values are never kept");
    }

    #[test]
    fn headers_decide_unless_they_say_who_asks() {
        let headers = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            agent_headers(&Headers::read(&lines, &|_| None).expect("headers"))
        };
        let one = headers(&["X-Model: small", "Authorization: Bearer 1"]);
        assert_eq!(one, headers(&["X-Model: small", "X-Api-Key: 2"]));
        assert_ne!(one, headers(&["X-Model: large"]));
        assert!(!format!("{one:?}").contains("small"), "values are never kept");
    }

    #[test]
    fn named_variables_decide_alone() {
        let one = environment(&["MODEL", "SEED"], &[("MODEL", "gpt"), ("PATH", "/bin")]);
        let again = environment(&["MODEL", "SEED"], &[("MODEL", "gpt"), ("PATH", "/usr/bin")]);
        assert_eq!(one, again);
        assert_eq!(one["SEED"], "not set");
    }

    #[test]
    fn a_changed_script_is_another_agent() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("my agent.py");
        let words = ["python3", &script.to_string_lossy(), "--fast"].map(str::to_owned).to_vec();
        let reach = Reach { words, ..Reach::default() };
        let run = || {
            let manner = Manner { name: "x", agent: "x", method: None, open: Open::Own, more: &[] };
            let data =
                DataHashes { queries: String::new(), tools: None, cache: BTreeMap::default() };
            let provenance = Provenance { sources: Vec::new(), simulator: None, data };
            manner.run(&Settings::default(), &[], &provenance, &reach)
        };
        std::fs::write(&script, "1").expect("written");
        let first = run();
        std::fs::write(&script, "2").expect("written");
        let differences = first.differences(&run());
        assert_eq!(differences, [format!("agent files ({})", script.display())]);
    }
}
