//! Decides which replies of real APIs are worth keeping.

use std::fmt;

use juror_json::{Object, python};
use serde_json::value::RawValue;

/// How strictly to judge a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As the public server does: rejects any text that contains a sign of failure, even inside a
    /// word or a number.
    Compatible,
    /// Matches signs as whole words, and numbers only where the text calls them a status.
    Strict,
}

/// Why a reply was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The reply is not an object.
    NoReply,
    /// `error` is missing or not empty.
    Error,
    /// `response` is missing.
    NoResponse,
    /// The response is empty.
    Empty,
    /// The response contains a sign of failure.
    Sign(&'static str),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::NoReply => f.write_str("the reply is not an object"),
            Rejection::Error => f.write_str("the reply names an error"),
            Rejection::NoResponse => f.write_str("the reply has no `response`"),
            Rejection::Empty => f.write_str("the response is empty"),
            Rejection::Sign(sign) => write!(f, "the response contains `{sign}`"),
        }
    }
}

/// Says that the API was reached and the call was wrong. Such a reply is worth keeping.
const WRONG_CALL: &str = "got an unexpected keyword argument";

/// Signs of failure, matched in lower case.
const SIGNS: [&str; 25] = [
    "rate limit",
    "time out",
    "timed out",
    "does not exist",
    "404",
    "504",
    "500",
    "internal error",
    "api doesn't exists",
    "api doesn\\'t exists",
    "authoriz",
    "authenticat",
    "unauthorized",
    "blocked user",
    "unsubscribe",
    "blocked",
    "401",
    "403",
    "credential",
    "unauthenticated",
    "disabled for your subscription",
    "invalid consumer key",
    "parameter",
    "parse",
    "is not defined",
];

/// Signs of failure, matched exactly.
const EXACT_SIGNS: [&str; 4] =
    ["Service Not Found", "ACCESS_DENIED", "status_code=50", "status_code=429"];

/// Phrases that rarely mean anything but failure.
const PHRASES: [&str; 26] = [
    "rate limit",
    "time out",
    "timed out",
    "does not exist",
    "internal error",
    "internal server error",
    "api doesn't exists",
    "api doesn\\'t exists",
    "service not found",
    "not authorized",
    "unauthorized",
    "authorization required",
    "unauthenticated",
    "authentication failed",
    "authentication required",
    "access_denied",
    "access denied",
    "blocked user",
    "disabled for your subscription",
    "not subscribed",
    "invalid consumer key",
    "invalid credentials",
    "missing parameter",
    "invalid parameter",
    "failed to parse",
    "is not defined",
];

/// HTTP statuses that mean failure.
const STATUSES: [&str; 8] = ["401", "403", "404", "429", "500", "502", "503", "504"];

/// Judges a reply, given as JSON.
pub fn accept(reply: &str, rule: Rule) -> Result<(), Rejection> {
    let fields: Object<'_> = serde_json::from_str(reply).map_err(|_| Rejection::NoReply)?;
    let is_empty = |error: &RawValue| error.get() == "\"\"";
    if !fields.get("error").is_some_and(is_empty) {
        return Err(Rejection::Error);
    }
    let response = fields.get("response").ok_or(Rejection::NoResponse)?;
    // Search the text as Python writes it.
    let text = python::str_of_json(response.get()).map_err(|_| Rejection::NoReply)?;
    let lower = text.to_lowercase();
    if lower.contains(WRONG_CALL) {
        return Ok(());
    }
    let sign = match rule {
        Rule::Compatible => find_sign(&text, &lower),
        Rule::Strict => find_phrase(&lower).or_else(|| find_status(&lower)),
    };
    match sign {
        Some(sign) => Err(Rejection::Sign(sign)),
        None if text.is_empty() => Err(Rejection::Empty),
        None => Ok(()),
    }
}

fn find_sign(text: &str, lower: &str) -> Option<&'static str> {
    let sign = SIGNS.into_iter().find(|sign| lower.contains(sign));
    sign.or_else(|| EXACT_SIGNS.into_iter().find(|sign| text.contains(sign)))
}

fn find_phrase(lower: &str) -> Option<&'static str> {
    PHRASES.into_iter().find(|phrase| words_at(lower, phrase).next().is_some())
}

/// Finds a failure status right after a word that introduces one: `status: 404`, `'code': 500`.
fn find_status(lower: &str) -> Option<&'static str> {
    let is_said = |at: usize| {
        let between = |c: char| matches!(c, ' ' | ':' | '=' | '\'' | '"' | '#');
        let before = lower[..at].trim_end_matches(between);
        ["status", "statuscode", "code", "error", "http"].iter().any(|word| before.ends_with(word))
    };
    STATUSES.into_iter().find(|status| words_at(lower, status).any(is_said))
}

/// Returns the positions where `phrase` occurs as whole words.
fn words_at<'a>(text: &'a str, phrase: &'static str) -> impl Iterator<Item = usize> + 'a {
    let is_word = |c: char| c.is_alphanumeric();
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (&text[..*at], &text[at + phrase.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(response: &str, rule: Rule) -> Result<(), Rejection> {
        accept(&format!(r#"{{"error": "", "response": {response}}}"#), rule)
    }

    #[test]
    fn signs_of_failure_are_refused() {
        let compatible = |response: &str| judge(response, Rule::Compatible);
        assert_eq!(compatible("\"sunny\""), Ok(()));
        assert_eq!(compatible("\"Request TIMED OUT\""), Err(Rejection::Sign("timed out")));
        assert_eq!(compatible("{\"a\": 1500}"), Err(Rejection::Sign("500")));
        assert_eq!(compatible("\"\""), Err(Rejection::Empty));
        assert_eq!(compatible("\"f() got an unexpected keyword argument: parse\""), Ok(()));
        assert!(compatible("\"it's \\\"API doesn't exists\\\"\"").is_err());
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        let refused = |reply: &str, why| {
            assert_eq!(accept(reply, Rule::Compatible), Err(why), "{reply}");
        };
        refused("[\"error\", \"response\"]", Rejection::NoReply);
        refused("{\"response\": 1}", Rejection::Error);
        refused("{\"error\": null, \"response\": 1}", Rejection::Error);
        refused("{\"error\": \"\"}", Rejection::NoResponse);
    }

    #[test]
    fn the_strict_rule_reads_words() {
        let strict = |response: &str| judge(response, Rule::Strict);
        assert_eq!(strict("\"The ticket costs 1500 euros\""), Ok(()));
        assert_eq!(strict("\"500 people, unblocked parameters, parsed\""), Ok(()));
        assert_eq!(strict("{\"status\": 404}"), Err(Rejection::Sign("404")));
        assert_eq!(strict("\"Error 500\""), Err(Rejection::Sign("500")));
        assert_eq!(strict("\"status_code=503\""), Err(Rejection::Sign("503")));
        assert_eq!(strict("\"Access denied.\""), Err(Rejection::Sign("access denied")));
    }
}
