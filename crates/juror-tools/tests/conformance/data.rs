//! All recorded queries and requests.

use std::path::Path;
use std::process::Command;

use juror_agents::environment::{Environment, Setup, Step};
use juror_document::{Document, Format};
use juror_json::{Object, text_of};
use juror_toolbench::names::document_name;
use juror_toolbench::{FolderNames, IdFilter, Offer, Query, argument_key, read_queries, resolve};

use crate::pools::Pools;
use crate::recorded_cases;

#[test]
fn recorded_requests_have_their_file_and_key() {
    let Some(vectors) = recorded_cases() else { return };
    let path = vectors.join("../data/toolbench/requests_20000.jsonl.gz");
    let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(path).output() else { return };
    let lines = String::from_utf8(unpacked.stdout).expect("UTF-8");
    let mut n_requests = 0;
    for line in lines.lines() {
        let fields: Object<'_> = serde_json::from_str(line).expect("JSON");
        let body: Object<'_> =
            serde_json::from_str(fields.get("body").expect("a body").get()).expect("an object");
        let text = |name| text_of(body.get(name).expect("a field")).expect("a text");
        let names =
            FolderNames::as_requested(&text("category"), &text("tool_name"), &text("api_name"));
        let wanted = |name| text_of(fields.get(name).expect("a field")).expect("a text");
        assert_eq!(names.cache_file(), wanted("cache_file"), "{line}");
        let key = argument_key(body.get("tool_input").expect("an input"));
        assert_eq!(key.expect("JSON"), wanted("key"), "{line}");
        n_requests += 1;
    }
    println!("{n_requests} requests have their file and key");
}

#[test]
fn recorded_gold_is_found_by_every_name() {
    let Some(vectors) = recorded_cases() else { return };
    let folder = vectors.join("../data/toolbench/solvable_queries");
    let pools = Pools::beside(&vectors);
    let Some(catalog) = pools.get("tool_pool_2490/tools") else { return };
    let pool = catalog.registry();
    let (mut n_queries, mut n_gold) = (0, 0);
    for set in std::fs::read_dir(folder.join("test_instruction")).expect("sets").flatten() {
        let queries = read(&set.path());
        let ids = document(&folder.join("test_query_ids").join(set.file_name()));
        let (filter, problems) = IdFilter::read(&ids);
        assert!(problems.is_empty(), "{problems}");
        assert_eq!(filter.select(&queries, None).len(), queries.len(), "{:?}", set.path());
        for query in &queries {
            let own = query.registry();
            for (tool, api) in &query.gold {
                let is_gold = |name: &str| {
                    resolve(name, &[&own, pool])
                        .is_some_and(|entry| *entry.tool == **tool && entry.api == *api)
                };
                let at = own.position(&document_name(tool, api)).expect("gold is listed");
                assert!(is_gold(&document_name(tool, api)), "{tool} {api}");
                assert!(is_gold(&own.function_names()[at]), "{tool} {api}");
                n_gold += 1;
            }
        }
        n_queries += queries.len();
    }
    assert_eq!((n_queries, n_gold), (765, 1799));
}

#[test]
fn every_function_of_a_recorded_query_calls_its_own_api() {
    let Some(vectors) = recorded_cases() else { return };
    let folder = vectors.join("../data/toolbench/solvable_queries/test_instruction");
    let pools = Pools::beside(&vectors);
    let Some(catalog) = pools.get("tool_pool_2490/tools") else { return };
    let mut n_functions = 0;
    for set in std::fs::read_dir(folder).expect("sets").flatten() {
        for query in &read(&set.path()) {
            let environment = Environment::new(&catalog.offers_of(query), &Setup::default());
            for (function, target) in environment.functions().zip(environment.targets()) {
                let step = environment.step(&function.name, "{}");
                let Step::Call(call) = step else { panic!("{}", function.name) };
                assert_eq!(*call.target, *target, "{}", function.name);
                n_functions += 1;
            }
        }
    }
    assert_eq!(n_functions, 4070);
}

#[test]
fn recorded_queries_call_their_apis_as_the_catalog_does_and_older_names_lead_back() {
    let Some(vectors) = recorded_cases() else { return };
    let pools = Pools::beside(&vectors);
    let Some(catalog) = pools.get("tool_pool_2490/tools") else { return };
    let (mut n_functions, mut n_renamed) = (0, 0);
    for query in &queries_of(&vectors) {
        let own = query.registry();
        let offers = catalog.offers_of(query);
        // Earlier releases named the APIs of a query only so far that they differ from each other.
        let unnamed: Vec<Offer<'_>> =
            offers.iter().map(|offer| Offer { name: None, ..*offer }).collect();
        let names = |offers: &[Offer<'_>]| -> Vec<String> {
            let environment = Environment::new(offers, &Setup::default());
            environment.functions().map(|function| function.name.clone()).collect()
        };
        let (names, older) = (names(&offers), names(&unnamed));
        for ((offer, name), older) in offers.iter().zip(&names).zip(&older) {
            assert!(offer.name.is_none_or(|known| known == name), "{name}");
            for name in [name, older] {
                let entry = resolve(name, &[&own, catalog.registry()]).expect("an API");
                assert_eq!((&*entry.tool, &entry.api), (offer.tool, &offer.api.name), "{name}");
            }
            n_functions += 1;
            if name != older {
                println!("{older} -> {name}");
                n_renamed += 1;
            }
        }
    }
    println!("{n_renamed} of {n_functions} functions have another name than a query alone gives");
    assert_eq!(n_functions, 4070);
}

/// All recorded queries, set by set.
pub(crate) fn queries_of(vectors: &Path) -> Vec<Query> {
    let folder = vectors.join("../data/toolbench/solvable_queries/test_instruction");
    std::fs::read_dir(folder).expect("sets").flatten().flat_map(|set| read(&set.path())).collect()
}

pub(crate) fn read(path: &Path) -> Vec<Query> {
    let (queries, problems) = read_queries(&document(path));
    assert!(problems.is_empty(), "{problems}");
    queries
}

fn document(path: &Path) -> Document {
    let bytes = std::fs::read(path).expect("a file");
    Document::new(&path.display().to_string(), bytes, Format::Json).expect("UTF-8")
}
