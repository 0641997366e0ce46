//! The questions that an agent is asked.

use juror_bench::Selected;
use juror_document::Notice;
use juror_json::text_or_json;
use juror_score::Question;
use juror_toolbench::{AvailableTools, Query};

/// Which questions of a reference are asked.
#[derive(Clone, Debug, Default)]
pub struct QuestionSelection {
    /// Only these; all if empty.
    pub ids: Vec<String>,
    /// No more than this many.
    pub limit: Option<usize>,
}

/// Selects questions, as queries for an agent, in the order of the reference.
pub fn select_questions(
    questions: &[Question<'_>],
    wanted: &QuestionSelection,
) -> Result<Vec<Selected>, Notice> {
    let unknown = wanted.ids.iter().find(|id| !questions.iter().any(|own| own.id == **id));
    if let Some(id) = unknown {
        return Err(Notice::new(format!("there is no question `{id}` in the reference")));
    }
    let is_wanted =
        |own: &&Question<'_>| wanted.ids.is_empty() || wanted.ids.iter().any(|id| own.id == **id);
    let most = wanted.limit.unwrap_or(usize::MAX);
    Ok(questions.iter().filter(is_wanted).take(most).map(query).collect())
}

fn query(question: &Question<'_>) -> Selected {
    Selected {
        set: question.template.clone().into_owned(),
        id: question.id.clone().into_owned(),
        trial: None,
        query: Query {
            id: None,
            text: text_or_json(question.text).into_owned(),
            gold: Vec::new(),
            apis: Vec::new(),
            available_tools: AvailableTools::Grouped(Vec::new()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_read::read_reference;

    #[test]
    fn questions_are_selected_in_the_order_of_the_reference() {
        let question = |id: &str| format!(r#"{{"id": "{id}", "question_text": "{id}?"}}"#);
        let questions = ["a", "b", "c"].map(question).join(", ");
        let json = format!(r#"[{{"template_id": "t", "questions": [{questions}]}}]"#);
        let document = Document::new("r.json", json.into(), Format::Json).expect("UTF-8");
        let dataset = read_reference(&document).expect("a reference");
        let select = |ids: &[&str], limit: Option<usize>| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            let wanted = QuestionSelection { ids, limit };
            let selected =
                select_questions(&dataset.questions, &wanted).map_err(|why| why.to_string());
            selected
                .map(|all| all.into_iter().map(|own| own.query.text).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(select(&[], None).as_deref(), Ok("a? b? c?"));
        assert_eq!(select(&[], Some(2)).as_deref(), Ok("a? b?"));
        assert_eq!(select(&["c", "a"], None).as_deref(), Ok("a? c?"));
        assert_eq!(
            select(&["d"], None).expect_err("none"),
            "there is no question `d` in the reference"
        );
    }
}
