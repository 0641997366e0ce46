//! The real tools, through the `ToolBench` proxy or at their own addresses.

use std::sync::Arc;
use std::time::Duration;

use juror_json::python::{JsonStyle, dump_json, entries_of_json};
use juror_json::text_of;
use juror_models::{Pending, Secret, Secrets, innermost, says_who_asks};
use juror_store::Origin;
use juror_toolbench::names::standard_name;
use juror_toolbench::{Api, Rule, Tool, accept};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::ToolCall;
use crate::catalog::Catalog;
use crate::source::{Made, NoReply, ToolSource};

/// The longest reply that is read.
const MOST_BYTES: usize = 16 << 20;

/// Asks the proxy that knows all tools.
pub struct Proxy {
    /// Asks.
    pub client: reqwest::Client,
    /// Where it is.
    pub address: Url,
    /// The key for callers that bring none.
    pub key: Option<Secret>,
    /// Which replies are kept.
    pub rule: Rule,
    /// How long a reply may take.
    pub timeout: Duration,
}

/// Asks tools at the addresses in their files, and no others.
pub struct Direct {
    /// Asks.
    pub client: reqwest::Client,
    /// What tool files say.
    pub catalog: Arc<Catalog>,
    /// Hosts that may be asked.
    pub hosts: Vec<Host>,
    /// Which replies are kept.
    pub rule: Rule,
    /// How long a reply may take.
    pub timeout: Duration,
}

/// A call as the proxy takes it.
#[derive(Serialize)]
struct ProxyRequest<'r> {
    category: &'r str,
    tool_name: &'r str,
    api_name: &'r str,
    tool_input: Box<RawValue>,
    strip: &'r str,
    toolbench_key: &'r str,
}

/// A host that may be asked.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name, with its port if that is not the usual one.
    pub name: String,
    /// Whether it may be asked without encryption.
    pub plain: bool,
    /// Headers for it alone, such as keys.
    pub headers: HeaderMap,
}

impl Host {
    /// A host from its name, which may begin with `http://` to be asked without encryption, and
    /// the headers for it.
    pub fn new(name: &str, headers: &[(String, Secret)]) -> Result<Host, String> {
        let plain = name.starts_with("http://");
        let address = if plain || name.starts_with("https://") {
            name.to_owned()
        } else {
            format!("https://{name}")
        };
        let bad = || format!("`{name}` is no name of a host");
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

    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<Made, NoReply>> {
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
            let reply = compact(&bytes).ok_or_else(|| no_reply("the proxy answers no JSON"))?;
            accepted(Secrets::new([key]).redact(reply), self.rule)
        })
    }
}

impl ToolSource for Direct {
    fn name(&self) -> &'static str {
        "real"
    }

    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<Made, NoReply>> {
        Box::pin(async move {
            let (tool, api) = self.catalog.requested_api(&call.names).ok_or_else(|| {
                no_reply(format!("no tool file knows {} of {}", call.api, call.tool))
            })?;
            let (request, secrets) = self.request(tool, api, &call.input)?;
            let (status, bytes) = fetch(request, self.timeout).await?;
            if !(200..300).contains(&status) {
                return Err(no_reply(format!("the API answers with status {status}")));
            }
            let text = String::from_utf8_lossy(&bytes);
            let response = match compact(&bytes) {
                Some(json) => json,
                None => Value::from(text.as_ref()).to_string(),
            };
            let reply = format!("{{\"error\":\"\",\"response\":{response}}}");
            accepted(secrets.redact(reply), self.rule)
        })
    }
}

impl Direct {
    /// The request of a call, and what its reply must not repeat. Arguments fill the places in the address; the rest go into the query,
    /// or into the body where the method has one.
    fn request(
        &self,
        tool: &Tool,
        api: &Api,
        input: &str,
    ) -> Result<(reqwest::RequestBuilder, Secrets), NoReply> {
        let arguments =
            entries_of_json(input).map_err(|_| no_reply("the arguments are no object"))?;
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
            request = request.json(&Fields(fields.collect()));
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

/// A host by its name, with its port if that is not the usual one.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The name that the API itself has for a parameter: agents are told standard names.
fn raw_name(api: &Api, name: String) -> String {
    let parameters = || api.required.list.iter().chain(&api.optional.list);
    if parameters().any(|parameter| parameter.name == name) {
        return name;
    }
    let own = parameters().find(|parameter| standard_name(&parameter.name) == name);
    own.map_or(name, |parameter| parameter.name.clone())
}

/// What an address still wants, and arguments that have no place in it.
type Filled<'a> = (String, Vec<(String, &'a str)>);

/// Puts arguments into the places of an address, such as `{id}`; returns those left over.
fn fill<'a>(address: &str, arguments: Vec<(String, &'a str)>) -> Result<Filled<'a>, NoReply> {
    let mut address = address.to_owned();
    let mut rest = Vec::new();
    for (name, value) in arguments {
        let place = format!("{{{name}}}");
        if !address.contains(&place) {
            rest.push((name, value));
            continue;
        }
        let text = text_of_json(value);
        // However they are escaped, they lead to another path.
        if matches!(text.trim(), "" | "." | "..") {
            return Err(no_reply(format!("`{text}` cannot be part of an address (`{name}`)")));
        }
        address = address.replace(&place, &encoded(&text));
    }
    if let Some((_, place)) = address.split_once('{') {
        let place = place.split('}').next().unwrap_or_default();
        return Err(no_reply(format!("the argument `{place}` of the address is missing")));
    }
    Ok((address, rest))
}

/// A text as part of a path: whatever could end the part is escaped.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
    text.bytes().fold(String::new(), |mut out, byte| {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = std::fmt::Write::write_fmt(&mut out, format_args!("%{byte:02X}"));
        }
        out
    })
}

/// A value as it stands in an address: a text without quotes, anything else as JSON.
fn text_of_json(json: &str) -> String {
    let raw: Option<&RawValue> = serde_json::from_str(json).ok();
    raw.and_then(text_of).map_or_else(|| json.to_owned(), std::borrow::Cow::into_owned)
}

/// JSON that every reader knows, in the order it came.
fn raw(json: &str) -> Box<RawValue> {
    let wire = dump_json(json, JsonStyle::Wire).ok();
    wire.and_then(|wire| RawValue::from_string(wire).ok()).unwrap_or_default()
}

/// Fields in their order.
struct Fields(Vec<(String, Box<RawValue>)>);

impl Serialize for Fields {
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

fn compact(bytes: &[u8]) -> Option<String> {
    dump_json(std::str::from_utf8(bytes).ok()?, JsonStyle::Compact).ok()
}

fn accepted(reply: String, rule: Rule) -> Result<Made, NoReply> {
    accept(&reply, rule).map_err(|why| no_reply(format!("not taken: {why}")))?;
    Ok(Made { reply, origin: Origin::Real, model: None })
}

fn no_reply(why: impl Into<String>) -> NoReply {
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
