//! Errors in the formats of the providers.

use serde_json::{Value, json};

use crate::seen::Protocol;

/// Why a request gets no reply from a model.
pub(crate) struct Problem {
    pub(crate) status: u16,
    pub(crate) message: String,
    /// The wrong parameter.
    pub(crate) param: Option<&'static str>,
    pub(crate) code: Option<&'static str>,
}

impl Problem {
    /// An invalid request.
    pub(crate) fn invalid(message: impl Into<String>) -> Problem {
        Problem { status: 400, message: message.into(), param: None, code: None }
    }

    /// The usual message for a status.
    pub(crate) fn of_status(status: u16, model: &str) -> Problem {
        let (message, code) = match status {
            401 => ("Incorrect API key provided.".to_owned(), Some("invalid_api_key")),
            403 => ("Your key does not have access to this resource.".to_owned(), None),
            404 => (
                format!("The model `{model}` does not exist or you do not have access to it."),
                Some("model_not_found"),
            ),
            413 => ("Request exceeds the maximum size.".to_owned(), None),
            429 => (
                format!(
                    "Rate limit reached for {model} on requests per min (RPM): Limit 500, \
                     Used 500, Requested 1. Please try again in 120ms."
                ),
                Some("rate_limit_exceeded"),
            ),
            500 => ("The server had an error while processing your request.".to_owned(), None),
            503 | 529 => ("The model is overloaded. Please try again later.".to_owned(), None),
            504 => ("The request timed out.".to_owned(), None),
            _ => (format!("The request failed with status {status}."), None),
        };
        Problem { status, message, param: None, code }
    }

    /// A wrong key. The message quotes it, as `OpenAI`'s does, to test that clients do not pass it
    /// on.
    pub(crate) fn wrong_key(key: Option<&str>) -> Problem {
        let message = match key {
            Some(key) => format!(
                "Incorrect API key provided: {key}. You can find your API key at \
                 https://platform.openai.com/account/api-keys."
            ),
            None => "You didn't provide an API key.".to_owned(),
        };
        Problem { status: 401, message, param: None, code: Some("invalid_api_key") }
    }

    /// A feature that the model does not support.
    pub(crate) fn refused(feature: &'static str) -> Problem {
        let unsupported = |rest: &str| format!("Unsupported value: {rest}");
        let unknown = || format!("Unrecognized request argument supplied: {feature}");
        let (param, code, message) = match feature {
            "json_schema" | "json_object" => (
                "response_format",
                None,
                format!(
                    "Invalid parameter: 'response_format' of type '{feature}' is not supported \
                     with this model."
                ),
            ),
            "tools" => ("tools", None, "tools is not supported in this model.".to_owned()),
            "temperature" => (
                "temperature",
                Some("unsupported_value"),
                unsupported(
                    "'temperature' does not support 0 with this model. Only the default (1) value \
                     is supported.",
                ),
            ),
            "stream" => (
                "stream",
                Some("unsupported_value"),
                unsupported("'stream' does not support true with this model."),
            ),
            "max_tokens" => (
                "max_tokens",
                Some("unsupported_parameter"),
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                 'max_completion_tokens' instead."
                    .to_owned(),
            ),
            _ => (feature, None, unknown()),
        };
        Problem { status: 400, message, param: Some(param), code }
    }

    /// The body that the provider sends.
    pub(crate) fn body(&self, protocol: Protocol) -> Value {
        match protocol {
            Protocol::OpenAi => self.openai(),
            // Azure's gateway has errors of its own; the models behind it have those of `OpenAI`.
            Protocol::Azure if matches!(self.status, 401 | 403 | 404 | 429) => {
                json!({"error": {"code": self.status.to_string(), "message": self.message}})
            }
            Protocol::Azure => self.openai(),
            Protocol::Anthropic => json!({
                "type": "error",
                "error": {"type": anthropic_type(self.status), "message": self.message},
                "request_id": "req_scripted",
            }),
            Protocol::Gemini => json!({"error": {
                "code": self.status,
                "message": self.message,
                "status": gemini_status(self.status),
            }}),
        }
    }

    fn openai(&self) -> Value {
        let kind = match self.status {
            429 => "requests",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {
            "message": self.message,
            "type": kind,
            "param": self.param,
            "code": self.code,
        }})
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn gemini_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
