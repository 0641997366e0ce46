use juror_toolbench::{Api, Parameter, Parameters, Tool};

use super::*;

fn api(name: &str, description: &str, parameter: &str) -> Api {
    let parameter = Parameter {
        name: parameter.to_owned(),
        kind: "STRING".to_owned(),
        description: String::new(),
        default: None,
    };
    Api {
        name: name.to_owned(),
        description: description.to_owned(),
        method: "GET".to_owned(),
        url: String::new(),
        required: Parameters { list: vec![parameter], json: None },
        optional: Parameters::default(),
        schema: None,
        described: None,
    }
}

fn tool(category: &str, name: &str, description: &str, apis: Vec<Api>) -> Tool {
    Tool {
        category: Some(category.into()),
        name: name.to_owned(),
        description: description.to_owned(),
        host: String::new(),
        file: String::new(),
        apis,
    }
}

fn tools() -> Vec<Tool> {
    let weather = vec![
        api("getDailyForecast", "What the sky will do", "cityName"),
        api("Forecast", "The coming hours", "latitude"),
        api("???", "Unnamed", ""),
    ];
    let news = vec![
        api("Top stories", "News of all countries, with a forecast of elections", "language"),
        api("Get", "All there is", ""),
        api("Forecast", "Nobody knows", ""),
    ];
    vec![
        tool("Weather", "Easy Weather", "Rain and sun", weather),
        tool("Media", "YouTube News", "Videos", news),
        tool("Media", "No APIs", "Videos", vec![]),
    ]
}

/// The names of the APIs that are found.
fn found(query: &str, most: usize) -> Vec<String> {
    let tools = tools();
    let names = tools
        .iter()
        .flat_map(|tool| tool.apis.iter().map(|api| format!("{}/{}", tool.name, api.name)));
    let names: Vec<String> = names.collect();
    let found = Search::new(&tools).find(query, most);
    found.into_iter().map(|found| names[found.number].clone()).collect()
}

#[test]
fn the_best_comes_first() {
    let check = |query: &str, wanted: &str| {
        assert_eq!(found(query, 1), [wanted], "{query}");
    };
    check("daily forecast", "Easy Weather/getDailyForecast");
    check("DAILY-FORECASTS!", "Easy Weather/getDailyForecast");
    check("what will the skies do?", "Easy Weather/getDailyForecast");
    check("city names", "Easy Weather/getDailyForecast");
    check("news from a country", "YouTube News/Top stories");
    check("story", "YouTube News/Top stories");
    check("youtube story", "YouTube News/Top stories");
    check("\"stories\" AND -(x OR title:*) ~2^8", "YouTube News/Top stories");
}

#[test]
fn an_api_that_is_named_comes_first_however_it_is_written() {
    let check = |query: &str, wanted: &str| {
        assert_eq!(found(query, 1), [wanted], "{query}");
    };
    check("getDailyForecast", "Easy Weather/getDailyForecast");
    check("get daily forecast", "Easy Weather/getDailyForecast");
    check("get_daily_forecast_for_easy_weather", "Easy Weather/getDailyForecast");
    check("YouTube News_Forecast", "YouTube News/Forecast");
    check("forecast_for_youtube_news", "YouTube News/Forecast");
    check("get", "YouTube News/Get");
    assert_eq!(found("forecast", 2), ["Easy Weather/Forecast", "YouTube News/Forecast"]);
}

#[test]
fn equals_come_in_the_order_of_the_catalog() {
    let twins = || vec![api("a", "same", ""), api("a", "same", "")];
    let tools = vec![tool("C", "T", "", twins()), tool("C", "T", "", twins())];
    let matches = Search::new(&tools).find("same", 9);
    let numbers: Vec<_> = matches.iter().map(|found| found.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert!(matches.iter().all(|found| found.score == matches[0].score));
}

#[test]
fn nothing_is_found_where_nothing_fits() {
    for query in ["", " \n", "???", "🦀", "\u{fffd}", "zebra", "the zebra", &"x".repeat(100_000)]
    {
        assert_eq!(found(query, 10), [""; 0], "{query}");
    }
    assert_eq!(found("forecast", 0), [""; 0]);
    assert!(Search::new(&[]).find("forecast", 10).is_empty());
}

#[test]
fn a_query_of_stop_words_is_asked_as_it_is() {
    assert_eq!(found("is there all", 1), ["YouTube News/Get"]);
    assert_eq!(found("with a", 10), ["YouTube News/Top stories"]);
}

#[test]
fn a_long_query_is_read_as_far_as_its_bound() {
    let query = format!("story {}", "é ".repeat(50_000));
    assert_eq!(found(&query, 1), ["YouTube News/Top stories"]);
    assert_eq!(found(&format!("{}story", "é ".repeat(50_000)), 1), [""; 0]);
}
