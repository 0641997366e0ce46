//! Providers of models: their addresses, protocols and variables.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::adapt::Tell;
use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::lanes::Width;
use crate::model::{ChatModel, Embedder};
use crate::openai::OpenAi;
use crate::secret::{Secret, Secrets, is_secret_parameter, says_who_asks};

/// The protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `OpenAI`'s, which most others support too.
    OpenAi,
    /// `OpenAI`'s, at Azure's addresses.
    Azure,
    /// Anthropic's messages.
    Anthropic,
    /// Google's.
    Gemini,
}

/// A provider known by name.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// The names in settings, the usual one first.
    pub names: &'static [&'static str],
    /// The protocol.
    pub protocol: Protocol,
    /// The address, if there is one for all users.
    pub address: Option<&'static str>,
    /// Environment variables for the key; the first that is set counts.
    pub key_variables: &'static [&'static str],
    /// Environment variables for another address.
    pub address_variables: &'static [&'static str],
    /// Whether a key is required at its own address.
    pub needs_key: bool,
    /// Defaults for asking it.
    pub defaults: CallDefaults,
}

/// Defaults for asking a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallDefaults {
    /// Calls at a time.
    pub width: Width,
    /// The timeout of a reply.
    pub timeout: Duration,
    /// Whether calls cost money.
    pub is_paid: bool,
}

impl CallDefaults {
    /// For providers that serve many users.
    const HOSTED: CallDefaults = CallDefaults {
        width: Width::adapting(16, 16),
        timeout: Duration::from_mins(1),
        is_paid: true,
    };

    /// For a server of which only the address is known.
    pub const UNKNOWN: CallDefaults =
        CallDefaults { width: Width::adapting(4, 16), is_paid: false, ..CallDefaults::HOSTED };

    /// For a local model: few calls at a time, and a long timeout.
    const fn local(begin: usize, most: usize) -> CallDefaults {
        let width = Width::adapting(begin, most);
        CallDefaults { width, timeout: Duration::from_mins(10), is_paid: false }
    }
}

const fn compatible(
    names: &'static [&'static str],
    address: &'static str,
    key_variables: &'static [&'static str],
) -> Provider {
    let needs_key = !key_variables.is_empty();
    Provider {
        names,
        protocol: Protocol::OpenAi,
        address: Some(address),
        key_variables,
        address_variables: &[],
        needs_key,
        defaults: CallDefaults::HOSTED,
    }
}

/// A server that people run themselves, without a key.
const fn local(
    names: &'static [&'static str],
    address: &'static str,
    defaults: CallDefaults,
) -> Provider {
    Provider { defaults, ..compatible(names, address, &[]) }
}

/// All providers known by name.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        names: &["openai"],
        protocol: Protocol::OpenAi,
        address: Some("https://api.openai.com/v1"),
        key_variables: &["OPENAI_API_KEY"],
        address_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        needs_key: true,
        defaults: CallDefaults::HOSTED,
    },
    Provider {
        names: &["azure", "azure_openai"],
        protocol: Protocol::Azure,
        address: None,
        key_variables: &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
        address_variables: &["AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"],
        needs_key: true,
        defaults: CallDefaults::HOSTED,
    },
    Provider {
        names: &["anthropic"],
        protocol: Protocol::Anthropic,
        address: Some("https://api.anthropic.com"),
        key_variables: &["ANTHROPIC_API_KEY"],
        address_variables: &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"],
        needs_key: true,
        defaults: CallDefaults::HOSTED,
    },
    Provider {
        names: &["gemini", "google"],
        protocol: Protocol::Gemini,
        address: Some("https://generativelanguage.googleapis.com"),
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address_variables: &["GEMINI_BASE_URL", "GEMINI_API_BASE"],
        needs_key: true,
        defaults: CallDefaults::HOSTED,
    },
    Provider {
        names: &["openai_compatible", "custom_openai"],
        protocol: Protocol::OpenAi,
        address: None,
        key_variables: &["OPENAI_COMPATIBLE_API_KEY"],
        address_variables: &["OPENAI_COMPATIBLE_BASE_URL"],
        needs_key: false,
        defaults: CallDefaults::UNKNOWN,
    },
    local(&["ollama", "ollama_chat"], "http://127.0.0.1:11434/v1", CallDefaults::local(1, 4)),
    local(
        &["llamacpp", "llama_cpp", "llama.cpp"],
        "http://127.0.0.1:8080/v1",
        CallDefaults::local(1, 4),
    ),
    local(&["vllm", "hosted_vllm"], "http://127.0.0.1:8000/v1", CallDefaults::local(4, 32)),
    local(&["lm_studio", "lmstudio"], "http://127.0.0.1:1234/v1", CallDefaults::local(1, 4)),
    compatible(&["mistral"], "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    compatible(&["groq"], "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    compatible(&["deepseek"], "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    compatible(&["openrouter"], "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    compatible(&["together_ai", "together"], "https://api.together.xyz/v1", &["TOGETHER_API_KEY"]),
    compatible(&["xai"], "https://api.x.ai/v1", &["XAI_API_KEY"]),
];

impl Provider {
    /// Returns the defaults at its own address or at another. What answers elsewhere is not known,
    /// except for local servers, which may be anywhere, and Azure, which has no common address.
    pub fn defaults_at(&self, is_own_address: bool) -> CallDefaults {
        let is_known = is_own_address || !self.defaults.is_paid || self.address.is_none();
        if is_known { self.defaults } else { CallDefaults::UNKNOWN }
    }

    /// Whether an address is the provider's own.
    pub fn is_at(&self, address: &str) -> bool {
        self.address == Some(address.trim_end_matches('/'))
    }

    /// Returns the provider of a name.
    pub fn of(name: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().find(|provider| provider.names.contains(&name))
    }
}

/// Everything needed to ask one model.
#[derive(Clone, Debug)]
pub struct ModelSpec {
    /// The provider.
    pub provider: &'static Provider,
    /// The name of the model at the provider.
    pub model: String,
    /// The key, if one is needed.
    pub key: Option<Secret>,
    /// The address.
    pub address: String,
    /// Whether the address is a gateway to the provider's own models.
    pub is_gateway: bool,
    /// Azure's version of the protocol.
    pub api_version: Option<String>,
    /// Whether replies are streamed.
    pub stream: bool,
    /// Additional headers; their values may be keys too.
    pub headers: Vec<(String, Secret)>,
    /// Other parameters of the provider, such as `temperature`.
    pub parameters: Map<String, Value>,
    /// The timeout of a reply.
    pub timeout: Duration,
    /// The default number of calls at a time.
    pub width: Width,
    /// Whether calls cost money, as far as known.
    pub is_paid: bool,
}

impl ModelSpec {
    /// The name of the model in prices, caches and summaries, such as `openai/gpt-4o-mini`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.names[0], self.model)
    }

    /// Returns the address unless it is the provider's own or a gateway to it.
    /// Leaves out parameters that are keys, which do not affect the reply.
    pub fn other_address(&self) -> Option<String> {
        let is_other = !self.provider.is_at(&self.address) && !self.is_gateway;
        is_other.then(|| {
            let open = self.parameters_of_address().filter(|(_, _, is_secret)| !is_secret);
            let open: Vec<&str> = open.map(|(parameter, ..)| parameter).collect();
            match open[..] {
                [] => self.base().to_owned(),
                _ => format!("{}?{}", self.base(), open.join("&")),
            }
        })
    }

    /// Returns the address without its parameters.
    pub(crate) fn base(&self) -> &str {
        let end = self.address.find(['?', '#']).unwrap_or(self.address.len());
        self.address[..end].trim_end_matches('/')
    }

    fn query(&self) -> Option<&str> {
        let address = self.address.split('#').next().unwrap_or_default();
        address.split_once('?').map(|(_, query)| query).filter(|query| !query.is_empty())
    }

    /// Iterates over the parameters of the address: name, value, and whether it is a key.
    fn parameters_of_address(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.query().into_iter().flat_map(|query| query.split('&')).map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (parameter, value, is_secret_parameter(name, value))
        })
    }

    /// Appends a path to the address, and the address's parameters to those of the path.
    pub(crate) fn url(&self, path: &str) -> String {
        let url = format!("{}/{path}", self.base());
        match self.query() {
            None => url,
            Some(query) if path.contains('?') => format!("{url}&{query}"),
            Some(query) => format!("{url}?{query}"),
        }
    }

    /// Returns all secrets in requests to the model.
    pub(crate) fn secrets(&self) -> Secrets {
        let key = self.key.iter().map(Secret::expose);
        let headers = self.headers.iter().filter(|(name, _)| says_who_asks(name));
        let headers = headers.map(|(_, value)| value.expose());
        let parameters = self.parameters_of_address().filter(|(_, _, is_secret)| *is_secret);
        let parameters = parameters.map(|(_, value, _)| value);
        let (_, rest) = self.base().split_once("://").unwrap_or_default();
        let user = rest.split('/').next().and_then(|authority| authority.rsplit_once('@'));
        let password = user.and_then(|(user, _)| user.split_once(':')).map(|(_, word)| word);
        Secrets::new(key.chain(headers).chain(parameters).chain(password))
    }

    /// Creates the chat model.
    pub fn chat_model(&self, tell: Tell) -> Result<Box<dyn ChatModel>, String> {
        Ok(match self.provider.protocol {
            Protocol::OpenAi | Protocol::Azure => Box::new(OpenAi::new(self, tell)?),
            Protocol::Anthropic => Box::new(Anthropic::new(self, tell)?),
            Protocol::Gemini => Box::new(Gemini::new(self, tell)?),
        })
    }

    /// Creates the embedder.
    pub fn embedder(&self, tell: Tell) -> Result<Box<dyn Embedder>, String> {
        match self.provider.protocol {
            Protocol::OpenAi | Protocol::Azure => Ok(Box::new(OpenAi::new(self, tell)?)),
            Protocol::Gemini => Ok(Box::new(Gemini::new(self, tell)?)),
            Protocol::Anthropic => Err("anthropic serves no embeddings".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_ones_own_need_no_key_and_are_given_time() {
        for name in ["ollama", "llamacpp", "vllm", "lmstudio"] {
            let provider = Provider::of(name).expect("a provider");
            assert!(!provider.needs_key, "{name}");
            assert!(provider.address.is_some_and(|at| at.starts_with("http://127.0.0.1:")));
            for defaults in [provider.defaults_at(true), provider.defaults_at(false)] {
                assert_eq!(defaults.timeout, Duration::from_mins(10), "{name}");
                assert!(defaults.width.adapts && defaults.width.begin <= 4, "{name}");
                assert!(!defaults.is_paid, "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_server_is_asked_little_at_first() {
        let of = |name: &str| Provider::of(name).expect("a provider");
        assert_eq!(of("openai").defaults_at(true).width.begin, 16);
        assert_eq!(of("openai").defaults_at(false), CallDefaults::UNKNOWN);
        assert_eq!(of("openai_compatible").defaults_at(false), CallDefaults::UNKNOWN);
        assert_eq!(of("azure").defaults_at(false).width.begin, 16);
    }
}
