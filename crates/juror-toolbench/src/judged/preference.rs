//! Solvable win rate: which of two agents answers better, query by query and round by round.
//!
//! A status belongs to its answer, whatever order a judge sees them in. Rounds are stored as votes
//! and counted at the end, so that a repeated round counts once.

use std::borrow::Cow;

use juror_document::{Document, Look, Path, Problem, Problems};
use juror_json::Object;
use juror_json::python::Layout;

use super::pass_rate::over;
use super::status::Status;
use crate::answer::json::{Json, push_json};
use crate::answer::{Answer, Node, Recorded};

/// One of the two agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The baseline.
    Reference,
    /// The agent compared with it.
    Candidate,
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Reference => Side::Candidate,
            Side::Candidate => Side::Reference,
        }
    }
}

/// Returns whose answer to show first. The sides alternate over rounds and queries, so that a judge
/// who prefers the first answer favours neither.
pub fn first_shown(query: usize, round: usize) -> Side {
    if (query + round).is_multiple_of(2) { Side::Reference } else { Side::Candidate }
}

/// The outcome of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// One answer is better.
    For(Side),
    /// Neither is better.
    Tie,
}

impl Vote {
    /// Maps a judge's choice to a side, given whose answer was shown first. Returns `None` if the
    /// judge chose an answer that it was not shown.
    pub fn of_index(index: u64, first: Side) -> Option<Vote> {
        match index {
            0 => Some(Vote::For(first)),
            1 => Some(Vote::For(first.other())),
            _ => None,
        }
    }
}

/// Two answers to a query.
#[derive(Clone, Copy, Debug)]
pub struct Contest<'a> {
    /// The reference's answer.
    pub reference: Option<&'a Answer<'a>>,
    /// The candidate's answer.
    pub candidate: Option<&'a Answer<'a>>,
    /// Whether each solves the query, in the same order, if known.
    pub statuses: Option<(Status, Status)>,
}

/// The state of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Decided without asking which answer is better.
    Decided(Vote),
    /// Needs to know first whether each answer solves the query.
    NeedsStatuses,
    /// Needs a judge to say which answer is better.
    Ask,
}

impl Contest<'_> {
    /// Begins a round. An answer beats a missing one, and an answer with a better status wins.
    /// Identical answers tie.
    pub fn begin(&self) -> Round {
        let (reference, candidate) = match (self.reference, self.candidate) {
            (None, None) => return Round::Decided(Vote::Tie),
            (Some(_), None) => return Round::Decided(Vote::For(Side::Reference)),
            (None, Some(_)) => return Round::Decided(Vote::For(Side::Candidate)),
            (Some(reference), Some(candidate)) => (reference, candidate),
        };
        match self.statuses {
            None => Round::NeedsStatuses,
            Some((reference, candidate)) if reference > candidate => {
                Round::Decided(Vote::For(Side::Reference))
            }
            Some((reference, candidate)) if reference < candidate => {
                Round::Decided(Vote::For(Side::Candidate))
            }
            Some(_) if say_the_same(reference, candidate) => Round::Decided(Vote::Tie),
            Some(_) => Round::Ask,
        }
    }
}

fn say_the_same(one: &Answer<'_>, other: &Answer<'_>) -> bool {
    let said = |node: &Node<'_>| (node.depth(), node.role.to_string());
    one.final_answer == other.final_answer
        && one.nodes.iter().map(said).eq(other.nodes.iter().map(said))
        && one.nodes.iter().zip(&other.nodes).all(|(one, other)| one.message == other.message)
}

/// The rounds that each side won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Won by the reference.
    pub reference: u64,
    /// Won by the candidate.
    pub candidate: u64,
}

impl Points {
    /// Counts votes; a tie gives neither side a point.
    pub fn of(votes: &[Vote]) -> Points {
        let count = |side| votes.iter().filter(|vote| **vote == Vote::For(side)).count() as u64;
        Points { reference: count(Side::Reference), candidate: count(Side::Candidate) }
    }

    /// Returns the side with more points.
    pub fn vote(self) -> Vote {
        match self.reference.cmp(&self.candidate) {
            std::cmp::Ordering::Greater => Vote::For(Side::Reference),
            std::cmp::Ordering::Less => Vote::For(Side::Candidate),
            std::cmp::Ordering::Equal => Vote::Tie,
        }
    }
}

/// How often the candidate does better. Ties are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WinRate {
    /// Queries that the candidate won.
    pub n_wins: usize,
    /// Queries that ended in a tie.
    pub n_ties: usize,
    /// Queries that the reference won.
    pub n_losses: usize,
}

impl WinRate {
    /// Counts wins, ties and losses over the points of queries.
    pub fn of(queries: impl IntoIterator<Item = Points>) -> WinRate {
        let mut rate = WinRate::default();
        for points in queries {
            match points.vote() {
                Vote::For(Side::Candidate) => rate.n_wins += 1,
                Vote::For(Side::Reference) => rate.n_losses += 1,
                Vote::Tie => rate.n_ties += 1,
            }
        }
        rate
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.n_wins + self.n_ties + self.n_losses
    }

    /// Returns the shares of wins, ties and losses; zeros if there are no queries.
    pub fn rates(&self) -> [f64; 3] {
        let n_queries = self.n_queries();
        [self.n_wins, self.n_ties, self.n_losses].map(|n| over(n as f64, n_queries))
    }
}

/// Reads the points of queries from a file, given the agents' names in it.
pub fn read_points(
    document: &Document,
    reference: &str,
    candidate: &str,
) -> (Vec<(String, Points)>, Problems) {
    let mut look = Look::new(document);
    let mut queries = Vec::new();
    let top = Path::default();
    let fields = look.top_object("an object of points by query id");
    for (id, value) in fields.iter().flat_map(Object::iter) {
        let Some(fields) = look.object(value, &top.key(&id), "points") else { continue };
        let mut points = |name: &str| -> u64 {
            let points = fields.get(name).and_then(|value| serde_json::from_str(value.get()).ok());
            points.unwrap_or_else(|| {
                let (expected, found) = ("the points of an agent", "none");
                let path = top.key(&id).key(name);
                look.note(value.get(), path, Problem::WrongType { expected, found });
                0
            })
        };
        let points = Points { reference: points(reference), candidate: points(candidate) };
        queries.push((id.into_owned(), points));
    }
    (queries, look.problems())
}

/// A row of the preference table.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The query id.
    pub id: &'a str,
    /// The query.
    pub query: &'a str,
    /// The reference's answer.
    pub reference: Option<&'a Recorded<'a>>,
    /// The candidate's answer.
    pub candidate: Option<&'a Recorded<'a>>,
    /// Which is better.
    pub vote: Vote,
}

/// Writes preferences as a tab-separated table: 1 for the reference, 2 for the candidate, 3 for a
/// tie.
pub fn write_preferences_csv(queries: &[Compared<'_>], reference: &str, candidate: &str) -> String {
    let mut table = super::file::table();
    // Writing to memory cannot fail, and all rows have the same number of cells.
    let mut row = |cells: [&str; 10]| drop(table.write_record(cells));
    row([
        "query",
        "available_tools",
        "ref_model_intermediate_steps",
        "ref_model_final_step",
        "output_model_intermediate_steps",
        "output_model_final_step",
        "preference_label",
        "query_id",
        "ref_model",
        "output_model",
    ]);
    for compared in queries {
        let offered = compared.reference.or(compared.candidate).map(Recorded::tool_names);
        let offered: Vec<String> = offered.into_iter().flatten().map(Cow::into_owned).collect();
        let steps =
            |own: Option<&Recorded<'_>>| own.map(|own| own.answer.steps()).unwrap_or_default();
        let (of_reference, of_candidate) = (steps(compared.reference), steps(compared.candidate));
        let label = match compared.vote {
            Vote::For(Side::Reference) => "1",
            Vote::For(Side::Candidate) => "2",
            Vote::Tie => "3",
        };
        row([
            compared.query,
            &Json::of_texts(&offered).python_str(),
            &of_reference.all,
            &of_reference.last,
            &of_candidate.all,
            &of_candidate.last,
            label,
            compared.id,
            reference,
            candidate,
        ]);
    }
    super::file::table_text(table)
}

/// Writes the votes of queries: the points of both agents, and which rounds are done.
pub fn write_points(
    queries: &[(String, Vec<Option<Vote>>)],
    reference: &str,
    candidate: &str,
) -> String {
    let query = |(id, votes): &(String, Vec<Option<Vote>>)| {
        let done: Vec<Vote> = votes.iter().copied().flatten().collect();
        let points = Points::of(&done);
        let agent = |name: &str, points: u64| format!("{}: {points}", Json::of_text(name).get());
        let round = |(at, vote): (usize, &Option<Vote>)| {
            let state = if vote.is_some() { "complete" } else { "incomplete" };
            format!("\"round_{at}\": \"{state}\"")
        };
        let agents = [agent(reference, points.reference), agent(candidate, points.candidate)];
        let fields: Vec<String> =
            agents.into_iter().chain(votes.iter().enumerate().map(round)).collect();
        format!("{}: {{{}}}", Json::of_text(id).get(), fields.join(", "))
    };
    let queries: Vec<String> = queries.iter().map(query).collect();
    let mut out = String::new();
    push_json(&format!("{{{}}}", queries.join(", ")), Layout::FILE, 0, &mut out);
    out
}
