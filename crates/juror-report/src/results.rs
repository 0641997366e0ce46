//! One question's result in the documented shape. Most of it repeats the input, so its bytes are
//! copied rather than built again.

use std::borrow::Cow;

use juror_score::{Ending, ErrorResponses, Finding, Note, Object, Profile, Record, Step, Verdict};

/// Appends the result as a JSON object on one line.
pub(crate) fn write_json(record: &Record<'_>, profile: &Profile, out: &mut Vec<u8>) {
    let question = record.case.question;
    let trajectory = record.case.trajectory;
    let mut fields = Fields::open(out);
    fields.text("template_id", &question.template);
    fields.text("question_id", &question.id);
    fields.raw("question_text", question.text.get());
    if let Some(answer) = question.answer {
        fields.raw("reference_answer", answer.get());
    }
    if question.groups.is_some() {
        write_reference_steps(record, fields.key("reference_steps"));
    }
    match &trajectory.ending {
        Ending::Responded => fields.text("status", "success"),
        Ending::Failed(message) => {
            fields.text("status", "error");
            fields.raw("error", message);
        }
        Ending::Missing => {
            fields.text("status", "error");
            fields.text("error", "no response");
        }
    }
    let counted_in = profile.steps_of_errors == ErrorResponses::CountedIn;
    if trajectory.ending.is_error() && !counted_in {
        fields.close();
        return;
    }
    if let Some(answer) = trajectory.answer {
        fields.raw("actual_answer", answer.get());
    }
    if trajectory.steps.is_some() || counted_in {
        write_actual_steps(record, fields.key("actual_steps"));
    }
    for finding in record.findings.iter().filter(|finding| finding.step.is_none()) {
        fields.finding(finding);
    }
    for note in record.notes_of(None) {
        fields.note(note);
    }
    for (name, value) in trajectory.usage.iter() {
        fields.raw(name, value.get());
    }
    fields.close();
}

/// The text of a JSON string; of anything else, the JSON.
pub fn text_of_json(json: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// The reference steps, each that was found with the id of the step it matches.
fn write_reference_steps(record: &Record<'_>, out: &mut Vec<u8>) {
    let groups = record.case.question.groups.as_deref().unwrap_or_default();
    let steps = record.case.trajectory.steps.as_deref().unwrap_or_default();
    let match_of = |group, expected| {
        let pair = record.matching.as_ref()?.pair_of(group, expected)?;
        Some(steps[pair.actual].id(pair.actual))
    };
    out.push(b'[');
    for (group, expected_steps) in groups.iter().enumerate() {
        separate(group, out);
        out.push(b'[');
        for (index, step) in expected_steps.iter().enumerate() {
            separate(index, out);
            let found: Option<Cow<str>> = match_of(group, index);
            let mut fields = Fields::open(out);
            // A reference that was itself a result may carry the matches of another run.
            fields.object(&step.fields, |key| key == "matches");
            if let Some(id) = found {
                fields.raw("matches", &id);
            }
            fields.close();
        }
        out.push(b']');
    }
    out.push(b']');
}

fn write_actual_steps(record: &Record<'_>, out: &mut Vec<u8>) {
    let steps: &[Step] = record.case.trajectory.steps.as_deref().unwrap_or_default();
    out.push(b'[');
    for (index, step) in steps.iter().enumerate() {
        separate(index, out);
        let mut fields = Fields::open(out);
        let judged_again = |key: &str| {
            record.findings_of_step(index).any(|finding| finding.metric == key)
                || record.notes_of(Some(index)).any(|note| note.key == key)
        };
        fields.object(&step.fields, judged_again);
        for finding in record.findings_of_step(index) {
            fields.finding(finding);
        }
        for note in record.notes_of(Some(index)) {
            fields.note(note);
        }
        fields.close();
    }
    out.push(b']');
}

fn separate(index: usize, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
}

/// The fields of a JSON object, written as they come.
struct Fields<'o> {
    out: &'o mut Vec<u8>,
    any: bool,
}

impl<'o> Fields<'o> {
    fn open(out: &'o mut Vec<u8>) -> Fields<'o> {
        out.push(b'{');
        Fields { out, any: false }
    }

    /// Begins a field whose value the caller writes.
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        separate(usize::from(self.any), self.out);
        self.any = true;
        let is_plain = |byte| byte >= b' ' && byte != b'"' && byte != b'\\';
        if key.bytes().all(is_plain) {
            self.out.push(b'"');
            self.out.extend_from_slice(key.as_bytes());
            self.out.push(b'"');
        } else {
            write_text(key, self.out);
        }
        self.out.extend_from_slice(b": ");
        self.out
    }

    fn raw(&mut self, key: &str, json: &str) {
        copy_on_one_line(json, self.key(key));
    }

    fn text(&mut self, key: &str, text: &str) {
        write_text(text, self.key(key));
    }

    fn number(&mut self, key: &str, number: f64) {
        self.raw(key, &serde_json::Value::from(number).to_string());
    }

    fn object(&mut self, object: &Object<'_>, leave_out: impl Fn(&str) -> bool) {
        for (key, value) in
            object.iter_raw().filter(|(key, _)| !leave_out(key.get().trim_matches('"')))
        {
            separate(usize::from(self.any), self.out);
            self.any = true;
            self.out.extend_from_slice(key.get().as_bytes());
            self.out.extend_from_slice(b": ");
            copy_on_one_line(value.get(), self.out);
        }
    }

    /// A metric's value, or its error; nothing where it does not apply.
    fn finding(&mut self, finding: &Finding) {
        match &finding.verdict {
            Verdict::Scored(value) => self.number(finding.metric, *value),
            Verdict::Failed(why) => self.text(&format!("{}_error", finding.metric), why),
            Verdict::NotApplicable(_) => {}
        }
    }

    fn note(&mut self, note: &Note) {
        self.raw(&note.key, &note.value.to_string());
    }

    fn close(self) {
        self.out.push(b'}');
    }
}

/// Copies JSON without its line ends: inside strings they are escaped, so none of them matter.
fn copy_on_one_line(json: &str, out: &mut Vec<u8>) {
    let mut rest = json.as_bytes();
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}
