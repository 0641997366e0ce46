//! Finding APIs by words.

use juror_score::tool::names::document_name;

use crate::load::Catalog;

/// The names of all APIs.
pub struct Search(Vec<(usize, usize, String)>);

/// An API that was found.
pub struct Match {
    /// Its tool's place in the catalog.
    pub tool: usize,
    /// Its own place in the tool.
    pub api: usize,
    /// How well it fits.
    pub score: f32,
}

impl Search {
    /// Takes the APIs of a catalog.
    pub fn new(catalog: &Catalog) -> Search {
        let names = catalog.tools.iter().enumerate().flat_map(|(at, tool)| {
            let name = |api: &str| document_name(&tool.name, api).to_lowercase();
            let name = move |(n, api): (usize, &juror_score::tool::Api)| (at, n, name(&api.name));
            tool.apis.iter().enumerate().map(name)
        });
        Search(names.collect())
    }

    /// The best, the best first.
    pub fn find(&self, query: &str, most: usize) -> Vec<Match> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().filter(|word| word.len() > 2).collect();
        let score = |name: &str| words.iter().filter(|word| name.contains(**word)).count() as f32;
        let scored = self.0.iter().map(|(tool, api, name)| Match {
            tool: *tool,
            api: *api,
            score: score(name),
        });
        let mut found: Vec<Match> = scored.filter(|found| found.score > 0.0).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(most);
        found
    }
}
