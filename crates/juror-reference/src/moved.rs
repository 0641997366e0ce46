//! Whose fault it is that an answer does not match: the graph's, which moved, or the agent's.

use hashbrown::{HashMap, HashSet};
use juror_document::Document;
use juror_read::{Dataset, read_reference};
use juror_score::{Case, KindNames, MOVED, Profile, Question, Trajectory, score};

use crate::edit;
use crate::steps::query_steps;

/// How an agent stands to a result that has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The agent is right by the graph as it is now, and would be wrong by what was recorded.
    Graph,
    /// The agent is right by what was recorded, and no longer: it was asked before the graph moved.
    Time,
    /// The agent is as right or wrong by both.
    Agent,
}

impl Blame {
    /// Scores an answer by both results.
    pub fn of(
        recorded: &Question<'_>,
        fresh: &Question<'_>,
        trajectory: &Trajectory<'_>,
        profile: &Profile,
    ) -> Blame {
        let steps_score = |question| {
            let record = score(&Case { question, trajectory }, profile);
            record.matching.map_or(0.0, |matching| matching.score)
        };
        let (then, now) = (steps_score(recorded), steps_score(fresh));
        if now > then {
            Blame::Graph
        } else if now < then {
            Blame::Time
        } else {
            Blame::Agent
        }
    }

    /// Says it in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Blame::Graph => "the agent is right by the graph as it is now",
            Blame::Time => "the agent is right by what was recorded before",
            Blame::Agent => "the agent is no better by one result than by the other",
        }
    }
}

/// Returns a reference whose steps say how their results have moved: notes by the position of the step among
/// those with queries. A step that says so already, or is not written here, stays as it is.
pub fn mark_moved(
    document: &Document,
    dataset: &Dataset<'_>,
    names: &KindNames,
    notes: &[(usize, String)],
) -> Option<Document> {
    let steps = query_steps(dataset, names);
    let found = notes.iter().filter_map(|(at, note)| Some((steps.get(*at)?, note)));
    let found: Vec<_> = found.filter(|(step, _)| step.step.fields.get(MOVED).is_none()).collect();
    let paths: Vec<_> = found.iter().map(|(step, _)| step.path.key("output")).collect();
    let spans = document.yaml_spans(&paths);
    // A step that aliases share has one note, so that it says nothing where they differ.
    let mut notes_at: HashMap<usize, HashSet<&str>> = HashMap::new();
    for ((_, note), span) in found.iter().zip(&spans) {
        let Some(span) = span else { continue };
        notes_at.entry(span.range.start).or_default().insert(note);
    }
    let edits = found.iter().zip(&spans).filter_map(|((step, note), span)| {
        let span = span.as_ref();
        let n_notes = span.and_then(|span| notes_at.get(&span.range.start)).map_or(1, HashSet::len);
        let entry = (MOVED, note.as_str());
        if n_notes > 1 { None } else { edit::added_entry(document, &step.step.fields, span, entry) }
    });
    let text = edit::apply(document.text(), edits.collect())?;
    let marked = Document::new(document.name(), text.into_bytes(), document.format()).ok()?;
    read_reference(&marked).is_ok().then_some(marked)
}
