//! Prices of models.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::Usage;

/// The built-in table of published prices.
const TABLE: &str = include_str!("../prices.json");

/// The price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Price of tokens sent.
    pub input: f64,
    /// Price of tokens that the model writes.
    #[serde(default)]
    pub output: f64,
}

impl Price {
    /// Returns the cost of a call.
    pub fn of(self, usage: Usage) -> f64 {
        let (input, output) = (usage.input_tokens as f64, usage.output_tokens as f64);
        (input * self.input + output * self.output) / 1e6
    }
}

/// Prices by model.
#[derive(Clone, Debug)]
pub struct Prices {
    as_of: String,
    own: BTreeMap<String, Price>,
    published: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
struct PriceTable {
    as_of: String,
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// Creates prices from the user's own and the built-in table; the user's take precedence.
    pub fn new(own: BTreeMap<String, Price>) -> Prices {
        // A test checks that the table is valid.
        let table: Option<PriceTable> = serde_json::from_str(TABLE).ok();
        let (as_of, published) = table.map(|table| (table.as_of, table.models)).unwrap_or_default();
        Prices { as_of, own, published }
    }

    /// The date of the built-in table.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// Whether the user has prices of their own.
    pub(crate) fn has_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// Returns the price of a model, named `provider/model`. The user's own prices may omit the
    /// provider. A date at the end of a model's name is ignored.
    pub fn of(&self, name: &str) -> Option<Price> {
        let (provider, model) = name.split_once('/')?;
        let undated = without_date(model);
        let own = [name, model, undated].into_iter().find_map(|name| self.own.get(name));
        // Azure sells OpenAI's models at OpenAI's prices, under names that the user chooses.
        let provider = if provider == "azure" { "openai" } else { provider };
        let published = |model: &str| self.published.get(&format!("{provider}/{model}"));
        own.or_else(|| published(model)).or_else(|| published(undated)).copied()
    }
}

/// Removes the date from a name such as `gpt-4o-2024-08-06` or `claude-haiku-4-5-20251001`.
fn without_date(model: &str) -> &str {
    let bytes = model.as_bytes();
    for (length, shape) in [(11, "-dddd-dd-dd"), (9, "-dddddddd")] {
        let Some(start) = bytes.len().checked_sub(length) else { continue };
        let fits = |(byte, shape): (&u8, u8)| match shape {
            b'd' => byte.is_ascii_digit(),
            other => *byte == other,
        };
        if bytes[start..].iter().zip(shape.bytes()).all(fits) {
            return &model[..start];
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_dated_and_priced() {
        let prices = Prices::new(BTreeMap::new());
        assert_eq!(prices.as_of().len(), "2026-01-01".len());
        let price = prices.of("openai/gpt-4o-mini").expect("the default model");
        let usage = Usage { input_tokens: 100, output_tokens: 20 };
        assert!((price.of(usage) - 2.7e-5).abs() < 1e-12);
        assert_eq!(prices.of("openai/gpt-4o-mini-2024-07-18"), Some(price));
        assert_eq!(prices.of("azure/gpt-4o-mini"), Some(price));
        assert_eq!(prices.of("vllm/gpt-4o-mini"), None);
    }

    #[test]
    fn own_prices_come_first() {
        let own = Price { input: 1.0, output: 2.0 };
        let prices = Prices::new([("gpt-4o-mini".to_owned(), own)].into());
        assert_eq!(prices.of("openai/gpt-4o-mini"), Some(own));
        assert_eq!(prices.of("ollama/gpt-4o-mini"), Some(own));
    }
}
