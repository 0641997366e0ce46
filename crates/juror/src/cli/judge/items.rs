//! What is judged: the queries that count, and each one's answers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use juror_run::bench::Selected;
use juror_run::{Place, Places};
use juror_toolbench::Query;
use juror_toolbench::answer::{Answers, Recorded};
use serde_json::{Map, Value, json};

use super::queries;
use crate::output;

/// Which queries count.
pub(super) enum Count {
    /// Those that have an answer.
    Answered,
    /// Those of these ids, answered or not.
    Ids(Vec<String>),
    /// These, answered or not.
    Queries(Vec<Selected>),
}

/// An answer to a query that counts, or of several agents the answers that belong together.
pub(super) struct Item<'a> {
    pub(super) id: String,
    /// The set of the query, where that is told.
    set: Option<String>,
    /// Which of several answers to the query it is, from 1 on; nothing where there is one.
    trial: Option<usize>,
    /// What files know it by: the id, unless several share it.
    pub(super) key: String,
    pub(super) text: String,
    /// What is known of the query, where queries were given.
    pub(super) query: Option<&'a Query>,
    /// The answer of each agent; nothing where it has none.
    pub(super) answers: Vec<Option<&'a Recorded<'a>>>,
    /// Whether any agent was asked, as far as is told.
    was_asked: bool,
    /// Whether an agent failed, and so has no answer.
    pub(super) has_failed: bool,
    /// Stands for the query: several answers to one have the same.
    pub(super) query_number: usize,
}

impl Item<'_> {
    /// What tells it from others, for machines.
    pub(super) fn named(&self) -> Map<String, Value> {
        let mut fields = Map::from_iter([("query_id".to_owned(), json!(self.id))]);
        fields.extend(self.set.as_ref().map(|set| ("test_set".to_owned(), json!(set))));
        fields.extend(self.trial.map(|trial| ("trial".to_owned(), json!(trial))));
        fields
    }

    /// The answer of the only agent; nothing where it has none.
    pub(super) fn answer(&self) -> Option<&Recorded<'_>> {
        self.answers.first().copied().flatten()
    }
}

/// What each agent answered to a query.
type Given<'a> = Vec<Vec<&'a Recorded<'a>>>;

/// Everything that is judged of one agent or several: all answers to all queries that count, in
/// the order of the queries, or else of the answers. Agents come with the places of their answers.
pub(super) fn items<'a>(
    count: &'a Count,
    agents: &[(&str, &'a Answers<'a>)],
) -> anyhow::Result<Vec<Item<'a>>> {
    let known = Known::read(count, agents)?;
    let nothing = || vec![Vec::new(); agents.len()];
    let wanted: Vec<(Place<'a>, Option<&'a Query>, Given<'a>)> = match count {
        Count::Answered => {
            known.all.iter().map(|(key, given)| (*key, None, given.clone())).collect()
        }
        Count::Ids(ids) => ids.iter().flat_map(|id| known.of_id(id, &nothing)).collect(),
        Count::Queries(queries) => {
            let own = |one: &'a Selected| {
                let key = (one.set.as_str(), one.id.as_str());
                (key, Some(&one.query), known.get(&key).cloned().unwrap_or_else(nothing))
            };
            queries.iter().map(own).collect()
        }
    };
    let keys: Vec<Place<'a>> = wanted.iter().map(|(key, ..)| *key).collect();
    let shared = shared_ids(&keys);
    let has_sets = has_sets(agents);
    let mut items = Vec::new();
    for (number, ((set, id), query, given)) in wanted.into_iter().enumerate() {
        let is_shared = shared.contains(id);
        let told = if has_sets || is_shared { set } else { "" };
        items.extend(of_query(number, (told, id), is_shared, query, &given)?);
    }
    Ok(items)
}

/// Whether the queries are of several sets, so that ids alone may not tell them apart.
fn has_sets(agents: &[(&str, &Answers<'_>)]) -> bool {
    let of = |(_, answers): &(&str, &Answers<'_>)| {
        let sets = answers.iter().filter_map(|(_, recorded)| recorded.set.as_deref());
        sets.collect::<HashSet<&str>>().len() > 1
    };
    agents.iter().any(of)
}

/// All answers, in the order that their queries first come in.
#[derive(Default)]
struct Known<'a> {
    all: Vec<(Place<'a>, Given<'a>)>,
    at: HashMap<Place<'a>, usize>,
}

impl<'a> Known<'a> {
    /// The answers to the queries that count, where those are told, or else to all: those of later
    /// agents belong to the queries of the first.
    fn read(count: &'a Count, agents: &[(&str, &'a Answers<'a>)]) -> anyhow::Result<Known<'a>> {
        let mut known = Known::default();
        if let Count::Queries(queries) = count {
            for one in queries {
                known.entry((&one.set, &one.id), agents.len());
            }
        }
        for (agent, (place, answers)) in agents.iter().enumerate() {
            let own = |(id, recorded): &'a (Cow<'a, str>, Recorded<'a>)| -> Place<'a> {
                (recorded.set.as_deref().unwrap_or_default(), id)
            };
            let own: Vec<Place<'a>> = answers.iter().map(own).collect();
            let places = Places::of(known.all.iter().map(|(key, _)| *key));
            let found = places.of_answers(&own).map_err(|why| anyhow::anyhow!("{place}: {why}"))?;
            for ((found, own), (_, recorded)) in found.into_iter().zip(own).zip(*answers) {
                let key = match count {
                    Count::Queries(_) => found,
                    Count::Answered | Count::Ids(_) => found.or(Some(own)),
                };
                if let Some(key) = key {
                    known.entry(key, agents.len())[agent].push(recorded);
                }
            }
        }
        Ok(known)
    }

    fn entry(&mut self, key: Place<'a>, n_agents: usize) -> &mut Given<'a> {
        let at = *self.at.entry(key).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push((key, vec![Vec::new(); n_agents]));
        }
        &mut self.all[at].1
    }

    fn get(&self, key: &Place<'_>) -> Option<&Given<'a>> {
        self.at.get(key).map(|at| &self.all[*at].1)
    }

    /// The queries of an id, of all sets; one without an answer where there is none.
    fn of_id(
        &self,
        id: &'a String,
        nothing: &impl Fn() -> Given<'a>,
    ) -> Vec<(Place<'a>, Option<&'a Query>, Given<'a>)> {
        let own = self.all.iter().filter(|((_, other), _)| other == id);
        let found: Vec<_> = own.map(|(key, given)| (*key, None, given.clone())).collect();
        if found.is_empty() { vec![(("", id.as_str()), None, nothing())] } else { found }
    }
}

/// Ids that queries of several sets have.
fn shared_ids<'k>(keys: &[Place<'k>]) -> HashSet<&'k str> {
    let mut seen = HashSet::new();
    keys.iter().filter(|(_, id)| !seen.insert(*id)).map(|(_, id)| *id).collect()
}

/// The answers to one query, each an item. Those of several agents belong together by their
/// numbers, so that each agent has as many, or none.
fn of_query<'a>(
    query_number: usize,
    (set, id): Place<'_>,
    is_shared: bool,
    query: Option<&'a Query>,
    given: &[Vec<&'a Recorded<'a>>],
) -> anyhow::Result<Vec<Item<'a>>> {
    let n_trials = given.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let counts: Vec<usize> = given.iter().map(Vec::len).filter(|n| *n > 0).collect();
    anyhow::ensure!(
        counts.iter().all(|n| *n == n_trials),
        "the query `{id}` has {} answers of one agent and {} of the other, which cannot be paired\n  hint: compare files with as many answers to each query",
        counts[0],
        counts.last().unwrap_or(&0)
    );
    let text = query.map(|query| query.text.clone()).filter(|text| !text.is_empty());
    let told = || given.iter().flatten().find_map(|own| own.query.text());
    let text = text.or_else(|| told().map(Into::into)).unwrap_or_default();
    let item = |trial: usize| {
        let own = |answers: &Vec<&'a Recorded<'a>>| {
            answers.get(trial).copied().filter(|own| !own.answer.is_nothing())
        };
        let mut asked = given.iter().filter_map(|answers| answers.get(trial)).peekable();
        let place = if is_shared { format!("{set}/{id}") } else { id.to_owned() };
        Item {
            id: id.to_owned(),
            set: (!set.is_empty()).then(|| set.to_owned()),
            trial: (n_trials > 1).then_some(trial + 1),
            key: if trial == 0 { place } else { format!("{place}#{}", trial + 1) },
            text: text.clone(),
            query,
            answers: given.iter().map(own).collect(),
            was_asked: asked.peek().is_some(),
            has_failed: asked.any(|own| own.answer.is_nothing() && own.error.is_some()),
            query_number,
        }
    };
    Ok((0..n_trials).map(item).collect())
}

/// Says which answers belong to no query that counts, and which queries have several.
pub(super) fn print_answers(items: &[Item<'_>], answers: &Answers<'_>, quiet: bool) {
    if quiet {
        return;
    }
    let n_taken = items.iter().filter(|item| item.was_asked).count();
    let n_others = answers.len().saturating_sub(n_taken);
    if n_others > 0 {
        let answers = super::count(n_others, "answer");
        output::warn(&format!("{answers} to other queries left out"));
    }
    let n_several = items.iter().filter(|item| item.trial == Some(1)).count();
    if n_several > 0 {
        let queries = super::queries(n_several);
        output::print_note(&format!(
            "{queries} with several answers: all are judged, and each query counts once, by their mean"
        ));
    }
}

/// How many different queries there are.
pub(super) fn n_queries(items: &[Item<'_>]) -> usize {
    items.last().map_or(0, |item| item.query_number + 1)
}

/// How many queries have an answer with a verdict.
pub(super) fn n_judged_queries(items: &[Item<'_>], is_judged: impl Fn(usize) -> bool) -> usize {
    let judged = items.iter().enumerate().filter(|(at, _)| is_judged(*at));
    judged.map(|(_, item)| item.query_number).collect::<HashSet<_>>().len()
}

/// How many queries a rate is over, where some have no verdict.
pub(super) fn over_judged(items: &[Item<'_>], is_judged: impl Fn(usize) -> bool) -> String {
    match (n_judged_queries(items, is_judged), n_queries(items)) {
        (n_judged, n_all) if n_judged == n_all => String::new(),
        (n_judged, n_all) => format!(", over {n_judged} of {}", queries(n_all)),
    }
}
