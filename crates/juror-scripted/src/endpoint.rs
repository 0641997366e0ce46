//! Parses paths: script, protocol and model.

use crate::seen::{Protocol, RequestKind};

/// What the path of a request says.
#[derive(Debug, PartialEq)]
pub(crate) struct Endpoint<'a> {
    /// The name of an additional script.
    pub(crate) script: Option<&'a str>,
    pub(crate) protocol: Protocol,
    pub(crate) kind: RequestKind,
    /// The model, if it is in the path instead of the body.
    pub(crate) model: Option<String>,
    /// The kind of stream, if that is in the path instead of the body.
    pub(crate) stream: Option<Stream>,
}

/// The two kinds of streams: events, or an array that is written incrementally.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stream {
    Events,
    Array,
}

impl<'a> Endpoint<'a> {
    /// Parses a path and its query.
    pub(crate) fn of(path: &'a str, query: &str) -> Option<Endpoint<'a>> {
        use Protocol::{Anthropic, Azure, OpenAi};
        use RequestKind::{Chat, Embeddings};

        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (script, rest) = match segments.as_slice() {
            ["s", name, rest @ ..] => (Some(*name), rest),
            rest => (None, rest),
        };
        let endpoint = |protocol, kind, model: Option<&str>| Endpoint {
            script,
            protocol,
            kind,
            model: model.map(str::to_owned),
            stream: None,
        };
        Some(match rest {
            ["v1", "chat", "completions"] | ["chat", "completions"] => endpoint(OpenAi, Chat, None),
            ["v1", "embeddings"] | ["embeddings"] => endpoint(OpenAi, Embeddings, None),
            ["openai", "deployments", model, "chat", "completions"] => {
                endpoint(Azure, Chat, Some(model))
            }
            ["openai", "deployments", model, "embeddings"] => {
                endpoint(Azure, Embeddings, Some(model))
            }
            ["v1", "messages"] => endpoint(Anthropic, Chat, None),
            ["v1beta", "models", call] => gemini(script, call, query)?,
            _ => return None,
        })
    }
}

fn gemini<'a>(script: Option<&'a str>, call: &str, query: &str) -> Option<Endpoint<'a>> {
    // Some clients escape the colon.
    let call = call.replace("%3A", ":");
    let (model, verb) = call.rsplit_once(':')?;
    let (kind, stream) = match verb {
        "generateContent" => (RequestKind::Chat, None),
        "streamGenerateContent" if has(query, "alt", Some("sse")) => {
            (RequestKind::Chat, Some(Stream::Events))
        }
        "streamGenerateContent" => (RequestKind::Chat, Some(Stream::Array)),
        "batchEmbedContents" => (RequestKind::Embeddings, None),
        _ => return None,
    };
    let model = Some(model.to_owned());
    Some(Endpoint { script, protocol: Protocol::Gemini, kind, model, stream })
}

/// Whether a query has a parameter, with this value if one is given.
pub(crate) fn has(query: &str, name: &str, value: Option<&str>) -> bool {
    query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .any(|(found, text)| found == name && value.is_none_or(|value| value == text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_protocol_kind_model_and_script() {
        use Protocol::{Anthropic, Azure, Gemini, OpenAi};
        use RequestKind::{Chat, Embeddings};
        for (path, script, protocol, kind, model) in [
            ("/v1/chat/completions", None, OpenAi, Chat, None),
            ("/embeddings", None, OpenAi, Embeddings, None),
            ("/s/b/v1/messages", Some("b"), Anthropic, Chat, None),
            ("/openai/deployments/m/embeddings", None, Azure, Embeddings, Some("m")),
            ("/s/b/v1beta/models/m:generateContent", Some("b"), Gemini, Chat, Some("m")),
            ("/v1beta/models/m%3AbatchEmbedContents", None, Gemini, Embeddings, Some("m")),
        ] {
            let model = model.map(str::to_owned);
            let expected = Endpoint { script, protocol, kind, model, stream: None };
            assert_eq!(Endpoint::of(path, ""), Some(expected), "{path}");
        }
        assert_eq!(Endpoint::of("/v1/models", ""), None);
    }

    #[test]
    fn a_stream_in_the_path_has_two_forms() {
        let stream = |query| {
            let path = "/v1beta/models/m:streamGenerateContent";
            Endpoint::of(path, query).and_then(|endpoint| endpoint.stream)
        };
        assert_eq!(stream("alt=sse"), Some(Stream::Events));
        assert_eq!(stream(""), Some(Stream::Array));
    }
}
