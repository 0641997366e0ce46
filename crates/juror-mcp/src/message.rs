//! Messages of JSON-RPC.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The text is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// The JSON is no request.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters of a request are wrong, such as the name of a tool.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// Something failed on the way.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// Headers of a request contradict its body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The revision of a request is not known.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// A message, as far as it can be read.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'m> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'m RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'m, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'m RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'m RawValue>,
    #[serde(default)]
    pub(crate) error: Option<RpcError>,
}

impl<'m> Message<'m> {
    /// Reads a message; an error says what is wrong with it.
    pub(crate) fn read(text: &'m str) -> Result<Message<'m>, RpcError> {
        let no_object = || RpcError::new(INVALID_REQUEST, "The message is not a JSON-RPC object");
        // A list would be read as the fields in order.
        if text.trim_start().starts_with('[') {
            return Err(no_object());
        }
        serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => no_object(),
            _ => RpcError::new(PARSE_ERROR, "The message is not JSON"),
        })
    }

    /// The id of a request: a text or a whole number.
    pub(crate) fn request_id(&self) -> Result<Option<&'m RawValue>, RpcError> {
        let is_id = |id: &&RawValue| {
            let text = id.get();
            text.starts_with('"') || text.parse::<i64>().is_ok()
        };
        match self.id {
            None => Ok(None),
            Some(id) if is_id(&id) => Ok(Some(id)),
            Some(_) => Err(RpcError::new(INVALID_REQUEST, "An id is a text or a whole number")),
        }
    }
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// Its code.
    #[serde(default)]
    pub code: i64,
    /// What went wrong, in words.
    #[serde(default)]
    pub message: String,
    /// More about it.
    #[serde(default)]
    pub data: Option<Value>,
}

impl RpcError {
    /// Creates an error without data.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// The parameters of a request are wrong, such as the name of a tool.
    pub fn bad_parameters(message: impl Into<String>) -> RpcError {
        RpcError::new(INVALID_PARAMS, message)
    }

    /// Whether a tool was called with arguments that it does not take.
    pub fn is_about_arguments(&self) -> bool {
        self.code == INVALID_PARAMS
    }

    /// The reply to a request that this error is about.
    pub(crate) fn reply(&self, id: Option<&RawValue>) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        let id = id.map_or("null", RawValue::get);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}

/// The reply to a request; `result` is JSON.
pub(crate) fn reply(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_by_its_code() {
        let code = |text: &str| Message::read(text).map_or_else(|error| error.code, |_| 0);
        assert_eq!(code("{"), PARSE_ERROR);
        assert_eq!(code("[]"), INVALID_REQUEST);
        assert_eq!(code("5"), INVALID_REQUEST);
        assert_eq!(code(r#"{"id": 1}"#), 0);
        for id in ["1.5", "null", "[]", "true"] {
            let text = format!(r#"{{"id": {id}, "method": "m"}}"#);
            let message = Message::read(&text).expect("a message");
            let is_refused = message.request_id().is_err();
            assert_eq!(is_refused, id != "null", "{id}");
        }
    }
}
