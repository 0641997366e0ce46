//! Recorded answers as items to judge: the queries that count, and the answers to each.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use juror_toolbench::answer::{Answers, Recorded};
use juror_toolbench::{Place, Places, Query, UnclearSet};
use serde_json::{Map, Value, json};

use crate::queries::Selected;

/// Which queries count.
pub enum Count {
    /// Those that have an answer.
    Answered,
    /// The queries with these ids, answered or not.
    Ids(Vec<String>),
    /// These queries, answered or not.
    Queries(Vec<Selected>),
}

/// An answer to a query that counts, or the corresponding answers of several agents.
pub struct Item<'a> {
    /// The id of the query.
    pub id: String,
    /// The query's set, if known.
    pub set: Option<String>,
    /// Which of several answers to the query this is, counting from 1; `None` if there is only one.
    pub trial: Option<usize>,
    /// The key in files: the id, made unique if several items share it.
    pub key: String,
    /// What the query says.
    pub text: String,
    /// The query itself, if queries were given.
    pub query: Option<&'a Query>,
    /// The answer of each agent; `None` if the agent has none.
    pub answers: Vec<Option<&'a Recorded<'a>>>,
    /// Whether any agent was asked, as far as is known.
    pub was_asked: bool,
    /// Whether an agent has no answer because it failed.
    pub has_failed: bool,
    /// The number of the query, which all answers to it share.
    pub query_number: usize,
}

/// Why answers cannot be assigned to queries.
#[derive(Debug, thiserror::Error)]
pub enum ItemsError {
    /// It is unclear which set an answer belongs to.
    #[error("{place}: {why}")]
    UnclearSet {
        /// Where the answers are from.
        place: String,
        /// Which answer, and which sets.
        why: UnclearSet,
    },
    /// Two agents have different numbers of answers to a query.
    #[error(
        "the query `{id}` has {} answers of one agent and {} of the other, which cannot be paired\n  hint: compare files with as many answers to each query",
        counts[0],
        counts[1]
    )]
    Unpaired {
        /// The query.
        id: String,
        /// The numbers of answers.
        counts: [usize; 2],
    },
}

impl Item<'_> {
    /// Returns the fields that identify the item, for machines.
    pub fn named(&self) -> Map<String, Value> {
        let mut fields = Map::from_iter([("query_id".to_owned(), json!(self.id))]);
        fields.extend(self.set.as_ref().map(|set| ("test_set".to_owned(), json!(set))));
        fields.extend(self.trial.map(|trial| ("trial".to_owned(), json!(trial))));
        fields
    }

    /// Returns the answer of the only agent; `None` if it has none.
    pub fn answer(&self) -> Option<&Recorded<'_>> {
        self.answers.first().copied().flatten()
    }
}

/// The answers of each agent to a query.
type Given<'a> = Vec<Vec<&'a Recorded<'a>>>;

/// Returns all items to judge: every answer to every query that counts, in the order of the
/// queries, or else of the answers. Each agent comes with the name of the place that its answers
/// are from.
pub fn items<'a>(
    count: &'a Count,
    agents: &[(&str, &'a Answers<'a>)],
) -> Result<Vec<Item<'a>>, ItemsError> {
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

/// Returns whether the queries come from several sets, so that ids alone may be ambiguous.
fn has_sets(agents: &[(&str, &Answers<'_>)]) -> bool {
    let of = |(_, answers): &(&str, &Answers<'_>)| {
        let sets = answers.iter().filter_map(|(_, recorded)| recorded.set.as_deref());
        sets.collect::<HashSet<&str>>().len() > 1
    };
    agents.iter().any(of)
}

/// All answers by query, in the order in which the queries first appear.
#[derive(Default)]
struct Known<'a> {
    all: Vec<(Place<'a>, Given<'a>)>,
    at: HashMap<Place<'a>, usize>,
}

impl<'a> Known<'a> {
    /// Collects the answers to the queries that count, if those are given, or else to all queries.
    /// The answers of later agents are matched with the queries of the first.
    fn read(count: &'a Count, agents: &[(&str, &'a Answers<'a>)]) -> Result<Known<'a>, ItemsError> {
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
            let unclear = |why| ItemsError::UnclearSet { place: (*place).to_owned(), why };
            let found = places.of_answers(&own).map_err(unclear)?;
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

    /// Returns the queries with an id from all sets, or one without answers if there are none.
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

/// Returns the ids that queries of several sets share.
fn shared_ids<'k>(keys: &[Place<'k>]) -> HashSet<&'k str> {
    let mut seen = HashSet::new();
    keys.iter().filter(|(_, id)| !seen.insert(*id)).map(|(_, id)| *id).collect()
}

/// Returns one item for each answer to a query. The answers of several agents are paired by
/// position, so each agent must have the same number of answers, or none.
fn of_query<'a>(
    query_number: usize,
    (set, id): Place<'_>,
    is_shared: bool,
    query: Option<&'a Query>,
    given: &[Vec<&'a Recorded<'a>>],
) -> Result<Vec<Item<'a>>, ItemsError> {
    let n_trials = given.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let counts: Vec<usize> = given.iter().map(Vec::len).filter(|n| *n > 0).collect();
    if counts.iter().any(|n| *n != n_trials) {
        let counts = [counts[0], counts.last().copied().unwrap_or_default()];
        return Err(ItemsError::Unpaired { id: id.to_owned(), counts });
    }
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

/// Counts the distinct queries.
pub fn n_queries(items: &[Item<'_>]) -> usize {
    items.last().map_or(0, |item| item.query_number + 1)
}

/// Counts the queries that have an answer with a verdict.
pub fn n_judged_queries(items: &[Item<'_>], is_judged: impl Fn(usize) -> bool) -> usize {
    let judged = items.iter().enumerate().filter(|(at, _)| is_judged(*at));
    judged.map(|(_, item)| item.query_number).collect::<HashSet<_>>().len()
}
