//! The parameters of a request, and whether its headers agree with it.

use std::borrow::Cow;

use base64::Engine;
use juror_json::reason;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Transport;
use crate::message::{HEADER_MISMATCH, INVALID_PARAMS, RpcError, UNSUPPORTED_VERSION};
use crate::version::{self, META_VERSION, STATELESS};

/// Which kind of revision a request is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Its client has shaken hands, or does not care.
    Handshake,
    /// The request says everything itself.
    Stateless,
}

/// The parameters of all methods together.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parameters<'p> {
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'p, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'p RawValue>,
    #[serde(borrow, default)]
    pub(super) cursor: Option<Cow<'p, str>>,
    #[serde(borrow, default)]
    pub(super) protocol_version: Option<Cow<'p, str>>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'p RawValue>,
}

/// The part of `_meta` that counts.
#[derive(Default, Deserialize)]
struct Meta<'m> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'m, str>>,
}

impl<'p> Parameters<'p> {
    pub(super) fn read(params: Option<&'p RawValue>) -> Result<Parameters<'p>, RpcError> {
        let Some(params) = params else { return Ok(Parameters::default()) };
        let wrong = |error: serde_json::Error| {
            let why = reason(&error);
            RpcError::new(INVALID_PARAMS, format!("The parameters cannot be read: {why}"))
        };
        serde_json::from_str(params.get()).map_err(wrong)
    }

    /// The arguments of a tool: an object, empty if there are none.
    pub(super) fn arguments(&self) -> Result<&'p RawValue, RpcError> {
        const EMPTY: &str = "{}";
        match self.arguments {
            // A constant is JSON.
            None => Ok(serde_json::from_str(EMPTY).unwrap_or(RawValue::NULL)),
            Some(arguments) if arguments.get().starts_with('{') => Ok(arguments),
            Some(_) => Err(RpcError::bad_parameters("`arguments` is not an object")),
        }
    }

    fn version(&self) -> Option<Cow<'p, str>> {
        serde_json::from_str::<Meta<'p>>(self.meta?.get()).unwrap_or_default().version
    }
}

/// Finds out which kind of revision a request is of, and checks that its headers say the same.
pub(super) fn check_headers(
    method: &str,
    parameters: &Parameters<'_>,
    transport: Transport<'_>,
) -> Result<Era, RpcError> {
    let in_body = parameters.version();
    let headers = match transport {
        Transport::Lines => None,
        Transport::Http(headers) => Some(headers),
    };
    let in_header = headers.and_then(|headers| headers.version);
    let Some(in_body) = in_body else {
        return match in_header {
            Some(STATELESS) => {
                Err(RpcError::bad_parameters(format!("`_meta` lacks `{META_VERSION}`")))
            }
            Some(other) if method != "initialize" && !version::all().any(|own| own == other) => {
                Err(unsupported(other))
            }
            _ => Ok(Era::Handshake),
        };
    };
    if *in_body != *STATELESS {
        // Some clients of older revisions say it here as well.
        let is_known = version::all().any(|own| own == in_body);
        return if is_known { Ok(Era::Handshake) } else { Err(unsupported(&in_body)) };
    }
    if let Some(headers) = headers {
        agree("mcp-protocol-version", headers.version, &in_body)?;
        agree("mcp-method", headers.method, method)?;
        if let (Some(name), "tools/call") = (&parameters.name, method) {
            let given = headers.name.map(decoded);
            agree("mcp-name", given.as_deref(), name)?;
        }
    }
    Ok(Era::Stateless)
}

fn agree(header: &str, given: Option<&str>, wanted: &str) -> Result<(), RpcError> {
    let shown: String = wanted.chars().take(100).collect();
    match given {
        Some(given) if given == wanted => Ok(()),
        Some(_) => {
            let why = format!("The header `{header}` differs from the body, which says `{shown}`");
            Err(RpcError::new(HEADER_MISMATCH, why))
        }
        None => Err(RpcError::new(HEADER_MISMATCH, format!("The header `{header}` is missing"))),
    }
}

/// Decodes a header with characters that headers cannot contain: `=?base64?…?=`.
fn decoded(value: &str) -> Cow<'_, str> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes =
        inner.and_then(|inner| base64::engine::general_purpose::STANDARD.decode(inner).ok());
    match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(value),
    }
}

fn unsupported(requested: &str) -> RpcError {
    let versions: Vec<&str> = version::all().collect();
    let requested: String = requested.chars().take(100).collect();
    let data = json!({"supported": versions, "requested": requested});
    let message = "The revision of the protocol is not known here".to_owned();
    RpcError { code: UNSUPPORTED_VERSION, message, data: Some(data) }
}
