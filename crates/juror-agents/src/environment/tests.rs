use juror_toolbench::{Api, Parameters};

use super::*;

fn api(name: &str) -> Api {
    Api {
        name: name.to_owned(),
        description: String::new(),
        method: String::new(),
        url: String::new(),
        required: Parameters::default(),
        optional: Parameters::default(),
        schema: None,
        described: None,
    }
}

fn offer<'a>(category: &'a str, tool: &'a str, api: &'a Api) -> Offer<'a> {
    Offer { category, tool, tool_description: "", api, name: None }
}

fn names(environment: &Environment) -> Vec<&str> {
    environment.functions().map(|function| &*function.name).collect()
}

fn told(environment: &Environment, name: &str, arguments: &str) -> Observation {
    match environment.step(name, arguments) {
        Step::Told(observation) => observation,
        other => panic!("{other:?}"),
    }
}

fn called(environment: &Environment, name: &str) -> Option<(String, String, String)> {
    match environment.step(name, "{}") {
        Step::Call(call) => {
            let Target { category, tool, api, .. } = (*call.target).clone();
            Some((category, tool, api))
        }
        _ => None,
    }
}

#[test]
fn a_function_is_called_by_its_whole_name() {
    let (short, long) = (api("details"), api("Get details"));
    let offers = [offer("Data", "T", &long), offer("Data", "T", &short)];
    let environment = Environment::new(&offers, &Setup::default());
    assert_eq!(names(&environment), ["get_details_for_t", "details_for_t", "Finish"]);
    let called = |name: &str| called(&environment, name).map(|(_, _, api)| api);
    assert_eq!(called("details_for_t").as_deref(), Some("details"));
    assert_eq!(called("get_details_for_t").as_deref(), Some("Get details"));
    for name in ["", "t", "for_t", "finish", "Finish ", "search_tools", "Details_for_t"] {
        assert_eq!(called(name), None, "{name}");
        assert_eq!(told(&environment, name, "{}").code, Code::InventedName, "{name}");
    }
    assert_eq!(
        told(&environment, "é\"", "").text,
        r#"{"error": "No such function name: \u00e9\"", "response": ""}"#
    );
}

#[test]
fn a_name_that_was_cut_is_found_if_it_is_the_only_one() {
    let long = "x".repeat(70);
    let (one, two) = (api(&format!("a{long}")), api(&format!("b{long}")));
    let cut = format!("{}_for_t", "x".repeat(58));
    let both = [offer("Data", "t", &one), offer("Data", "t", &two)];
    let environment = Environment::new(&both, &Setup::default());
    assert_eq!(called(&environment, &cut), None, "two have it");
    for (function, wanted) in names(&environment).into_iter().zip([&one, &two]) {
        assert!(function.len() <= 64 && function != cut, "{function}");
        let api = called(&environment, function).map(|(_, _, api)| api);
        assert_eq!(api.as_ref(), Some(&wanted.name));
    }
    let environment = Environment::new(&both[..1], &Setup::default());
    assert_eq!(names(&environment)[0], cut);
    assert!(called(&environment, &cut[1..]).is_none());
}

#[test]
fn apis_of_two_categories_are_told_apart() {
    let one = api("a");
    let offers = [offer("Data", "t", &one), offer("Sports", "t", &one)];
    let environment = Environment::new(&offers, &Setup::default());
    let categories: Vec<String> = names(&environment)[..2]
        .iter()
        .map(|name| called(&environment, name).expect("a function").0)
        .collect();
    assert_eq!(categories, ["Data", "Sports"]);
    assert_eq!(environment.task(), "1.t: None\n2.t: None\n");
}

#[test]
fn names_are_such_as_providers_take() {
    let chinese = api("天气");
    let offers = [offer("Data", "a^b", &chinese)];
    let names_in = |form| {
        let setup = Setup { form, ..Setup::default() };
        names(&Environment::new(&offers, &setup))[0].to_owned()
    };
    for form in [Form::Official, Form::Schema] {
        assert_eq!(names_in(form), "___for_a_b");
    }
}

#[test]
fn an_api_of_a_catalog_keeps_its_name_wherever_it_stands() {
    let one = api("a");
    let catalogued = Offer { name: Some("a_for_t"), ..offer("Sports", "t", &one) };
    let other = offer("Data", "t", &one);
    for offers in [[other, catalogued], [catalogued, other]] {
        let environment = Environment::new(&offers, &Setup::default());
        let called = |name: &str| called(&environment, name).map(|(category, ..)| category);
        assert_eq!(called("a_for_t").as_deref(), Some("Sports"));
        let all: Vec<_> = names(&environment)[..2].iter().map(|name| called(name)).collect();
        assert_eq!(all, offers.map(|offer| Some(offer.category.to_owned())));
    }
}

#[test]
fn tools_are_described_in_one_line_each() {
    let one = api("a");
    let long = "é".repeat(600);
    let mut offers = [offer("D", "The T", &one), offer("D", "the t", &one), offer("D", "U", &one)];
    offers[0].tool_description = " a\nb \u{1f}";
    offers[2].tool_description = &long;
    let wording = Wording { task: "Do it:\n".into(), ..Wording::default() };
    let environment = Environment::new(&offers, &Setup { wording, ..Setup::default() });
    let wanted = format!("Do it:\n1.the_t: ab\n2.u: {}\n", "é".repeat(512));
    assert_eq!(environment.task(), wanted);
}

#[test]
fn observations_are_cut_whatever_they_tell() {
    let one = api("a");
    let setup = Setup { longest_observation: 10, ..Setup::default() };
    let environment = Environment::new(&[offer("D", "t", &one)], &setup);
    assert_eq!(told(&environment, "Finish", "{}").text, "{error:\"mu...");
    assert_eq!(told(&environment, "other", "{}").text, "{\"error\": ...");
    let reply = ToolReply::of("{\"error\": \"\", \"response\": 1}".into());
    assert_eq!(environment.observe(&reply).text, "{\"error\": ...");
}

#[test]
fn what_is_found_can_be_called_from_then_on() {
    let (own, found, other) = (api("own"), api("Found"), api("found"));
    let setup = Setup { has_search: true, ..Setup::default() };
    let before = Environment::new(&[offer("D", "t", &own)], &setup);
    assert_eq!(names(&before), ["own_for_t", "search_tools", "Finish"]);
    let Step::Search(search) = before.step(SEARCH, r#"{"query": "x", "k": 3}"#) else {
        panic!("a search")
    };
    assert_eq!(search, Search { query: "x".into(), most: 3 });
    assert_eq!(told(&before, SEARCH, "{}").code, Code::BadReply);

    let mut after = before.clone();
    let pool_name = Offer { name: Some("found_for_t_123abc"), ..offer("D", "t", &other) };
    let observation = after.find(&[offer("D", "t", &found), offer("D", "t", &own), pool_name]);
    assert_eq!(
        observation.text,
        r#"{"error": "", "response": {"functions": ["found_for_t", "own_for_t", "found_for_t_123abc"]}}"#
    );
    let all = ["own_for_t", "found_for_t", "found_for_t_123abc", "search_tools", "Finish"];
    assert_eq!(names(&after), all);
    assert_eq!(called(&after, "found_for_t_123abc").map(|(_, _, api)| api), Some("found".into()));
    assert_eq!(names(&before).len(), 3, "what was before stays as it was");
}

#[test]
fn what_is_found_does_not_take_a_name_away() {
    let (own, found) = (api("a"), api("A"));
    let mut environment = Environment::new(&[offer("D", "t", &own)], &Setup::default());
    environment.find(&[offer("D", "t", &found)]);
    assert_eq!(called(&environment, "a_for_t").map(|(_, _, api)| api), Some("a".into()));
    let second = names(&environment)[1].to_owned();
    assert_ne!(second, "a_for_t");
    assert_eq!(called(&environment, &second).map(|(_, _, api)| api), Some("A".into()));
}
