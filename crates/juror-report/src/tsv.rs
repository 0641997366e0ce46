//! Tables for spreadsheets: tabs between fields, one line a row.

use std::borrow::Cow;
use std::io::{self, Write};

use juror_score::{
    Aggregates, Ending, ErrorResponses, Level, METRICS, Profile, Record, Summary, Verdict,
};

use crate::aggregates::{as_whole, values};

const TEXTS: [&str; 5] = ["template_id", "question_id", "question_text", "status", "error"];

fn metrics() -> impl Iterator<Item = &'static str> {
    METRICS.iter().filter(|info| info.level == Level::Question).map(|info| info.name)
}

pub(crate) fn header() -> Vec<u8> {
    let names: Vec<&str> = TEXTS.into_iter().chain(metrics()).collect();
    format!("{}\n", names.join("\t")).into_bytes()
}

/// One question: its texts, then every metric of a question, empty where it has none.
pub(crate) fn write_row(record: &Record<'_>, profile: &Profile, out: &mut Vec<u8>) {
    let question = record.case.question;
    let trajectory = record.case.trajectory;
    let (status, error) = match &trajectory.ending {
        Ending::Responded => ("success", Cow::Borrowed("")),
        Ending::Failed(message) => ("error", json_text(message)),
        Ending::Missing => ("error", Cow::Borrowed("no response")),
    };
    let texts: [&str; 5] =
        [&question.template, &question.id, &json_text(question.text.get()), status, &error];
    let mut cells: Vec<Cow<str>> = texts.iter().map(|text| one_line(text)).collect();
    let with_usage =
        !trajectory.ending.is_error() || profile.steps_of_errors == ErrorResponses::CountedIn;
    for name in metrics() {
        let usage = || trajectory.usage.iter().find(|(metric, _)| *metric == name);
        cells.push(match record.verdict(name) {
            Some(Verdict::Scored(value)) => value.to_string().into(),
            Some(_) => Cow::Borrowed(""),
            None if with_usage => usage().map_or("", |(_, value)| value.get()).into(),
            None => Cow::Borrowed(""),
        });
    }
    out.extend_from_slice(cells.join("\t").as_bytes());
    out.push(b'\n');
}

/// The text of a JSON string; of anything else, the JSON.
fn json_text(json: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Tabs and line ends would break the table: they become spaces.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\t', '\n', '\r']) {
        Cow::Owned(text.replace(['\t', '\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// One row a metric of a template, of all questions (`micro`) or over templates (`macro`).
pub(crate) fn write_aggregates(aggregates: &Aggregates, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"scope\ttemplate_id\tmetric\tn\tsum\tmean\tmedian\tmin\tmax\n")?;
    for (id, summary) in &aggregates.per_template {
        write_summary("per_template", id, summary, out)?;
    }
    write_summary("micro", "", &aggregates.micro, out)?;
    for (name, mean) in &aggregates.macro_means {
        writeln!(out, "macro\t\t{name}\t\t\t{mean}\t\t\t")?;
    }
    Ok(())
}

fn write_summary(scope: &str, id: &str, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let id = one_line(id);
    for (name, spread) in &summary.metrics {
        write!(out, "{scope}\t{id}\t{name}\t{}", spread.n)?;
        for (_, value) in values(spread) {
            match as_whole(value).filter(|_| spread.whole) {
                Some(whole) => write!(out, "\t{whole}")?,
                None => write!(out, "\t{value}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
