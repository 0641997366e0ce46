//! What a run and its files are called, and what tells it from others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use juror_score::tool::result::file_name;
use serde_json::{Value, json};

use super::pool::Open;
use super::queries::Selected;
use crate::settings::Settings;
use crate::tool_settings::ToolsSettings;

/// How an agent is tried.
#[derive(Clone, Copy, Debug)]
pub struct Manner<'m> {
    /// The agent, as users name it.
    pub agent: &'m str,
    /// How it goes about a query, where that can be chosen.
    pub method: Option<&'m str>,
    /// How much of the pool it sees.
    pub open: Open,
    /// What else there is to say of it: its model, its limits.
    pub more: &'m [(&'m str, String)],
}

impl Manner<'_> {
    /// What results say of it.
    pub fn config(&self, queries: &[Selected]) -> BTreeMap<String, Value> {
        let mut config = BTreeMap::from([
            ("test_set".to_owned(), json!(sets_of(queries).join(","))),
            ("agent".to_owned(), json!(without_secrets(self.agent))),
            ("pool".to_owned(), json!(self.open.to_string())),
        ]);
        config.extend(self.method.map(|method| ("method".to_owned(), json!(method))));
        config.extend(self.more.iter().map(|(key, value)| ((*key).to_owned(), json!(value))));
        config
    }

    /// What decides what comes of a run, besides the weather. Who judges is left out: what was
    /// answered can be judged anew.
    pub fn identity(&self, settings: &Settings, queries: &[Selected]) -> Value {
        let id = |own: &Selected| format!("{}/{}", own.set, own.id);
        let ids: Vec<String> = queries.iter().map(id).collect();
        let texts: Vec<&str> = queries.iter().map(|own| own.query.text.as_str()).collect();
        // How much is held in memory, and whether more is kept, change no reply.
        let options = ToolsSettings {
            memory_mb: None,
            keep: None,
            write_back: None,
            ..settings.tools.clone()
        };
        let mut identity = json!({
            "juror": env!("CARGO_PKG_VERSION"), "agent": without_secrets(self.agent),
            "method": self.method, "pool": self.open.to_string(), "queries": ids,
            "query texts": hash(&texts.join("\n")), "tools": settings.tools.folder,
            "tool options": hash(&format!("{options:?}")),
        });
        for (key, value) in self.more {
            identity[*key] = json!(value);
        }
        identity
    }

    /// The file that results are written to where users name none; `limit` is the most queries of
    /// a set, if there is such a number.
    pub fn result_file(&self, name: &str, queries: &[Selected], limit: Option<usize>) -> String {
        let n_tools = match self.open {
            Open::Top(n) => Some(n),
            Open::Search | Open::Own => None,
        };
        let own = if self.open == Open::Own { "_own" } else { "" };
        let name = format!("{}{own}", plain(name));
        format!("results/tools/{}", file_name(&name, &sets_of(queries).join("_"), n_tools, limit))
    }
}

/// A name that can be a part of the name of a file.
pub fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '_' };
    name.chars().map(plain).collect()
}

/// An agent as users name it, without what looks like a key in its command.
fn without_secrets(agent: &str) -> String {
    let is_secret = |word: &str| {
        let word = word.to_lowercase();
        ["key", "token", "secret", "password"].iter().any(|name| word.contains(name))
    };
    let mut follows_name = false;
    let shown = agent.split(' ').map(|word| {
        let hides = follows_name && !word.starts_with('-');
        follows_name = word.starts_with('-') && !word.contains('=') && is_secret(word);
        match word.split_once('=') {
            _ if hides => "***".to_owned(),
            Some((name, _)) if is_secret(name) => format!("{name}=***"),
            _ => word.to_owned(),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// The folder of a run where users name none, given the file of its results.
pub fn folder_of_run(result_file: &str) -> PathBuf {
    let stem = Path::new(result_file).file_stem().unwrap_or_default();
    Path::new(".juror/runs").join(stem)
}

/// The sets that queries are from, in order.
fn sets_of(queries: &[Selected]) -> Vec<&str> {
    let mut sets: Vec<&str> = queries.iter().map(|own| own.set.as_str()).collect();
    sets.dedup();
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::read::{Document, Format};
    use juror_score::tool::read_queries;

    fn queries() -> Vec<Selected> {
        let json = r#"[{"query_id": 1, "query": "a"}, {"query_id": 2, "query": "b"}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let sets = ["G1", "G2"];
        let select = |(query, set): (_, &str)| Selected { set: set.into(), id: "7".into(), query };
        read_queries(&document).0.into_iter().zip(sets).map(select).collect()
    }

    #[test]
    fn a_run_is_called_by_its_agent_tools_and_sets() {
        let manner = Manner { agent: "x", method: None, open: Open::Top(20), more: &[] };
        let file = manner.result_file("mine", &queries(), Some(5));
        assert_eq!(file, "results/tools/mine_20tools_5queries_G1_G2.json");
        let folder = folder_of_run(&file);
        assert_eq!(folder, Path::new(".juror/runs/mine_20tools_5queries_G1_G2"));
    }

    #[test]
    fn results_and_runs_say_how_an_agent_was_tried() {
        let manner = Manner { agent: "x", method: Some("CoT@1"), open: Open::Own, more: &[] };
        let config = json!(manner.config(&queries()));
        let wanted = json!({"test_set": "G1,G2", "agent": "x", "method": "CoT@1", "pool": "own"});
        assert_eq!(config, wanted);
        let without = Manner { method: None, ..manner }.config(&queries());
        assert!(!without.contains_key("method"));
        let identity = manner.identity(&Settings::default(), &queries());
        assert_eq!(identity["queries"], json!(["G1/7", "G2/7"]));
    }
    #[test]
    fn names_and_keys_do_no_harm() {
        assert_eq!(plain("../my agent"), ".._my_agent");
        let manner = Manner { agent: "x", method: None, open: Open::Own, more: &[] };
        let file = manner.result_file("my/agent", &queries()[..1], None);
        assert_eq!(file, "results/tools/my_agent_own_G1.json");
        for (agent, shown) in [
            ("command:python a.py --model m", "command:python a.py --model m"),
            ("command:python a.py --api-key sk-1 -v", "command:python a.py --api-key *** -v"),
            (
                "command:env OPENAI_API_KEY=sk-1 a --token=x",
                "command:env OPENAI_API_KEY=*** a --token=***",
            ),
            ("command:a --token --fast", "command:a --token --fast"),
        ] {
            assert_eq!(without_secrets(agent), shown);
        }
    }
}
