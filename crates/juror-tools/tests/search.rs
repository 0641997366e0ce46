//! Properties of searches, for any tools and queries.

use juror_toolbench::{Api, Parameters, Tool};
use juror_tools::{Match, Search};
use proptest::collection::vec;
use proptest::prelude::*;

/// Few words, so that they collide, and some that are hard to split.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["weather", "Cities", "getUser", "user_id", "the", "天气", "IDs"])
            .prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ];
    vec(word, 0..5).prop_map(|words| words.join(" "))
}

fn api() -> impl Strategy<Value = Api> {
    (text(), text()).prop_map(|(name, description)| Api {
        name,
        description,
        method: String::new(),
        url: String::new(),
        required: Parameters::default(),
        optional: Parameters::default(),
        schema: None,
        described: None,
    })
}

fn tool() -> impl Strategy<Value = Tool> {
    (text(), text(), vec(api(), 0..5)).prop_map(|(name, description, apis)| Tool {
        category: None,
        name,
        description,
        host: String::new(),
        file: String::new(),
        apis,
    })
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    vec(tool(), 0..6)
}

/// The names of APIs and of their tools, in order.
fn names(tools: &[Tool]) -> Vec<(&str, &str)> {
    tools.iter().flat_map(|tool| tool.apis.iter().map(|api| (&*tool.name, &*api.name))).collect()
}

proptest! {
    #[test]
    fn matches_are_among_the_tools_once_and_in_order(tools in tools(), query in text()) {
        let matches = Search::new(&tools).find(&query, usize::MAX);
        for found in &matches {
            prop_assert!(found.number < names(&tools).len());
            prop_assert!(found.score > 0.0 && found.score.is_finite());
        }
        for pair in matches.windows(2) {
            let (one, other) = (pair[0], pair[1]);
            let in_order = one.number < other.number;
            prop_assert!(one.score > other.score || one.score == other.score && in_order);
        }
        let mut unique: Vec<usize> = matches.iter().map(|found| found.number).collect();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), matches.len());
    }

    #[test]
    fn fewer_matches_are_the_first_of_more(
        tools in tools(), query in text(), fewer in 0_usize..8, further in 0_usize..8,
    ) {
        let search = Search::new(&tools);
        let (few, more) = (search.find(&query, fewer), search.find(&query, fewer + further));
        prop_assert!(few.len() <= fewer);
        prop_assert_eq!(&more[..few.len()], &few[..]);
        prop_assert_eq!(few.len(), more.len().min(fewer));
    }

    #[test]
    fn the_same_is_found_by_every_index_of_the_same_tools(tools in tools(), query in ".{0,40}") {
        prop_assert_eq!(
            Search::new(&tools).find(&query, 9),
            Search::new(&tools).find(&query, 9)
        );
    }

    #[test]
    fn the_order_of_words_does_not_matter(tools in tools(), query in vec("[a-z]{1,3}|user|id|the", 0..6)) {
        let search = Search::new(&tools);
        let backwards: Vec<&str> = query.iter().rev().map(String::as_str).collect();
        // If the query is a name, the order of its words matters.
        prop_assume!(!query.is_empty());
        let odd = "zzzz";
        let forwards = format!("{odd} {}", query.join(" "));
        let backwards = format!("{odd} {}", backwards.join(" "));
        prop_assert_eq!(search.find(&forwards, 9), search.find(&backwards, 9));
    }

    #[test]
    fn whoever_knows_a_name_finds_it_first(tools in tools(), pick in any::<prop::sample::Index>()) {
        let names = names(&tools);
        let apis: Vec<&str> = names
            .iter()
            .map(|(_, api)| *api)
            .filter(|name| name.contains(char::is_alphanumeric))
            .collect();
        prop_assume!(!apis.is_empty());
        let name = apis[pick.index(apis.len())];
        let matches = Search::new(&tools).find(name, usize::MAX);
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let is_named = |found: &Match| {
            let (tool, api) = names[found.number];
            let (tool, api) = (plain(tool), plain(api));
            [format!("{tool}{api}"), format!("{api}for{tool}"), api].contains(&plain(name))
        };
        let n_named = matches.iter().filter(|found| is_named(found)).count();
        prop_assert!(n_named > 0);
        prop_assert!(matches[..n_named].iter().all(is_named));
    }
}
