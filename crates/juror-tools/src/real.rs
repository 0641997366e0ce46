//! Calls real tools, through the `ToolBench` proxy or directly.

use std::sync::Arc;
use std::time::Duration;

use juror_json::python::{JsonStyle, dump_json, entries_of_json};
use juror_json::text_of;
use juror_models::{Pending, Secret, Secrets, innermost, says_who_asks};
use juror_store::Origin;
use juror_toolbench::names::standard_name;
use juror_toolbench::pool::{Described, PoolKind};
use juror_toolbench::{Api, Rule, Tool, accept};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::ToolCall;
use crate::catalog::Catalog;
use crate::described_request::{described_request, reply_of};
use crate::source::{NoReply, SourceReply, ToolSource};

/// The longest reply that is read, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// The characters that are escaped in a segment of a path. Dots are among them, so that no argument
/// becomes `..`.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Calls all tools through the proxy.
pub struct Proxy {
    /// The HTTP client.
    pub client: reqwest::Client,
    /// The proxy's URL.
    pub address: Url,
    /// The key for callers that bring none.
    pub key: Option<Secret>,
    /// Which replies are accepted.
    pub rule: Rule,
    /// The time limit for a reply.
    pub timeout: Duration,
}

/// Calls tools at the URLs in their files, on allowed hosts only.
pub struct Direct {
    /// The HTTP client.
    pub client: reqwest::Client,
    /// The tools.
    pub catalog: Arc<Catalog>,
    /// The allowed hosts.
    pub hosts: Vec<Host>,
    /// The address of APIs that `OpenAPI` documents describe, in place of the documents' own. Its
    /// host is allowed.
    pub base: Option<Url>,
    /// Which replies are accepted.
    pub rule: Rule,
    /// The time limit for a reply.
    pub timeout: Duration,
}

/// A call in the proxy's format.
#[derive(Serialize)]
struct ProxyRequest<'r> {
    category: &'r str,
    tool_name: &'r str,
    api_name: &'r str,
    tool_input: Box<RawValue>,
    strip: &'r str,
    toolbench_key: &'r str,
}

/// A host that may be called.
#[derive(Clone, Debug)]
pub struct Host {
    /// The name, with a port unless it is the default one.
    pub name: String,
    /// Whether plain HTTP is allowed.
    pub plain: bool,
    /// Headers for this host only, such as keys.
    pub headers: HeaderMap,
}

impl Host {
    /// Creates a host from its name and headers. A name that begins with `http://` allows plain
    /// HTTP.
    pub fn new(name: &str, headers: &[(String, Secret)]) -> Result<Host, String> {
        let plain = name.starts_with("http://");
        let address = if plain || name.starts_with("https://") {
            name.to_owned()
        } else {
            format!("https://{name}")
        };
        let bad = || format!("`{name}` is not a name of a host");
        let address: Url = address.parse().map_err(|_| bad())?;
        let is_bare = address.path() == "/"
            && address.query().is_none()
            && address.username().is_empty()
            && !name.contains('*');
        let name = host_of(&address).filter(|_| is_bare).ok_or_else(bad)?;
        let mut map = HeaderMap::new();
        for (header, secret) in headers {
            let bad = || format!("the header `{header}` cannot be sent");
            let header_name = HeaderName::try_from(header.as_str()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(secret.expose()).map_err(|_| bad())?;
            value.set_sensitive(true);
            map.insert(header_name, value);
        }
        Ok(Host { name, plain, headers: map })
    }
}

impl ToolSource for Proxy {
    fn name(&self) -> &'static str {
        "real"
    }

    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<SourceReply, NoReply>> {
        Box::pin(async move {
            let key = match (call.toolbench_key.expose(), &self.key) {
                ("" | "EMPTY", Some(key)) => key.expose(),
                (key, _) => key,
            };
            let mut header = HeaderValue::from_str(key)
                .map_err(|_| no_reply("the key cannot be sent in a header"))?;
            header.set_sensitive(true);
            let body = ProxyRequest {
                category: &call.names.category,
                tool_name: call.tool.split("_for_").next().unwrap_or_default(),
                api_name: &call.names.api,
                tool_input: raw(&call.input),
                strip: "",
                toolbench_key: key,
            };
            let request = self
                .client
                .post(self.address.clone())
                .header("toolbench_key", header)
                .header("accept", "application/json")
                .json(&body);
            let (status, bytes) = fetch(request, self.timeout).await?;
            if status != 200 {
                let why = format!("the proxy answers with status {status}");
                return Err(no_reply(why).unasked());
            }
            let reply = compact(&bytes).ok_or_else(|| no_reply("the proxy's reply is not JSON"))?;
            accepted(Secrets::new([key]).redact(reply), self.rule)
        })
    }
}

impl ToolSource for Direct {
    fn name(&self) -> &'static str {
        "real"
    }

    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<SourceReply, NoReply>> {
        Box::pin(async move {
            let (tool, api) = self.catalog.requested_api(&call.names).ok_or_else(|| {
                no_reply(format!("no tool file knows {} of {}", call.api, call.tool))
            })?;
            if let Some(described) = &api.described {
                return self.reply_described(api, described, &call.input).await;
            }
            let (request, secrets) = self.request(tool, api, &call.input)?;
            let (status, bytes) = fetch(request, self.timeout).await?;
            if !(200..300).contains(&status) {
                return Err(no_reply(format!("the API answers with status {status}")));
            }
            let response = as_json(&bytes);
            let reply = format!("{{\"error\":\"\",\"response\":{response}}}");
            accepted(secrets.redact(reply), self.rule)
        })
    }
}

impl Direct {
    /// Calls an API as its document describes it.
    async fn reply_described(
        &self,
        api: &Api,
        described: &Described,
        input: &str,
    ) -> Result<SourceReply, NoReply> {
        if described.kind != PoolKind::OpenApi {
            return Err(no_reply("its document does not say where it is called"));
        }
        let made = described_request(api, described, self.base.as_ref(), input)?;
        let host = self.hosts.iter().find(|host| Some(&host.name) == host_of(&made.url).as_ref());
        let mut headers = match (&self.base, host) {
            (None, _) => self.allowed(&made.url)?.headers.clone(),
            (Some(_), host) => host.map(|host| host.headers.clone()).unwrap_or_default(),
        };
        let secret = headers.iter().filter(|(name, _)| says_who_asks(name.as_str()));
        let secrets = Secrets::new(secret.filter_map(|(_, value)| value.to_str().ok()));
        for (name, value) in &made.headers {
            // No argument replaces a key.
            headers.entry(name).or_insert_with(|| value.clone());
        }
        let mut request = self.client.request(made.method, made.url).headers(headers);
        if let Some(body) = made.body {
            request = request.body(body);
        }
        let (status, bytes) = fetch(request, self.timeout).await?;
        let reply = secrets.redact(reply_of(status, &as_json(&bytes))?);
        Ok(SourceReply { reply, origin: Origin::Real, model: None })
    }

    /// Builds the request for a call, and the secrets that its reply must not repeat. Arguments
    /// fill the placeholders of the URL. The others go to the body if the method has one, else to
    /// the query.
    fn request(
        &self,
        tool: &Tool,
        api: &Api,
        input: &str,
    ) -> Result<(reqwest::RequestBuilder, Secrets), NoReply> {
        let arguments =
            entries_of_json(input).map_err(|_| not_sent("the arguments are not an object"))?;
        let arguments = arguments
            .into_iter()
            .filter(|(name, _)| name != "toolbench_key")
            .map(|(name, value)| (raw_name(api, name), value))
            .collect();
        let method = Method::from_bytes(api.method.trim().to_uppercase().as_bytes());
        let method = method.ok().filter(|_| !api.method.is_empty()).unwrap_or(Method::GET);
        let (url, rest) = fill(&api.url, arguments)?;
        let mut url =
            Url::parse(&url).map_err(|_| no_reply("the tool file gives no usable address"))?;
        let host = self.allowed(&url)?;
        let has_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);
        if !has_body && !rest.is_empty() {
            url.query_pairs_mut()
                .extend_pairs(rest.iter().map(|(name, value)| (name, text_of_json(value))));
        }
        let mut headers = host.headers.clone();
        let secret = headers.iter().filter(|(name, _)| says_who_asks(name.as_str()));
        let secrets = Secrets::new(secret.filter_map(|(_, value)| value.to_str().ok()));
        if let (false, Ok(value)) = (tool.host.is_empty(), HeaderValue::from_str(&tool.host)) {
            headers.entry("x-rapidapi-host").or_insert(value);
        }
        let mut request = self.client.request(method, url).headers(headers);
        if has_body {
            let fields = rest.into_iter().map(|(name, value)| (name, raw(value)));
            request = request.json(&OrderedFields(fields.collect()));
        }
        Ok((request, secrets))
    }

    fn allowed(&self, url: &Url) -> Result<&Host, NoReply> {
        let name = host_of(url).ok_or_else(|| no_reply("the address names no host"))?;
        let found = self.hosts.iter().find(|host| host.name == name);
        let host = found.ok_or_else(|| {
            no_reply(format!("`{name}` is not among the hosts that may be asked"))
        })?;
        match url.scheme() {
            "https" => Ok(host),
            "http" if host.plain => Ok(host),
            scheme => Err(no_reply(format!("`{name}` may not be asked by {scheme}"))),
        }
    }
}

/// The host and port of a URL, without a port if it is the default one.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Returns the API's own name of a parameter; agents see standardized names.
fn raw_name(api: &Api, name: String) -> String {
    let parameters = || api.required.list.iter().chain(&api.optional.list);
    if parameters().any(|parameter| parameter.name == name) {
        return name;
    }
    let own = parameters().find(|parameter| standard_name(&parameter.name) == name);
    own.map_or(name, |parameter| parameter.name.clone())
}

/// A URL without placeholders, and the arguments that had none.
type FilledAddress<'a> = (String, Vec<(String, &'a str)>);

/// Fills the placeholders of a URL, such as `{id}`. Returns the remaining arguments as well.
fn fill<'a>(
    address: &str,
    arguments: Vec<(String, &'a str)>,
) -> Result<FilledAddress<'a>, NoReply> {
    let mut address = address.to_owned();
    let mut rest = Vec::new();
    for (name, value) in arguments {
        let place = format!("{{{name}}}");
        if !address.contains(&place) {
            rest.push((name, value));
            continue;
        }
        let text = text_of_json(value);
        // These would lead to another path, even if they were escaped.
        if matches!(text.trim(), "" | "." | "..") {
            return Err(not_sent(format!("`{text}` cannot be part of an address (`{name}`)")));
        }
        address = address.replace(&place, &encoded(&text));
    }
    if let Some((_, place)) = address.split_once('{') {
        let place = place.split('}').next().unwrap_or_default();
        return Err(not_sent(format!("the argument `{place}` of the address is missing")));
    }
    Ok((address, rest))
}

/// Escapes a text for use as one segment of a path.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Renders a value for a URL: a string without quotes, anything else as JSON.
fn text_of_json(json: &str) -> String {
    let raw: Option<&RawValue> = serde_json::from_str(json).ok();
    raw.and_then(text_of).map_or_else(|| json.to_owned(), std::borrow::Cow::into_owned)
}

/// Converts JSON in Python's dialect to standard JSON, in the same order.
fn raw(json: &str) -> Box<RawValue> {
    let wire = dump_json(json, JsonStyle::Wire).ok();
    wire.and_then(|wire| RawValue::from_string(wire).ok()).unwrap_or_default()
}

/// An object whose fields keep their order.
struct OrderedFields(Vec<(String, Box<RawValue>)>);

impl Serialize for OrderedFields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

async fn fetch(
    request: reqwest::RequestBuilder,
    timeout: Duration,
) -> Result<(u16, Vec<u8>), NoReply> {
    let read = async {
        let mut response = request.send().await.map_err(|error| broken(&error))?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST_BYTES {
                return Err(no_reply("the reply is too long"));
            }
        }
        Ok((status, bytes))
    };
    let late = || no_reply(format!("no reply within {} s", timeout.as_secs_f64())).unasked();
    tokio::time::timeout(timeout, read).await.map_err(|_| late())?
}

fn broken(error: &reqwest::Error) -> NoReply {
    no_reply(innermost(error)).unasked()
}

/// A response as JSON: what is none becomes a text.
fn as_json(bytes: &[u8]) -> String {
    compact(bytes).unwrap_or_else(|| Value::from(String::from_utf8_lossy(bytes)).to_string())
}

fn compact(bytes: &[u8]) -> Option<String> {
    dump_json(std::str::from_utf8(bytes).ok()?, JsonStyle::Compact).ok()
}

fn accepted(reply: String, rule: Rule) -> Result<SourceReply, NoReply> {
    accept(&reply, rule).map_err(|why| no_reply(format!("not taken: {why}")))?;
    Ok(SourceReply { reply, origin: Origin::Real, model: None })
}

/// Says that a call cannot be sent as it is, to the agent too: another call can.
pub(crate) fn not_sent(why: impl Into<String>) -> NoReply {
    let why = why.into();
    NoReply { told: format!("The call was not sent: {why}"), why, is_unasked: false }
}

pub(crate) fn no_reply(why: impl Into<String>) -> NoReply {
    let told = "The real API gave no usable reply".into();
    NoReply { told, why: why.into(), is_unasked: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fill_the_places_of_an_address() {
        let arguments = vec![("id".to_owned(), "\"a/../b?c\""), ("n".to_owned(), "5")];
        let (url, rest) = fill("https://h.example/x/{id}", arguments).expect("filled");
        assert_eq!(url, "https://h.example/x/a%2F%2E%2E%2Fb%3Fc");
        assert_eq!(rest, [("n".to_owned(), "5")]);
        for value in ["\"..\"", "\".\"", "\"\"", "\" .. \""] {
            let arguments = vec![("id".to_owned(), value)];
            assert!(fill("https://h.example/x/{id}/y", arguments).is_err(), "{value}");
        }
        assert!(fill("https://h.example/x/{id}", Vec::new()).is_err(), "a place is left");
    }

    #[test]
    fn only_hosts_of_the_list_are_asked() {
        let hosts = ["h.example:443", "http://127.0.0.1:81", "https://S.example/"];
        let hosts = hosts.map(|name| Host::new(name, &[]).expect("a host")).to_vec();
        let direct = Direct {
            client: juror_models::http_client().expect("a client"),
            catalog: Arc::default(),
            hosts,
            base: None,
            rule: Rule::Compatible,
            timeout: Duration::from_secs(1),
        };
        let check = |url: &str, allowed: bool| {
            let url = Url::parse(url).expect("an address");
            assert_eq!(direct.allowed(&url).is_ok(), allowed, "{url}");
        };
        check("https://h.example/x", true);
        check("https://H.EXAMPLE/x", true);
        check("https://user@h.example/x", true);
        check("http://h.example/x", false);
        check("http://127.0.0.1:81/x", true);
        check("https://s.example", true);
        check("https://h.example:444/x", false);
        check("https://h.example.evil.example/x", false);
        check("https://h.example@evil.example/x", false);
        check("file:///etc/passwd", false);
        for name in ["*", "", "a b", "https://h/x", "https://u@h"] {
            assert!(Host::new(name, &[]).is_err(), "{name}");
        }
    }
}
