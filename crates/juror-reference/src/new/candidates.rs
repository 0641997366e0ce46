//! The questions that a template could ask: one for each combination of values.

use hashbrown::{HashMap, HashSet};
use juror_graph::{QueryPattern, Table, Term, is_allowed};

use super::doubt::Doubt;
use super::templates::Usable;
use super::text_pattern::TextPattern;

/// The most combinations of values.
const MOST: usize = 1_000_000;

/// A question that could be asked.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'v> {
    pub(super) values: Vec<(&'v str, &'v Term)>,
    pub(super) text: String,
}

impl<'v> Candidate<'v> {
    pub(super) fn value(&self, name: &str) -> Option<&'v Term> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, term)| *term)
    }

    /// Returns the value of a name as it stands in texts.
    pub(super) fn text_of(&self, name: &str) -> Option<String> {
        self.value(name).map(|term| text_of(term).to_owned())
    }

    /// Two candidates with the same key are one.
    fn key(&self) -> String {
        let terms = self.values.iter().map(|(_, term)| term.to_string());
        terms.collect::<Vec<_>>().join("\n")
    }
}

/// Returns a term as it stands in texts.
pub(super) fn text_of(term: &Term) -> &str {
    match term {
        Term::NamedNode(node) => node.as_str(),
        Term::BlankNode(node) => node.as_str(),
        Term::Literal(literal) => literal.value(),
    }
}

/// Returns all candidates, in the order in which they are chosen: drawn by the seed, whatever the order in
/// which the graph gives them. Those whose text does not tell them apart from others are left out. Fails with
/// a doubt about the template as a whole.
pub(super) fn candidates<'v>(
    usable: &'v Usable,
    tables: &[&'v Table],
    seed: u64,
    doubts: &mut Vec<Doubt>,
) -> Result<Vec<Candidate<'v>>, Doubt> {
    let used = used_names(usable);
    let mut lists: Vec<Vec<Row<'v>>> = Vec::new();
    for (names, table) in usable.names.iter().zip(tables) {
        lists.push(rows(&columns(names, table, &used)?, table, doubts));
    }
    let n = lists.iter().try_fold(1_usize, |n, rows| n.checked_mul(rows.len()));
    if n.is_none_or(|n| n > MOST) {
        return Err(Doubt::TooMany { most: MOST });
    }
    let mut all: Vec<Row<'v>> = vec![Vec::new()];
    for rows in &lists {
        all = all.iter().flat_map(|row| rows.iter().map(|own| [&row[..], own].concat())).collect();
    }
    let all = all.into_iter().map(|values| {
        let mut candidate = Candidate { values, text: String::new() };
        candidate.text = usable.text.fill(|name| candidate.text_of(name));
        candidate
    });
    Ok(drawn(told_apart(all.collect(), doubts), &usable.template.template_id, seed))
}

type Row<'v> = Vec<(&'v str, &'v Term)>;

/// Finds the columns of names that are used: a server may give columns in another order than the query.
fn columns<'v>(
    names: &'v [String],
    table: &Table,
    used: &HashSet<String>,
) -> Result<Vec<(&'v str, usize)>, Doubt> {
    let names = names.iter().map(String::as_str).filter(|name| used.contains(*name));
    names
        .map(|name| match table.columns().position(|column| column == name) {
            Some(at) => Ok((name, at)),
            None => Err(Doubt::Fails {
                question: None,
                n: 1,
                why: format!("the graph answers without the column `{name}`"),
                hint: None,
            }),
        })
        .collect()
}

/// Returns the rows that differ in what is used of them.
fn rows<'v>(
    columns: &[(&'v str, usize)],
    table: &'v Table,
    doubts: &mut Vec<Doubt>,
) -> Vec<Row<'v>> {
    let mut known = HashSet::new();
    let (mut all, mut n_unusable) = (Vec::new(), 0);
    for row in table.rows() {
        let row: Option<Row<'v>> = columns
            .iter()
            .map(|(name, at)| {
                let is_usable = |term: &&Term| !term.is_blank_node() && is_allowed(term);
                Some((*name, row[*at].as_ref().filter(is_usable)?))
            })
            .collect();
        match row {
            None => n_unusable += 1,
            Some(row) => {
                let candidate = Candidate { values: row, text: String::new() };
                if known.insert(candidate.key()) {
                    all.push(candidate.values);
                }
            }
        }
    }
    if n_unusable > 0 {
        doubts.push(Doubt::NoValue { n: n_unusable });
    }
    all
}

/// Returns the names that make a difference.
fn used_names(usable: &Usable) -> HashSet<String> {
    let mut used: HashSet<String> = usable.text.names().map(str::to_owned).collect();
    used.extend(usable.answer.iter().flat_map(TextPattern::names).map(str::to_owned));
    for step in usable.steps.iter().flatten() {
        used.extend(step.query.iter().flat_map(QueryPattern::names).map(str::to_owned));
        let rest = [&step.step.args, &step.step.rest].map(serde_json::to_string);
        for text in rest.into_iter().flatten() {
            used.extend(TextPattern::parse(&text).names().map(str::to_owned));
        }
    }
    used
}

/// Leaves out questions that could mean one thing as well as another.
fn told_apart<'v>(all: Vec<Candidate<'v>>, doubts: &mut Vec<Doubt>) -> Vec<Candidate<'v>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for candidate in &all {
        *counts.entry(&candidate.text).or_default() += 1;
    }
    let mut equal: Vec<(String, usize)> =
        counts.iter().filter(|(_, n)| **n > 1).map(|(text, n)| ((*text).to_owned(), *n)).collect();
    drop(counts);
    equal.sort_unstable();
    let Some((question, n)) = equal.first().cloned() else { return all };
    doubts.push(Doubt::Equal { question, n, n_more: equal.len() - 1 });
    let equal: HashSet<String> = equal.into_iter().map(|(text, _)| text).collect();
    all.into_iter().filter(|candidate| !equal.contains(&candidate.text)).collect()
}

/// Brings candidates into an order that depends on the seed and on each alone, so that a new value moves no
/// other.
fn drawn<'v>(all: Vec<Candidate<'v>>, template: &str, seed: u64) -> Vec<Candidate<'v>> {
    let rank = |candidate: &Candidate<'_>| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(template.as_bytes()).update(&[0]);
        hasher.update(candidate.key().as_bytes());
        *hasher.finalize().as_bytes()
    };
    let mut all: Vec<([u8; 32], Candidate<'v>)> =
        all.into_iter().map(|candidate| (rank(&candidate), candidate)).collect();
    all.sort_unstable_by_key(|(rank, _)| *rank);
    all.into_iter().map(|(_, candidate)| candidate).collect()
}
