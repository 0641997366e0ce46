//! What a run and its files are called, and what tells it from others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use juror_score::tool::result::file_name;
use serde_json::{Value, json};

use super::pool::Open;
use super::queries::Selected;
use crate::settings::Settings;

/// How an agent is tried.
#[derive(Clone, Copy, Debug)]
pub struct Manner<'m> {
    /// The agent, as users name it.
    pub agent: &'m str,
    /// How it goes about a query, where that can be chosen.
    pub method: Option<&'m str>,
    /// How much of the pool it sees.
    pub open: Open,
}

impl Manner<'_> {
    /// What results say of it.
    pub fn config(&self, queries: &[Selected]) -> BTreeMap<String, Value> {
        let mut config = BTreeMap::from([
            ("test_set".to_owned(), json!(sets_of(queries).join(","))),
            ("agent".to_owned(), json!(self.agent)),
            ("pool".to_owned(), json!(self.open.to_string())),
        ]);
        config.extend(self.method.map(|method| ("method".to_owned(), json!(method))));
        config
    }

    /// What decides what comes of a run, besides the weather.
    pub fn identity(&self, settings: &Settings, queries: &[Selected]) -> Value {
        let id = |own: &Selected| format!("{}/{}", own.set, own.id);
        let ids: Vec<String> = queries.iter().map(id).collect();
        json!({"agent": self.agent, "method": self.method, "pool": self.open.to_string(),
            "queries": ids, "tools": settings.tools.folder, "settings": settings.written})
    }

    /// The file that results are written to where users name none; `limit` is the most queries of
    /// a set, if there is such a number.
    pub fn result_file(&self, name: &str, queries: &[Selected], limit: Option<usize>) -> String {
        let n_tools = match self.open {
            Open::Top(n) => Some(n),
            Open::Search | Open::Own => None,
        };
        format!("results/tools/{}", file_name(name, &sets_of(queries).join("_"), n_tools, limit))
    }
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
        let manner = Manner { agent: "x", method: None, open: Open::Top(20) };
        let file = manner.result_file("mine", &queries(), Some(5));
        assert_eq!(file, "results/tools/mine_20tools_5queries_G1_G2.json");
        let folder = folder_of_run(&file);
        assert_eq!(folder, Path::new(".juror/runs/mine_20tools_5queries_G1_G2"));
    }

    #[test]
    fn results_and_runs_say_how_an_agent_was_tried() {
        let manner = Manner { agent: "x", method: Some("CoT@1"), open: Open::Own };
        let config = json!(manner.config(&queries()));
        let wanted = json!({"test_set": "G1,G2", "agent": "x", "method": "CoT@1", "pool": "own"});
        assert_eq!(config, wanted);
        let without = Manner { method: None, ..manner }.config(&queries());
        assert!(!without.contains_key("method"));
        let identity = manner.identity(&Settings::default(), &queries());
        assert_eq!(identity["queries"], json!(["G1/7", "G2/7"]));
    }
}
