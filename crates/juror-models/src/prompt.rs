//! Prompts, and the random marker that separates quoted texts from instructions.
//!
//! A marker is drawn for each call, so that a quoted text cannot end its own fence. The key of a call
//! does not include the marker: two calls that differ only in it are the same call.

use std::fmt::Write;

/// A prompt with its texts filled in, and the marker still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub(crate) system: Option<Vec<Part>>,
    pub(crate) user: Vec<Part>,
    /// The indices of the parts of `user` that are between fences.
    fenced: Vec<usize>,
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that decides the reply.
    Text(String),
    /// A place for the marker.
    Marker,
}

impl Prompt {
    /// Creates a prompt without fences.
    pub fn plain(system: Option<String>, user: String) -> Prompt {
        let system = system.map(|text| vec![Part::Text(text)]);
        Prompt { system, user: vec![Part::Text(user)], fenced: Vec::new() }
    }

    /// Creates a prompt with texts between fences, which are lines that contain the marker. `fenced`
    /// are the indices of those texts among the parts of `user`.
    pub fn with_fences(system: Vec<Part>, user: Vec<Part>, fenced: Vec<usize>) -> Prompt {
        Prompt { system: Some(system), user, fenced }
    }

    /// Iterates over the texts between fences.
    pub fn fenced(&self) -> impl Iterator<Item = &str> {
        self.fenced.iter().filter_map(|place| match self.user.get(*place) {
            Some(Part::Text(text)) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the system and user prompts with a marker that occurs in none of their texts.
    pub fn render(&self) -> (Option<String>, String) {
        let mut marker = random_marker();
        while self.parts().any(|part| matches!(part, Part::Text(text) if text.contains(&marker))) {
            marker = random_marker();
        }
        self.rendered_with(&marker)
    }

    /// Returns the system and user prompts with a marker.
    pub(crate) fn rendered_with(&self, marker: &str) -> (Option<String>, String) {
        let render = |parts: &[Part]| {
            let mut rendered = String::new();
            for part in parts {
                rendered.push_str(match part {
                    Part::Text(text) => text,
                    Part::Marker => marker,
                });
            }
            rendered
        };
        (self.system.as_deref().map(render), render(&self.user))
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.system.iter().flatten().chain(&self.user)
    }

    /// Returns the approximate number of characters, to estimate tokens.
    pub(crate) fn n_characters(&self) -> usize {
        self.parts().map(|part| if let Part::Text(text) = part { text.len() } else { 16 }).sum()
    }
}

/// Returns sixteen random hexadecimal digits.
fn random_marker() -> String {
    let mut bytes = [0; 8];
    // Without randomness not even a TLS connection would be possible. Counting still finds a marker
    // that occurs in no text.
    if getrandom::fill(&mut bytes).is_err() {
        let nanoseconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        bytes = nanoseconds.map_or(0, |time| u64::from(time.subsec_nanos())).to_le_bytes();
    }
    bytes.iter().fold(String::new(), |mut marker, byte| {
        // Writing to a string does not fail.
        let _ = write!(marker, "{byte:02x}");
        marker
    })
}
