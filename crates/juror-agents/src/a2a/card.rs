//! The card of an agent: its name, and where and how it is asked.

use std::path::Path;

use reqwest::Url;
use serde_json::{Value, json};

/// The generation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// Releases before 1.0.
    Zero,
    /// Releases from 1.0 on.
    One,
}

impl Generation {
    /// Returns the method that sends a message.
    pub(super) fn send(self) -> &'static str {
        match self {
            Generation::Zero => "message/send",
            Generation::One => "SendMessage",
        }
    }

    /// Returns the method that asks about a task.
    pub(super) fn get(self) -> &'static str {
        match self {
            Generation::Zero => "tasks/get",
            Generation::One => "GetTask",
        }
    }

    /// Returns the message with a question.
    pub(super) fn message(self, text: &str, id: &str) -> Value {
        match self {
            Generation::Zero => json!({
                "kind": "message", "role": "user", "messageId": id,
                "parts": [{"kind": "text", "text": text}],
            }),
            Generation::One => {
                json!({"role": "ROLE_USER", "messageId": id, "parts": [{"text": text}]})
            }
        }
    }
}

/// What an agent's card says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Card {
    pub(super) name: Option<String>,
    /// Where messages are sent.
    pub(super) address: Url,
    pub(super) generation: Generation,
}

impl Card {
    /// Stands for the card of an agent that has none.
    pub(super) fn none(address: &Url) -> Card {
        Card { name: None, address: address.clone(), generation: Generation::Zero }
    }

    /// Reads the card that was found for an address; `None` if it is no card.
    pub(super) fn read(text: &str, given: &Url) -> Option<Card> {
        let card: Value = serde_json::from_str(text).ok()?;
        let name = card.get("name")?.as_str()?.trim();
        let interfaces = card["supportedInterfaces"].as_array().into_iter().flatten();
        let mut by_rpc = interfaces.filter(|own| own["protocolBinding"] == "JSONRPC");
        let (place, generation) = match by_rpc.next() {
            Some(own) => (own["url"].as_str(), generation_of(own["protocolVersion"].as_str())),
            None => (card["url"].as_str(), generation_of(card["protocolVersion"].as_str())),
        };
        let address = place.and_then(|place| at(given, place)).unwrap_or_else(|| given.clone());
        let name = Some(name).filter(|name| !name.is_empty()).map(str::to_owned);
        Some(Card { name, address, generation })
    }
}

fn generation_of(version: Option<&str>) -> Generation {
    let is_zero = version.is_none_or(|version| version.starts_with("0."));
    if is_zero { Generation::Zero } else { Generation::One }
}

/// Returns the path that a card names, at the server that the user named: headers are meant for that
/// server alone, and cards often name a host that only the agent itself knows.
fn at(given: &Url, place: &str) -> Option<Url> {
    let named = given.join(place).ok()?;
    let mut address = given.clone();
    address.set_path(named.path());
    address.set_query(named.query());
    Some(address)
}

/// Returns where the card of an agent at an address may be, most likely first.
pub(super) fn places(address: &Url) -> Vec<Url> {
    if Path::new(address.path()).extension().is_some_and(|ending| ending == "json") {
        return vec![address.clone()];
    }
    let below = |path: &str, name: &str| {
        let mut place = address.clone();
        place.set_path(&format!("{}/.well-known/{name}", path.trim_end_matches('/')));
        place.set_query(None);
        place
    };
    let mut places = vec![
        below(address.path(), "agent-card.json"),
        below("", "agent-card.json"),
        below(address.path(), "agent.json"),
        below("", "agent.json"),
    ];
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().expect("an address")
    }

    #[test]
    fn a_card_says_where_and_how_an_agent_is_asked() {
        let read = |card: Value| {
            let card = Card::read(&card.to_string(), &url("http://127.0.0.1:9/x")).expect("a card");
            (card.address.to_string(), card.generation)
        };
        let early =
            json!({"name": "a", "url": "http://localhost:9/a2a", "protocolVersion": "0.3.0"});
        assert_eq!(read(early), ("http://127.0.0.1:9/a2a".into(), Generation::Zero));
        let later = json!({"name": "a", "supportedInterfaces": [
            {"url": "https://h/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
            {"url": "https://h/rpc?v=1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
        assert_eq!(read(later), ("http://127.0.0.1:9/rpc?v=1".into(), Generation::One));
        assert_eq!(read(json!({"name": "a"})).0, "http://127.0.0.1:9/x");
        for none in ["", "[]", "{}", r#"{"name": 5}"#] {
            assert_eq!(Card::read(none, &url("http://h")), None, "{none}");
        }
    }

    #[test]
    fn a_card_is_looked_for_below_the_address_and_at_its_root() {
        let found = |address: &str| {
            places(&url(address)).iter().map(|place| place.path().to_owned()).collect::<Vec<_>>()
        };
        let name = "/.well-known/agent-card.json";
        assert_eq!(found("http://h/a/")[..2], [format!("/a{name}"), name.to_owned()]);
        assert_eq!(found("http://h"), [name, "/.well-known/agent.json"]);
        assert_eq!(found("http://h/card.json"), ["/card.json"]);
    }
}
