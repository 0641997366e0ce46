use juror_document::{Document, Format};
use juror_toolbench::names::{official_name, plain_name};
use juror_toolbench::{Query, read_queries};
use serde_json::{Value, json};

use super::*;

fn catalog(files: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let catalog = Catalog::load(folder.path()).expect("a catalog");
    (folder, catalog)
}

#[test]
fn tools_are_found_however_a_request_names_them() {
    let tool = r#"{"tool_name": "The A", "tool_description": null, "api_list": [{"name": "id"}]}"#;
    let (_folder, catalog) = catalog(&[("News_Media/the_a.json", tool)]);
    let find = |category: &str, tool: &str, api: &str| {
        let names = FolderNames::as_requested(category, tool, api);
        catalog.document(&names, NameMatching::Settled).map(|found| found.apis.len())
    };
    assert_eq!(find("News, Media", "The A", "id"), Some(1));
    assert_eq!(find("News_Media", "the_a_for_News_Media", "is_id"), Some(1));
    assert_eq!(find("News_Media", "the_a", "other"), Some(0));
    assert_eq!(find("Data", "the_a", "id"), None);
    let names = FolderNames::as_requested("News_Media", "the_a", "id");
    let published = catalog.document(&names, NameMatching::Published).expect("a tool");
    assert_eq!((published.apis.len(), published.description.get()), (0, "null"));
}

#[test]
fn tools_without_category_are_found_under_any() {
    let tool = r#"{"tool_name": "A", "api_list": [{"name": "b"}]}"#;
    let (_folder, catalog) = catalog(&[("a.json", tool)]);
    let names = FolderNames::as_requested("Sports", "a", "b");
    assert!(catalog.requested_api(&names).is_some());
}

#[test]
fn a_request_without_category_finds_no_tool_that_has_one() {
    let tool = r#"{"tool_name": "A", "api_list": [{"name": "b"}]}"#;
    let (_folder, catalog) = catalog(&[("Sports/a.json", tool)]);
    assert!(catalog.requested_api(&FolderNames::as_requested("", "a", "b")).is_none());
    assert!(catalog.requested_api(&FolderNames::as_requested("Sports", "a", "b")).is_some());
}

#[test]
fn tools_without_category_can_be_given_one() {
    let tool = |name: &str| format!(r#"{{"tool_name": "{name}", "api_list": [{{"name": "b"}}]}}"#);
    let (_folder, mut catalog) =
        catalog(&[("the_a.json", &tool("The A")), ("other.json", &tool("Other"))]);
    let n_left = catalog.fill_categories(|name| (name == "the_a").then(|| Arc::from("Sports")));
    assert_eq!(n_left, 1);
    let categories: Vec<Option<&str>> =
        catalog.tools().iter().map(|tool| tool.category.as_deref()).collect();
    assert_eq!(categories, [None, Some("Sports")]);
    for category in ["Sports", "Data"] {
        let names = FolderNames::as_requested(category, "The A", "b");
        assert!(catalog.requested_api(&names).is_some(), "{category}");
    }
}

#[test]
fn a_tool_that_was_given_a_category_is_offered_under_any() {
    let tool = r#"{"tool_name": "Flat", "tool_description": "about", "api_list": [{"name": "a"}]}"#;
    let (_folder, mut catalog) = catalog(&[("flat.json", tool)]);
    catalog.fill_categories(|_| Some(Arc::from("Sports")));
    let query = query(&[("Data", "Flat", "a"), ("Sports", "Flat", "a"), ("", "Flat", "a")]);
    let offers = catalog.offers_of(&query);
    assert_eq!(offers.len(), 3);
    assert!(offers.iter().all(|offer| offer.tool_description == "about"));
}

#[test]
fn numbers_pass_over_tools_without_apis() {
    let tool = |name: &str, apis: &str| format!(r#"{{"tool_name": "{name}", "api_list": {apis}}}"#);
    let (_folder, catalog) = catalog(&[
        ("A/a.json", &tool("A", r#"[{"name": "one"}, {"name": "two"}]"#)),
        ("A/b.json", &tool("B", "[]")),
        ("A/c.json", &tool("C", r#"[{"name": "three"}]"#)),
        ("A/d.json", &tool("D", "[]")),
    ]);
    let names = |number| catalog.api(number).map(|(tool, api)| (&*tool.name, &*api.name));
    let all: Vec<_> = (0..=catalog.n_apis()).map(names).collect();
    assert_eq!(all, [Some(("A", "one")), Some(("A", "two")), Some(("C", "three")), None]);
    assert!(Catalog::default().api(0).is_none());
}

#[test]
fn what_the_catalog_says_comes_before_what_the_query_says() {
    let tool = |name: &str, api: &str| {
        format!(
            r#"{{"tool_name": "{name}", "tool_description": "about {name}",
            "api_list": [{{"name": "{api}", "description": "from the catalog"}}]}}"#
        )
    };
    let (_folder, catalog) =
        catalog(&[("Data/t.json", &tool("The Tool", "Get X")), ("flat.json", &tool("Flat", "a"))]);
    let query = query(&[
        ("Data", "the tool", "get x"),
        ("Data", "The Tool", "Get X"),
        ("Data", "The Tool", "gone"),
        ("Other", "The Tool", "Get X"),
        ("Other", "flat", "A"),
    ]);
    let offers: Vec<(&str, &str, &str, &str)> = catalog
        .offers_of(&query)
        .iter()
        .map(|offer| {
            (offer.category, offer.tool_description, &*offer.api.name, &*offer.api.description)
        })
        .collect();
    let wanted = [
        ("Data", "about The Tool", "Get X", "from the catalog"),
        ("Data", "about The Tool", "gone", "own"),
        ("Other", "", "Get X", "own"),
        ("Other", "about Flat", "a", "from the catalog"),
    ];
    assert_eq!(offers, wanted);
}

/// Makes a query that lists APIs by category, tool and name.
fn query(apis: &[(&str, &str, &str)]) -> Query {
    let listed: Vec<_> = apis
        .iter()
        .map(|(category, tool, api)| {
            json!({"category_name": category, "tool_name": tool, "api_name": api,
                "api_description": "own"})
        })
        .collect();
    let text = json!([{"query_id": 1, "query": "q", "api_list": listed}]).to_string();
    let document = Document::new("q.json", text.into(), Format::Json).expect("UTF-8");
    read_queries(&document).0.remove(0)
}

/// Two tools with the same name, two APIs whose names have no characters that providers accept, and
/// an ordinary one.
fn catalog_of_shared_names() -> (tempfile::TempDir, Catalog) {
    let demo = r#"{"tool_name": "Demo", "api_list": [{"name": "Get X"}]}"#;
    let plain = r#"{"tool_name": "Plain", "api_list": [{"name": "y"}]}"#;
    let chinese = r#"{"tool_name": "a^b", "api_list": [{"name": "天气"}, {"name": "新闻"}]}"#;
    catalog(&[
        ("Data/demo.json", demo),
        ("Data/plain.json", plain),
        ("Sports/demo.json", demo),
        ("Weather/chinese.json", chinese),
    ])
}

#[test]
fn an_api_has_one_name_in_every_list() {
    let (_folder, catalog) = catalog_of_shared_names();
    let name_of = |function: &Value| function["function"]["name"].as_str().map(str::to_owned);
    let names = |json: &str| -> Vec<String> {
        let functions: Vec<Value> = serde_json::from_str(json).expect("a list");
        functions.iter().filter_map(name_of).collect()
    };
    assert_eq!(names(&catalog.list(0..catalog.n_apis())), catalog.names());
    for (number, name) in catalog.names().iter().enumerate() {
        let offer = catalog.offer(number).expect("an API");
        let listed: Vec<Value> = serde_json::from_str(&catalog.list([number])).expect("a list");
        let target = (&listed[0]["category"], &listed[0]["tool_name"], &listed[0]["api_name"]);
        assert_eq!(target, (&json!(offer.category), &json!(offer.tool), &json!(offer.api.name)));
        assert_eq!(name_of(&listed[0]).as_ref(), Some(name));
        // Searching for an API's name finds it.
        assert!(names(&catalog.list_found(&offer.api.name, 10)).contains(name), "{name}");

        let query = query(&[(offer.category, offer.tool, &offer.api.name)]);
        assert_eq!(names(&list_offers(&catalog.offers_of(&query))), [name.as_str()]);
        let found = catalog.find_offers(&offer.api.name, 10);
        assert!(names(&list_offers(&found)).contains(name), "{name}");
    }
}

#[test]
fn every_name_that_was_ever_given_out_leads_back() {
    let (_folder, catalog) = catalog_of_shared_names();
    let registry = catalog.registry();
    for (number, name) in catalog.names().iter().enumerate() {
        let (tool, api) = catalog.api(number).expect("an API");
        assert_eq!(registry.position(name), Some(number), "{name}");
        // Earlier releases used official names in lists of all APIs, and no hashes in lists of a
        // query.
        for earlier in [official_name(&tool.name, &api.name), plain_name(name)] {
            let entry = registry.get(&earlier).expect("an API");
            assert_eq!((&*entry.tool, &entry.api), (&*tool.name, &api.name), "{earlier}");
        }
    }
}
