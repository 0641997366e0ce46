//! Solvable win rate: which of two agents answers better, query by query and round by round.
//!
//! A status belongs to its answer, whatever order a judge is shown them in. Rounds are kept as
//! votes and counted at the end, so that a round that is done again counts once.

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
    /// The one that is compared with.
    Reference,
    /// The one that is compared.
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

/// Whose answer is shown first: each in turn, over the rounds of a query and from query to query,
/// so that a judge who likes the first answer better favours neither.
pub fn first_shown(query: usize, round: usize) -> Side {
    if (query + round).is_multiple_of(2) { Side::Reference } else { Side::Candidate }
}

/// What a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// One is better.
    For(Side),
    /// Neither is.
    Tie,
}

impl Vote {
    /// What a judge's choice means, given whose answer it was shown first; nothing for an answer
    /// that it was not shown.
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
    /// The answer of the reference.
    pub reference: Option<&'a Answer<'a>>,
    /// The answer of the candidate.
    pub candidate: Option<&'a Answer<'a>>,
    /// Whether each solves the query, in the same order, where that is known.
    pub statuses: Option<(Status, Status)>,
}

/// Where a round stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// It is decided without asking which answer is better.
    Decided(Vote),
    /// Whether each answer solves the query has to be found out first.
    NeedsStatuses,
    /// A judge has to be asked which answer is better.
    Ask,
}

impl Contest<'_> {
    /// Begins a round: an answer wins against none, and one that solves more wins. Answers that
    /// are the same tie.
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
    /// Those of the reference.
    pub reference: u64,
    /// Those of the candidate.
    pub candidate: u64,
}

impl Points {
    /// Counts votes; a tie gives a point to neither.
    pub fn of(votes: &[Vote]) -> Points {
        let count = |side| votes.iter().filter(|vote| **vote == Vote::For(side)).count() as u64;
        Points { reference: count(Side::Reference), candidate: count(Side::Candidate) }
    }

    /// Who has more.
    pub fn vote(self) -> Vote {
        match self.reference.cmp(&self.candidate) {
            std::cmp::Ordering::Greater => Vote::For(Side::Reference),
            std::cmp::Ordering::Less => Vote::For(Side::Candidate),
            std::cmp::Ordering::Equal => Vote::Tie,
        }
    }
}

/// How often the candidate does better; ties are kept as such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WinRate {
    /// Queries where it does better.
    pub n_wins: usize,
    /// Queries where neither does.
    pub n_ties: usize,
    /// Queries where the reference does better.
    pub n_losses: usize,
}

impl WinRate {
    /// Sums up the points of queries.
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

    /// How many queries there are.
    pub fn n_queries(&self) -> usize {
        self.n_wins + self.n_ties + self.n_losses
    }

    /// The shares of wins, ties and losses; zeros without queries.
    pub fn rates(&self) -> [f64; 3] {
        let n_queries = self.n_queries();
        [self.n_wins, self.n_ties, self.n_losses].map(|n| over(n as f64, n_queries))
    }
}

/// Reads the points of queries from a file, given what the agents are called in it.
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

/// A query as the table of preferences shows it.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The id of the query.
    pub id: &'a str,
    /// What was asked.
    pub query: &'a str,
    /// The answer of the reference.
    pub reference: Option<&'a Recorded<'a>>,
    /// The answer of the candidate.
    pub candidate: Option<&'a Recorded<'a>>,
    /// Which is better.
    pub vote: Vote,
}

/// Writes preferences as a table, its cells separated by tabs: 1 is for the reference, 2 for the
/// candidate, 3 a tie.
pub fn write_preferences_csv(queries: &[Compared<'_>], reference: &str, candidate: &str) -> String {
    let mut table = super::file::table();
    // Writing to memory does not fail, and all rows have as many cells.
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

/// Writes the votes of queries as files have them: the points of both agents, and which rounds
/// are done.
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
