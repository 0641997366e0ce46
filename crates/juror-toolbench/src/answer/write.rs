//! Writing files of converted answers.

use std::borrow::Cow;

use juror_json::python::Layout;

use super::Answer;
use super::details::{Messages, write_nodes};
use super::file::Recorded;
use super::json::{Json, push_json};

/// The layout of published files.
const PUBLISHED: Layout = Layout { indent: Some(2), ascii: true };

/// Writes a file of converted answers one by one, so that none has to stay in memory.
#[derive(Clone, Debug, Default)]
pub struct AnswersFile {
    out: String,
}

impl AnswersFile {
    /// Adds an answer under its query id.
    pub fn push(&mut self, id: &str, recorded: &Recorded<'_>) {
        let is_first = self.out.is_empty();
        self.out.push(if is_first { '{' } else { ',' });
        PUBLISHED.push_break(1, !is_first, &mut self.out);
        push_json(Json::of_text(id).get(), PUBLISHED, 1, &mut self.out);
        self.out.push_str(": ");
        write_recorded(recorded, 1, &mut self.out);
    }

    /// Returns the text of the file.
    pub fn finish(mut self) -> String {
        if self.out.is_empty() {
            return "{}".to_owned();
        }
        PUBLISHED.push_break(0, false, &mut self.out);
        self.out.push('}');
        self.out
    }
}

/// Writes a file of converted answers.
pub fn write_answers(answers: &[(Cow<'_, str>, Recorded<'_>)]) -> String {
    let mut file = AnswersFile::default();
    for (id, recorded) in answers {
        file.push(id, recorded);
    }
    file.finish()
}

/// Appends an answer, indented to `level` of a larger text.
fn write_recorded(recorded: &Recorded<'_>, level: usize, out: &mut String) {
    let Answer { method, final_answer, nodes, .. } = &recorded.answer;
    let start = |name: &str, level: usize, is_first: bool, out: &mut String| {
        out.push_str(if is_first { "" } else { "," });
        PUBLISHED.push_break(level, !is_first, out);
        out.push_str(name);
    };
    out.push('{');
    start("\"query\": ", level + 1, true, out);
    push_json(recorded.query.get(), PUBLISHED, level + 1, out);
    start("\"available_tools\": ", level + 1, false, out);
    push_json(recorded.available_tools.get(), PUBLISHED, level + 1, out);
    start("\"answer\": {", level + 1, false, out);
    start("\"method\": ", level + 2, true, out);
    push_json(Json::of_text(method).get(), PUBLISHED, level + 2, out);
    start("\"total_steps\": ", level + 2, false, out);
    out.push_str(&nodes.len().to_string());
    start("\"final_answer\": ", level + 2, false, out);
    push_json(final_answer.get(), PUBLISHED, level + 2, out);
    start("\"answer_details\": ", level + 2, false, out);
    write_nodes(nodes, Messages::Objects, PUBLISHED, level + 2, out);
    PUBLISHED.push_break(level + 1, false, out);
    out.push('}');
    PUBLISHED.push_break(level, false, out);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::read_answer;

    #[test]
    fn answers_are_laid_out_as_published() {
        let answer =
            read_answer(r#"{"method": "CoT@1", "final_answer": "\u00e9", "answer_details": []}"#);
        let recorded = Recorded {
            set: None,
            error: None,
            query: Json::of_text("q"),
            available_tools: Json::NULL,
            answer: answer.expect("an answer"),
        };
        let mut file = AnswersFile::default();
        file.push("1", &recorded);
        file.push("2", &recorded);
        let text = file.finish();
        let answer = "{\n    \"query\": \"q\",\n    \"available_tools\": null,\n    \"answer\": {\n      \
            \"method\": \"CoT@1\",\n      \"total_steps\": 0,\n      \"final_answer\": \"\\u00e9\",\n      \
            \"answer_details\": []\n    }\n  }";
        assert_eq!(text, format!("{{\n  \"1\": {answer},\n  \"2\": {answer}\n}}"));
        assert_eq!(AnswersFile::default().finish(), "{}");
    }
}
