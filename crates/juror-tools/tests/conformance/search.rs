//! Searches a large pool for recorded queries.

use std::collections::HashSet;

use juror_toolbench::Query;
use juror_tools::Catalog;

use crate::data::read;
use crate::pools::Pools;
use crate::recorded_cases;

#[test]
fn most_recorded_gold_is_found() {
    let Some(vectors) = recorded_cases() else { return };
    let Some(catalog) = Pools::beside(&vectors).get("tool_pool_2490/tools") else { return };
    let sets = vectors.join("../data/toolbench/solvable_queries/test_instruction");
    let sets = std::fs::read_dir(sets).expect("sets").flatten();
    let queries: Vec<Query> = sets.flat_map(|set| read(&set.path())).collect();
    let recalls = queries.iter().map(|query| recall(catalog, query));
    let mean = recalls.sum::<f64>() / queries.len() as f64;
    println!("recall@10 of {} queries: {mean:.3}", queries.len());
    assert!(mean > 0.8, "{mean}");
}

/// The share of distinct right pairs among the first ten.
fn recall(catalog: &Catalog, query: &Query) -> f64 {
    let found: HashSet<(&str, &str)> = catalog
        .find(&query.text, 10)
        .iter()
        .filter_map(|found| catalog.api(found.number))
        .map(|(tool, api)| (tool.name.as_str(), api.name.as_str()))
        .collect();
    let gold: HashSet<&(String, String)> = query.gold.iter().collect();
    let n_found = gold.iter().filter(|(tool, api)| found.contains(&(tool, api))).count();
    n_found as f64 / gold.len() as f64
}
