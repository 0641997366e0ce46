//! API Call Score with a whole pool of tools.

use juror_toolbench::answer::read_answer;
use juror_toolbench::names::{LONGEST_NAME, Letters, document_name, official_name, sanitize};
use juror_toolbench::{
    CallScore, Called, Cut, Query, Registry, called_apis, read_queries, unique_names,
};
use serde_json::{Value, json};

use crate::data::queries_of;
use crate::families::document;
use crate::pools::Pools;
use crate::{Checked, recorded_cases, same};

/// Returns `None` if the pool is missing.
pub(crate) fn api_score(input: &Value, wanted: &Value, pools: &Pools) -> Option<Checked> {
    let pool = pools.registry("tool_pool_2490/tools")?;
    let query = read_queries(&document("q.json", &json!([input["query"]]))).0.remove(0);
    Some(check(&query, pool, &input["answer"], wanted))
}

fn check(query: &Query, pool: &Registry, answer: &Value, wanted: &Value) -> Checked {
    let (text, own) = (answer.to_string(), query.registry());
    let answer = read_answer(&text).ok_or("no answer")?;
    let called = called_apis(&answer, &[&own, pool]);
    let shown = |called: &Called<'_>| match called {
        Called::Api(tool, api) => json!([tool, api]),
        Called::Unknown(_) => Value::Null,
    };
    let score = CallScore::of(&called, &query.gold);
    same(&json!(score.score().unwrap_or(0.0)), &wanted["score"])?;
    same(&json!(called.iter().map(shown).collect::<Vec<_>>()), &wanted["called_apis"])
}

/// All names by which a query's APIs may be called, in their order.
fn forms(own: &Registry) -> [(&'static str, Vec<String>); 6] {
    let make = |name: &dyn Fn(&str, &str) -> String| -> Vec<String> {
        own.entries().iter().map(|entry| name(&entry.tool, &entry.api)).collect()
    };
    let sanitized =
        |letters| make(&|tool, api| sanitize(&document_name(tool, api), letters, LONGEST_NAME));
    let identity = |entry: &juror_toolbench::Entry| {
        format!("{}\0{}\0{}", entry.category.as_deref().unwrap_or(""), entry.tool, entry.api)
    };
    let identities: Vec<String> = own.entries().iter().map(identity).collect();
    let unique = unique_names(&sanitized(Letters::Ascii), &identities, Cut::Back);
    [
        ("document", make(&document_name)),
        ("spaced", make(&|tool, api| format!("{tool} {api}"))),
        ("functions", own.function_names().to_vec()),
        ("official", make(&official_name)),
        ("sanitized, told apart", unique),
        ("sanitized", sanitized(Letters::Any)),
    ]
}

#[test]
fn a_perfect_agent_scores_one_by_every_name() {
    let Some(vectors) = recorded_cases() else { return };
    let pools = Pools::beside(&vectors);
    let Some(pool) = pools.registry("tool_pool_2490/tools") else { return };
    let mut n_answers = 0;
    for query in queries_of(&vectors) {
        let own = query.registry();
        for (form, names) in forms(&own) {
            let is_gold = |at: &usize| {
                let entry = &own.entries()[*at];
                query.gold.iter().any(|(tool, api)| *tool == *entry.tool && *api == entry.api)
            };
            let gold: Vec<usize> = (0..names.len()).filter(is_gold).collect();
            // A name that was truncated to another API's name means the first of them.
            let means_it = |at: &usize| {
                let first = names.iter().position(|name| *name == names[*at]).unwrap_or(*at);
                let (first, this) = (&own.entries()[first], &own.entries()[*at]);
                (&first.tool, &first.api) == (&this.tool, &this.api)
            };
            let is_cut = matches!(form, "official" | "sanitized");
            assert!(is_cut || gold.iter().all(means_it), "{form}");
            let reachable: Vec<usize> = gold.iter().copied().filter(means_it).collect();
            let node = |at: &usize| json!({"role": "tool", "message": {"name": names[*at]}});
            let details: Vec<Value> = reachable.iter().map(node).collect();
            let text = json!({"answer": {"answer_details": details}}).to_string();
            let answer = read_answer(&text).expect("an answer");
            let called = called_apis(&answer, &[&own, pool]);
            let score = CallScore::of(&called, &query.gold);
            let n_lost = score.n_gold - score.n_found;
            assert!(n_lost == 0 || reachable.len() < gold.len(), "{form}: {:?}", query.gold);
            assert_eq!(score.n_other_calls, 0, "{form}: {:?}", query.gold);
            n_answers += 1;
        }
    }
    assert_eq!(n_answers, 765 * 6);
}
