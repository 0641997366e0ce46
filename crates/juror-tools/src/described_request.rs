//! Requests to real APIs as their `OpenAPI` document describes them.

use juror_json::python::{JsonStyle, dump_json, entries_of_json};
use juror_toolbench::Api;
use juror_toolbench::pool::{ArgumentPlace, BodyForm, Described, ListStyle, RequestPart};
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::real::{encoded, no_reply, not_sent};
use crate::source::NoReply;

/// The parts of a request.
#[derive(Debug)]
pub(crate) struct DescribedRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<String>,
}

/// Where the arguments of a call go.
#[derive(Default)]
struct Placed {
    path: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    cookies: Vec<String>,
    fields: Vec<(String, Value)>,
    body: Option<Value>,
}

/// Builds the request for a call, below `base` or else at the address in the document.
pub(crate) fn described_request(
    api: &Api,
    described: &Described,
    base: Option<&Url>,
    input: &str,
) -> Result<DescribedRequest, NoReply> {
    let arguments =
        entries_of_json(input).map_err(|_| not_sent("the arguments are not an object"))?;
    let mut placed = Placed { path: described.path.clone(), ..Placed::default() };
    for (name, value) in arguments.into_iter().filter(|(name, _)| name != "toolbench_key") {
        let value: Value = dump_json(value, JsonStyle::Wire)
            .ok()
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_default();
        let place = described.request.iter().find(|place| place.argument == name);
        placed.put(&name, place, value)?;
    }
    if let Some((_, rest)) = placed.path.split_once('{') {
        let name = rest.split('}').next().unwrap_or_default();
        return Err(not_sent(format!("the argument `{name}` of the address is missing")));
    }
    let mut url = placed.address(api, described, base)?;
    if !placed.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&placed.query);
    }
    if !placed.cookies.is_empty() {
        let cookies = header_value(&placed.cookies.join("; "))?;
        placed.headers.insert(COOKIE, cookies);
    }
    let method = Method::from_bytes(api.method.as_bytes())
        .map_err(|_| no_reply("the document gives no usable method"))?;
    let body = placed.body(described.body)?;
    Ok(DescribedRequest { method, url, headers: placed.headers, body })
}

impl Placed {
    fn put(
        &mut self,
        argument: &str,
        place: Option<&ArgumentPlace>,
        value: Value,
    ) -> Result<(), NoReply> {
        let Some(ArgumentPlace { name, part, style, .. }) = place else {
            // An argument that the document does not know is for the API to judge.
            self.query.extend(pairs(argument, &value, ListStyle::Repeated));
            return Ok(());
        };
        match part {
            RequestPart::Path => {
                let text = joined(&value, ",");
                // These would lead to another path, even if they were escaped.
                if matches!(text.trim(), "" | "." | "..") {
                    let why = format!("`{text}` cannot be part of an address (`{name}`)");
                    return Err(not_sent(why));
                }
                self.path = self.path.replace(&format!("{{{name}}}"), &encoded(&text));
            }
            RequestPart::Query => self.query.extend(pairs(name, &value, *style)),
            RequestPart::Header => {
                let bad = || no_reply(format!("`{name}` is not a name of a header"));
                let header = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
                self.headers.insert(header, header_value(&joined(&value, ","))?);
            }
            RequestPart::Cookie => {
                let text = joined(&value, ",");
                self.cookies.push(format!("{name}={}", encoded(&text)));
            }
            RequestPart::Field => self.fields.push((name.clone(), value)),
            RequestPart::Body => self.body = Some(value),
        }
        Ok(())
    }

    fn address(
        &self,
        api: &Api,
        described: &Described,
        base: Option<&Url>,
    ) -> Result<Url, NoReply> {
        let server = match base {
            Some(base) => base.as_str().trim_end_matches('/').to_owned(),
            None => api.url.strip_suffix(described.path.as_str()).unwrap_or_default().to_owned(),
        };
        Url::parse(&format!("{server}{}", self.path)).map_err(|_| {
            no_reply("the document gives no usable address of a server: name it with --proxy")
        })
    }

    /// Writes the body, and says in a header how.
    fn body(&mut self, form: BodyForm) -> Result<Option<String>, NoReply> {
        let whole = self.body.take().or_else(|| {
            let fields = std::mem::take(&mut self.fields);
            (!fields.is_empty()).then(|| Value::Object(fields.into_iter().collect()))
        });
        let Some(whole) = whole else { return Ok(None) };
        let (kind, text) = match form {
            BodyForm::Json => ("application/json", whole.to_string()),
            BodyForm::Text => ("text/plain; charset=utf-8", joined(&whole, "\n")),
            BodyForm::Form => ("application/x-www-form-urlencoded", form_of(&whole)),
            BodyForm::Other => {
                return Err(no_reply("Juror cannot write the kind of body that is needed"));
            }
        };
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Ok(Some(text))
    }
}

fn form_of(fields: &Value) -> String {
    let fields = fields.as_object().into_iter().flatten();
    let pairs = fields.flat_map(|(name, value)| pairs(name, value, ListStyle::Repeated));
    let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(&name), encoded(&value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The names and values that an argument becomes in a query.
fn pairs(name: &str, value: &Value, style: ListStyle) -> Vec<(String, String)> {
    let one = |text: String| vec![(name.to_owned(), text)];
    match (style, value) {
        (_, Value::Null) => Vec::new(),
        (ListStyle::Json, _) => one(value.to_string()),
        (ListStyle::Repeated, Value::Array(list)) => {
            list.iter().map(|value| (name.to_owned(), plain(value))).collect()
        }
        (ListStyle::Repeated, Value::Object(fields)) => {
            fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        (ListStyle::Deep, Value::Object(fields)) => {
            let pair = |(key, value): (&String, &Value)| (format!("{name}[{key}]"), plain(value));
            fields.iter().map(pair).collect()
        }
        (ListStyle::Joined(separator), _) => one(joined(value, separator)),
        (ListStyle::Deep | ListStyle::Repeated, _) => one(plain(value)),
    }
}

/// Lists and objects as one text.
fn joined(value: &Value, separator: &str) -> String {
    let parts: Vec<String> = match value {
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [name.clone(), plain(value)]).collect()
        }
        other => return plain(other),
    };
    parts.join(separator)
}

/// A text without quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn header_value(text: &str) -> Result<HeaderValue, NoReply> {
    HeaderValue::from_str(text).map_err(|_| not_sent("an argument cannot be sent in a header"))
}

/// Statuses that say more about who asks, or about the moment, than about the call.
const PASSING: [u16; 7] = [401, 402, 403, 407, 408, 425, 429];

/// Makes a reply of an API's response. A response that says that the call was wrong is a reply,
/// too: it would be the same next time.
pub(crate) fn reply_of(status: u16, response: &str) -> Result<String, NoReply> {
    match status {
        200..300 => Ok(format!("{{\"error\":\"\",\"response\":{response}}}")),
        400..500 if !PASSING.contains(&status) => {
            let error = json!(format!("the API answers with status {status}"));
            Ok(format!("{{\"error\":{error},\"response\":{response}}}"))
        }
        _ => Err(no_reply(format!("the API answers with status {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use juror_document::{Document, Format};
    use juror_toolbench::pool::read_pool;

    use super::*;

    const GARDEN: &str = r#"{"openapi": "3.0.0", "servers": [{"url": "https://g.example/v1"}],
        "paths": {
          "/beds/{id}": {"get": {"operationId": "bed", "parameters": [
            {"name": "id", "in": "path", "schema": {}},
            {"name": "tag", "in": "query", "schema": {}},
            {"name": "few", "in": "query", "explode": false, "schema": {}},
            {"name": "by", "in": "query", "style": "deepObject", "schema": {}},
            {"name": "json", "in": "query", "content": {"application/json": {"schema": {}}}},
            {"name": "X-Who", "in": "header", "schema": {}},
            {"name": "c", "in": "cookie", "schema": {}}]}},
          "/beds": {"post": {"operationId": "add", "requestBody": {"content": {"application/json":
            {"schema": {"type": "object", "properties": {"name": {}, "n": {}}}}}}},
            "put": {"operationId": "form", "requestBody": {"content":
            {"application/x-www-form-urlencoded": {"schema": {"type": "object",
             "properties": {"a": {}, "b": {}}}}}}},
            "patch": {"operationId": "file", "requestBody": {"content":
            {"multipart/form-data": {"schema": {"type": "object", "properties": {"f": {}}}}}}}}}}"#;

    fn request(name: &str, base: Option<&str>, input: &str) -> Result<DescribedRequest, NoReply> {
        let document = Document::new("g.json", GARDEN.into(), Format::Json).expect("text");
        let (tools, problems) = read_pool(&document, "g");
        assert!(problems.is_empty(), "{problems}");
        let api = tools[0].apis.iter().find(|api| api.name == name).expect("an API");
        let base = base.map(|base| Url::parse(base).expect("a URL"));
        let described = api.described.as_ref().expect("described");
        described_request(api, described, base.as_ref(), input)
    }

    #[test]
    fn arguments_go_where_the_document_says() {
        let input = r#"{"id": "a/../b", "tag": ["x", "y z"], "few": [1, 2], "by": {"k": 1},
            "json": {"q": true}, "X-Who": "me", "c": "1;2", "more": 5, "toolbench_key": "t"}"#;
        let request = request("bed", None, input).expect("a request");
        assert_eq!(
            request.url.as_str(),
            "https://g.example/v1/beds/a%2F%2E%2E%2Fb?tag=x&tag=y+z&few=1%2C2&by%5Bk%5D=1&json=%7B%22q%22%3Atrue%7D&more=5"
        );
        assert_eq!(request.headers["x-who"], "me");
        assert_eq!(request.headers["cookie"], "c=1%3B2");
        assert_eq!((request.method, request.body), (Method::GET, None));
    }

    #[test]
    fn bodies_are_written_as_the_document_says() {
        let made = request("add", Some("http://127.0.0.1:9/x/"), r#"{"name": "é", "n": 5}"#);
        let made = made.expect("a request");
        assert_eq!(made.url.as_str(), "http://127.0.0.1:9/x/beds");
        let body: Value = serde_json::from_str(&made.body.expect("a body")).expect("JSON");
        assert_eq!(body, json!({"name": "é", "n": 5}));
        let form = request("form", None, r#"{"a": "1&2", "b": [3, 4]}"#).expect("a request");
        assert_eq!(form.body.as_deref(), Some("a=1%262&b=3&b=4"));
        assert!(request("file", None, r#"{"f": "x"}"#).is_err());
    }

    #[test]
    fn no_argument_leads_elsewhere() {
        for input in [r#"{"id": ".."}"#, r#"{"id": ""}"#, "{}", r#"{"id": 1, "X-Who": "a\nb"}"#] {
            assert!(request("bed", None, input).is_err(), "{input}");
        }
    }

    #[test]
    fn what_the_api_says_about_a_call_is_a_reply_and_what_it_says_about_us_is_none() {
        assert_eq!(reply_of(200, "1").as_deref(), Ok(r#"{"error":"","response":1}"#));
        assert!(reply_of(404, "{}").is_ok_and(|reply| reply.contains("status 404")));
        for status in [301, 401, 429, 500, 503] {
            assert!(reply_of(status, "{}").is_err(), "{status}");
        }
    }
}
