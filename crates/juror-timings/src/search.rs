//! Searching a folder of tools.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use juror_toolbench::names::document_name;
use juror_toolbench::{Query, Words, rank_by_words, read_queries};
use juror_tools::{Catalog, Match};

use crate::clock::timed;
use crate::input;

/// The number of APIs requested when timing, as agents do.
const USUAL: usize = 10;

/// The numbers of APIs at which recall is measured.
const CUTS: [usize; 3] = [5, 10, 50];

type Recall = [f64; CUTS.len()];

/// The names of a tool and an API.
type NamePair<'a> = (&'a str, &'a str);

struct Set {
    name: String,
    queries: Vec<Query>,
}

/// Times indexing and searching a folder of tools, and measures recall.
pub(crate) fn run(folder: &str, queries: &str) -> anyhow::Result<()> {
    let sets = read_sets(Path::new(queries))?;
    let (catalog, load_seconds) = timed(|| Catalog::load(Path::new(folder)));
    let catalog = catalog?;
    // The first search builds the index.
    let (_, index_seconds) = timed(|| catalog.find("", 0));
    println!("apis: {}", catalog.n_apis());
    println!("load_seconds: {load_seconds:.6}");
    println!("index_seconds: {index_seconds:.6}");
    tell_times(&catalog, &sets);
    tell_recalls("search", &catalog, &sets, |query| catalog.find(query, CUTS[2]));
    let words = NameWords::new(&catalog);
    tell_recalls("words of names", &catalog, &sets, |query| words.find(query));
    Ok(())
}

/// Reads the queries of every file in a folder that have relevant APIs.
fn read_sets(folder: &Path) -> anyhow::Result<Vec<Set>> {
    let entries = folder.read_dir().with_context(|| format!("`{}`", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let sets: Vec<Set> = paths.iter().map(|path| read_set(path)).collect::<Result<_, _>>()?;
    ensure!(sets.iter().any(|set| !set.queries.is_empty()), "no queries in the folder");
    Ok(sets)
}

fn read_set(path: &Path) -> anyhow::Result<Set> {
    let (mut queries, problems) = read_queries(&input::open(&path.display().to_string())?);
    ensure!(problems.is_empty(), "{problems}");
    queries.retain(|query| !query.gold.is_empty());
    let name = path.file_stem().unwrap_or_default().display().to_string();
    Ok(Set { name, queries })
}

fn tell_times(catalog: &Catalog, sets: &[Set]) {
    let queries = sets.iter().flat_map(|set| &set.queries);
    let time = |query: &Query| timed(|| catalog.find(&query.text, USUAL)).1;
    let mut seconds: Vec<f64> = queries.map(time).collect();
    seconds.sort_by(f64::total_cmp);
    println!("query_seconds_median: {:.6}", seconds[seconds.len() / 2]);
    println!("query_seconds_p99: {:.6}", seconds[seconds.len() * 99 / 100]);
    println!("query_seconds_mean: {:.6}", seconds.iter().sum::<f64>() / seconds.len() as f64);
}

fn tell_recalls<F>(by: &str, catalog: &Catalog, sets: &[Set], find: F)
where
    F: Fn(&str) -> Vec<Match>,
{
    println!("\n{by:20} queries  recall@5  recall@10  recall@50");
    let (mut total, mut n_queries) = (Recall::default(), 0);
    for set in sets {
        let mut sum = Recall::default();
        for query in &set.queries {
            let recall = recall(catalog, query, &find(&query.text));
            sum = std::array::from_fn(|at| sum[at] + recall[at]);
        }
        tell_recall(&set.name, sum, set.queries.len());
        total = std::array::from_fn(|at| total[at] + sum[at]);
        n_queries += set.queries.len();
    }
    tell_recall("all", total, n_queries);
}

fn tell_recall(name: &str, sum: Recall, n_queries: usize) {
    let [five, ten, fifty] = sum.map(|sum| sum / n_queries.max(1) as f64);
    println!("{name:20} {n_queries:7}  {five:8.3}  {ten:9.3}  {fifty:9.3}");
}

/// Returns the share of distinct relevant pairs among the first matches.
fn recall(catalog: &Catalog, query: &Query, matches: &[Match]) -> Recall {
    let gold: HashSet<NamePair<'_>> =
        query.gold.iter().map(|(tool, api)| (tool.as_str(), api.as_str())).collect();
    CUTS.map(|cut| {
        let found = matches.iter().take(cut).filter_map(|found| names_of(catalog, found));
        let found: HashSet<NamePair<'_>> = found.filter(|pair| gold.contains(pair)).collect();
        found.len() as f64 / gold.len() as f64
    })
}

fn names_of<'a>(catalog: &'a Catalog, found: &Match) -> Option<NamePair<'a>> {
    let (tool, api) = catalog.api(found.number)?;
    Some((&tool.name, &api.name))
}

/// Search without an index: names that contain words of the query.
struct NameWords {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl NameWords {
    fn new(catalog: &Catalog) -> NameWords {
        let (mut names, mut numbers) = (Vec::new(), HashMap::new());
        for (number, entry) in catalog.registry().entries().iter().enumerate() {
            let name = document_name(&entry.tool, &entry.api);
            // APIs of the same name are one pair, so it does not matter which of them is found.
            numbers.entry(name.clone()).or_insert(number);
            names.push(name);
        }
        NameWords { names, numbers }
    }

    fn find(&self, query: &str) -> Vec<Match> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let ranked = rank_by_words(query, &names, CUTS[2], Words::Letters);
        let found = ranked.into_iter().map(|name| self.numbers[name]);
        found.map(|number| Match { number, score: 1.0 }).collect()
    }
}
