//! Who serves models, where, and by which protocol.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::adapt::Tell;
use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::model::{ChatModel, Embedder};
use crate::openai::OpenAi;
use crate::secret::Secret;

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
    }
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
    },
    Provider {
        names: &["azure", "azure_openai"],
        protocol: Protocol::Azure,
        address: None,
        key_variables: &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
        address_variables: &["AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"],
        needs_key: true,
    },
    Provider {
        names: &["anthropic"],
        protocol: Protocol::Anthropic,
        address: Some("https://api.anthropic.com"),
        key_variables: &["ANTHROPIC_API_KEY"],
        address_variables: &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"],
        needs_key: true,
    },
    Provider {
        names: &["gemini", "google"],
        protocol: Protocol::Gemini,
        address: Some("https://generativelanguage.googleapis.com"),
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address_variables: &["GEMINI_BASE_URL", "GEMINI_API_BASE"],
        needs_key: true,
    },
    Provider {
        names: &["openai_compatible", "custom_openai"],
        protocol: Protocol::OpenAi,
        address: None,
        key_variables: &["OPENAI_COMPATIBLE_API_KEY"],
        address_variables: &["OPENAI_COMPATIBLE_BASE_URL"],
        needs_key: false,
    },
    compatible(&["ollama", "ollama_chat"], "http://127.0.0.1:11434/v1", &[]),
    compatible(&["vllm", "hosted_vllm"], "http://127.0.0.1:8000/v1", &[]),
    compatible(&["lm_studio"], "http://127.0.0.1:1234/v1", &[]),
    compatible(&["mistral"], "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    compatible(&["groq"], "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    compatible(&["deepseek"], "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    compatible(&["openrouter"], "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    compatible(&["together_ai", "together"], "https://api.together.xyz/v1", &["TOGETHER_API_KEY"]),
    compatible(&["xai"], "https://api.x.ai/v1", &["XAI_API_KEY"]),
];

impl Provider {
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
}

impl ModelSpec {
    /// What the model is called in prices, caches and summaries: `openai/gpt-4o-mini`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.names[0], self.model)
    }

    /// The address with a path after it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.address.trim_end_matches('/'))
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
