//! The names of a run and its files.

use std::collections::BTreeMap;
use std::path::Path;

use juror_runs::hidden::{Mask, in_agent};
use juror_runs::{plain, short_hash};
use juror_toolbench::result::file_name;
use serde_json::{Value, json};

use crate::identity::AgentIdentity;
use crate::pool::Pool;
use crate::queries::{QuerySelection, Selected};

impl AgentIdentity {
    /// Returns the `config` of the result file: the agent, and how it was run.
    pub(super) fn config(&self, queries: &[Selected]) -> BTreeMap<String, Value> {
        let mut config = BTreeMap::from([
            ("test_set".to_owned(), json!(sets_of(queries).join(","))),
            ("agent".to_owned(), json!(shown_agent(&self.agent))),
            ("pool".to_owned(), json!(self.pool.to_string())),
        ]);
        config.extend(self.method.iter().map(|method| ("method".to_owned(), json!(method))));
        config.extend((self.trials > 1).then(|| ("trials".to_owned(), json!(self.trials))));
        config.extend(self.limits.iter().map(|(key, value)| ((*key).to_owned(), json!(value))));
        config
    }

    /// Returns the default name of the result file. Different parts of a set get different names.
    pub(super) fn result_file(&self, queries: &[Selected], wanted: &QuerySelection) -> String {
        let n_tools = match self.pool {
            Pool::Top(n) => Some(n),
            Pool::Search | Pool::Own | Pool::Nothing => None,
        };
        let own = if self.pool == Pool::Own { "_own" } else { "" };
        let name = format!("{}{own}", plain(&self.name));
        let trials =
            if self.trials > 1 { format!("_{}trials", self.trials) } else { String::new() };
        let shard = wanted.shard.map(|own| format!("_shard{}of{}", own.number, own.of));
        let shard = shard.unwrap_or_default();
        let sets = format!("{}{}{trials}{shard}", sets_of(queries).join("_"), part(wanted));
        // The limit does not apply to queries selected by id.
        let limit = wanted.limit.filter(|_| wanted.ids.is_empty());
        format!("results/tools/{}", file_name(&name, &sets, n_tools, limit))
    }
}

/// The largest number of ids listed in a file name; beyond that it has a count and a hash.
const MOST_IDS: usize = 3;

/// Names the part of the sets that is selected by ids. A part that is not spelled out gets a hash,
/// so that no two parts share a name.
fn part(wanted: &QuerySelection) -> String {
    let of = wanted.filter.as_deref().map(|file| {
        let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        let stem = plain(&stem);
        let is_all = file == format!("{stem}.json");
        format!("_of_{stem}{}", if is_all { String::new() } else { hash_of(file) })
    });
    let only = match wanted.ids.as_slice() {
        [] => String::new(),
        [id] if plain(id) == *id => format!("_only_{id}"),
        ids if ids.len() <= MOST_IDS => {
            format!("_only_{}{}", plain(&ids.join("_")), hash_of(&ids.join("\n")))
        }
        ids => format!("_only_{}ids{}", ids.len(), hash_of(&ids.join("\n"))),
    };
    format!("{}{only}", of.unwrap_or_default())
}

fn hash_of(text: &str) -> String {
    format!("_{}", &short_hash(text)[..8])
}

/// Returns the agent as the user names it, with anything like a key in its command or address
/// masked.
pub fn shown_agent(agent: &str) -> String {
    in_agent(agent, Mask::Stars)
}

/// Returns the sets of the queries, in order.
fn sets_of(queries: &[Selected]) -> Vec<&str> {
    let mut sets: Vec<&str> = queries.iter().map(|own| own.set.as_str()).collect();
    sets.dedup();
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_toolbench::read_queries;

    fn queries() -> Vec<Selected> {
        let json = r#"[{"query_id": 1, "query": "a"}, {"query_id": 2, "query": "b"}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let sets = ["G1", "G2"];
        let select = |(query, set): (_, &str)| {
            let (set, id) = (set.to_owned(), "7".to_owned());
            Selected { set, id, trial: None, query }
        };
        read_queries(&document).0.into_iter().zip(sets).map(select).collect()
    }

    fn identity() -> AgentIdentity {
        let (name, agent) = ("mine".to_owned(), "x".to_owned());
        AgentIdentity { name, agent, pool: Pool::Own, ..AgentIdentity::default() }
    }

    #[test]
    fn a_result_file_is_called_by_its_agent_tools_and_sets() {
        let identity = AgentIdentity { pool: Pool::Top(20), ..identity() };
        let file = identity.result_file(
            &queries(),
            &QuerySelection { limit: Some(5), ..QuerySelection::default() },
        );
        assert_eq!(file, "results/tools/mine_20tools_5queries_G1_G2.json");
    }

    #[test]
    fn results_of_a_part_of_a_set_leave_those_of_the_whole_set_alone() {
        let file = |ids: &[&str], filter: Option<&str>| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            let wanted =
                QuerySelection { ids, filter: filter.map(Into::into), ..QuerySelection::default() };
            identity().result_file(&queries()[..1], &wanted)
        };
        assert_eq!(file(&[], None), "results/tools/mine_own_G1.json");
        assert_eq!(file(&["1"], None), "results/tools/mine_own_G1_only_1.json");
        let two = file(&["2", "a/1"], None);
        assert!(two.starts_with("results/tools/mine_own_G1_only_2_a_1_"), "{two}");
        let many = file(&["1", "2", "3", "4"], None);
        assert!(many.starts_with("results/tools/mine_own_G1_only_4ids_"), "{many}");
        assert_ne!(many, file(&["1", "2", "3", "5"], None));
        let filtered = file(&["1"], Some("few.json"));
        assert_eq!(filtered, "results/tools/mine_own_G1_of_few_only_1.json");
    }

    #[test]
    fn no_two_parts_of_a_set_share_a_file() {
        let file = |ids: &[&str], filter: Option<&str>| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            let wanted =
                QuerySelection { ids, filter: filter.map(Into::into), ..QuerySelection::default() };
            identity().result_file(&queries()[..1], &wanted)
        };
        let parts = [
            file(&["1", "2"], None),
            file(&["1_2"], None),
            file(&["1/2"], None),
            file(&["1 2"], None),
            file(&[], Some("few.json")),
            file(&[], Some("a/few.json")),
            file(&[], Some("b/few.json")),
            file(&[], Some("few.jsonl")),
            file(&[], Some("few")),
        ];
        let others: std::collections::BTreeSet<&String> = parts.iter().collect();
        assert_eq!(others.len(), parts.len(), "{parts:?}");
        assert_eq!(parts[0], file(&["1", "2"], None), "the same part has the same file");
    }

    #[test]
    fn several_trials_leave_the_results_of_one_alone() {
        let tried = AgentIdentity { trials: 3, ..identity() };
        let file = tried.result_file(&queries()[..1], &QuerySelection::default());
        assert_eq!(file, "results/tools/mine_own_G1_3trials.json");
        assert_eq!(tried.config(&queries())["trials"], 3);
    }

    #[test]
    fn results_say_how_an_agent_was_tried() {
        let tried = AgentIdentity { method: Some("CoT@1".into()), ..identity() };
        let config = json!(tried.config(&queries()));
        let wanted = json!({"test_set": "G1,G2", "agent": "x", "method": "CoT@1", "pool": "own"});
        assert_eq!(config, wanted);
        assert!(!identity().config(&queries()).contains_key("method"));
        let keyed = AgentIdentity { agent: "http://me:pw@host/?token=x".into(), ..identity() };
        assert_eq!(keyed.config(&queries())["agent"], "http://host/?token=***");
    }

    #[test]
    fn names_do_no_harm() {
        let identity = AgentIdentity { name: "my/agent".into(), ..identity() };
        let file = identity.result_file(&queries()[..1], &QuerySelection::default());
        assert_eq!(file, "results/tools/my_agent_own_G1.json");
    }
}
