//! Who serves models, where, and by which protocol.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::adapt::Tell;
use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::lanes::Width;
use crate::model::{ChatModel, Embedder};
use crate::openai::OpenAi;
use crate::secret::{Secret, Secrets, is_secret_parameter, says_who_asks};

/// The protocol a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `OpenAI`'s, which most others speak too.
    OpenAi,
    /// The same at Azure's addresses.
    Azure,
    /// Anthropic's messages.
    Anthropic,
    /// Google's.
    Gemini,
}

/// A provider that is known by name.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Its names in settings; the first is the usual one.
    pub names: &'static [&'static str],
    /// What it speaks.
    pub protocol: Protocol,
    /// Its address, where it has one for all.
    pub address: Option<&'static str>,
    /// Environment variables that may hold its key, the first that is set counts.
    pub key_variables: &'static [&'static str],
    /// Environment variables that may hold another address.
    pub address_variables: &'static [&'static str],
    /// Whether it asks for a key at its own address.
    pub needs_key: bool,
    /// How it is asked, unless settings say otherwise.
    pub manners: Manners,
}

/// How a server is asked, unless settings say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Calls at a time.
    pub width: Width,
    /// How long a reply may take.
    pub timeout: Duration,
    /// Whether somebody is paid for it.
    pub is_paid: bool,
}

impl Manners {
    /// Of providers who serve many at once.
    const HOSTED: Manners =
        Manners { width: Width::adapting(16, 16), timeout: Duration::from_mins(1), is_paid: true };

    /// Of a server of which nothing is known but its address.
    pub const UNKNOWN: Manners =
        Manners { width: Width::adapting(4, 16), is_paid: false, ..Manners::HOSTED };

    /// Of a model on somebody's own machine: few at a time, and no hurry.
    const fn local(begin: usize, most: usize) -> Manners {
        let width = Width::adapting(begin, most);
        Manners { width, timeout: Duration::from_mins(10), is_paid: false }
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
        manners: Manners::HOSTED,
    }
}

/// A server that people run themselves, without a key.
const fn local(
    names: &'static [&'static str],
    address: &'static str,
    manners: Manners,
) -> Provider {
    Provider { manners, ..compatible(names, address, &[]) }
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
        manners: Manners::HOSTED,
    },
    Provider {
        names: &["azure", "azure_openai"],
        protocol: Protocol::Azure,
        address: None,
        key_variables: &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
        address_variables: &["AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"],
        needs_key: true,
        manners: Manners::HOSTED,
    },
    Provider {
        names: &["anthropic"],
        protocol: Protocol::Anthropic,
        address: Some("https://api.anthropic.com"),
        key_variables: &["ANTHROPIC_API_KEY"],
        address_variables: &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"],
        needs_key: true,
        manners: Manners::HOSTED,
    },
    Provider {
        names: &["gemini", "google"],
        protocol: Protocol::Gemini,
        address: Some("https://generativelanguage.googleapis.com"),
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address_variables: &["GEMINI_BASE_URL", "GEMINI_API_BASE"],
        needs_key: true,
        manners: Manners::HOSTED,
    },
    Provider {
        names: &["openai_compatible", "custom_openai"],
        protocol: Protocol::OpenAi,
        address: None,
        key_variables: &["OPENAI_COMPATIBLE_API_KEY"],
        address_variables: &["OPENAI_COMPATIBLE_BASE_URL"],
        needs_key: false,
        manners: Manners::UNKNOWN,
    },
    local(&["ollama", "ollama_chat"], "http://127.0.0.1:11434/v1", Manners::local(1, 4)),
    local(
        &["llamacpp", "llama_cpp", "llama.cpp"],
        "http://127.0.0.1:8080/v1",
        Manners::local(1, 4),
    ),
    local(&["vllm", "hosted_vllm"], "http://127.0.0.1:8000/v1", Manners::local(4, 32)),
    local(&["lm_studio", "lmstudio"], "http://127.0.0.1:1234/v1", Manners::local(1, 4)),
    compatible(&["mistral"], "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    compatible(&["groq"], "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    compatible(&["deepseek"], "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    compatible(&["openrouter"], "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    compatible(&["together_ai", "together"], "https://api.together.xyz/v1", &["TOGETHER_API_KEY"]),
    compatible(&["xai"], "https://api.x.ai/v1", &["XAI_API_KEY"]),
];

impl Provider {
    /// How it is asked, at its own address or at another. Who answers elsewhere is not known,
    /// except that people put their own servers wherever they like, and Azure has no address for all.
    pub fn manners_at(&self, is_own_address: bool) -> Manners {
        let is_known = is_own_address || !self.manners.is_paid || self.address.is_none();
        if is_known { self.manners } else { Manners::UNKNOWN }
    }

    /// Whether an address is its own, written out or not.
    pub fn is_at(&self, address: &str) -> bool {
        self.address == Some(address.trim_end_matches('/'))
    }

    /// The provider of a name.
    pub fn of(name: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().find(|provider| provider.names.contains(&name))
    }
}

/// Everything needed to ask one model.
#[derive(Clone, Debug)]
pub struct ModelSpec {
    /// Who serves it, as settings name it.
    pub provider: &'static Provider,
    /// Its name there.
    pub model: String,
    /// The key, where one is needed.
    pub key: Option<Secret>,
    /// Where it is asked.
    pub address: String,
    /// Whether calls are passed on from there to the provider's own models.
    pub is_gateway: bool,
    /// Azure's version of the protocol.
    pub api_version: Option<String>,
    /// Whether replies are streamed.
    pub stream: bool,
    /// Headers to send along; their values may be keys too.
    pub headers: Vec<(String, Secret)>,
    /// Whatever else the provider takes, such as `temperature`.
    pub parameters: Map<String, Value>,
    /// How long a reply may take.
    pub timeout: Duration,
    /// Calls at a time, unless settings say otherwise.
    pub width: Width,
    /// Whether somebody is paid for it, as far as is known.
    pub is_paid: bool,
}

impl ModelSpec {
    /// What the model is called in prices, caches and summaries: `openai/gpt-4o-mini`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.names[0], self.model)
    }

    /// Where it is asked, unless that is its provider's own address, or leads there.
    /// Parameters that hold keys are left out: they do not decide what is replied.
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

    /// The address up to its parameters.
    pub(crate) fn base(&self) -> &str {
        let end = self.address.find(['?', '#']).unwrap_or(self.address.len());
        self.address[..end].trim_end_matches('/')
    }

    fn query(&self) -> Option<&str> {
        let address = self.address.split('#').next().unwrap_or_default();
        address.split_once('?').map(|(_, query)| query).filter(|query| !query.is_empty())
    }

    /// The parameters of the address, each with its value, and whether that is a key.
    fn parameters_of_address(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.query().into_iter().flat_map(|query| query.split('&')).map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (parameter, value, is_secret_parameter(name, value))
        })
    }

    /// The address with a path after it, and the address's parameters after those of the path.
    pub(crate) fn url(&self, path: &str) -> String {
        let url = format!("{}/{path}", self.base());
        match self.query() {
            None => url,
            Some(query) if path.contains('?') => format!("{url}&{query}"),
            Some(query) => format!("{url}?{query}"),
        }
    }

    /// All that the model is asked with and nobody else may see.
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

    /// A model that writes.
    pub fn chat_model(&self, tell: Tell) -> Result<Box<dyn ChatModel>, String> {
        Ok(match self.provider.protocol {
            Protocol::OpenAi | Protocol::Azure => Box::new(OpenAi::new(self, tell)?),
            Protocol::Anthropic => Box::new(Anthropic::new(self, tell)?),
            Protocol::Gemini => Box::new(Gemini::new(self, tell)?),
        })
    }

    /// A model that turns texts into vectors.
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
            for manners in [provider.manners_at(true), provider.manners_at(false)] {
                assert_eq!(manners.timeout, Duration::from_mins(10), "{name}");
                assert!(manners.width.adapts && manners.width.begin <= 4, "{name}");
                assert!(!manners.is_paid, "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_server_is_asked_little_at_first() {
        let of = |name: &str| Provider::of(name).expect("a provider");
        assert_eq!(of("openai").manners_at(true).width.begin, 16);
        assert_eq!(of("openai").manners_at(false), Manners::UNKNOWN);
        assert_eq!(of("openai_compatible").manners_at(false), Manners::UNKNOWN);
        assert_eq!(of("azure").manners_at(false).width.begin, 16);
    }
}
