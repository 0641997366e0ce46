//! Scores as OTLP log records, one request per line: what collectors receive at `/v1/logs`.

use serde::Serialize;

use super::{Evaluated, Evaluation, ExportedRun};

const EVENT: &str = "gen_ai.evaluation.result";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    resource_logs: [ResourceLogs<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'a> {
    resource: Resource<'a>,
    scope_logs: [ScopeLogs<'a>; 1],
}

#[derive(Serialize)]
struct Resource<'a> {
    attributes: Vec<Attribute<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs<'a> {
    scope: Scope,
    log_records: Vec<LogRecord<'a>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord<'a> {
    time_unix_nano: String,
    observed_time_unix_nano: String,
    severity_number: u8,
    event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<&'a str>,
    attributes: Vec<Attribute<'a>>,
}

#[derive(Serialize)]
struct Attribute<'a> {
    key: &'static str,
    value: AttributeValue<'a>,
}

#[derive(Serialize)]
enum AttributeValue<'a> {
    #[serde(rename = "stringValue")]
    Text(&'a str),
    /// OTLP writes 64-bit integers as text.
    #[serde(rename = "intValue")]
    Integer(String),
    #[serde(rename = "doubleValue")]
    Number(f64),
}

/// OTLP's numbers for "information" and "error".
const INFO: u8 = 9;
const ERROR: u8 = 17;

pub(super) fn render(run: &ExportedRun<'_>, answers: &[Evaluated<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for answer in answers.iter().filter(|answer| !answer.evaluations.is_empty()) {
        // Writing to memory cannot fail, and neither can these keys.
        let _ = serde_json::to_writer(&mut out, &request(run, answer));
        out.push(b'\n');
    }
    out
}

fn request<'a>(run: &'a ExportedRun<'_>, answer: &'a Evaluated<'_>) -> Request<'a> {
    let mut about_run = vec![text("service.name", "juror"), text("juror.run.name", run.name)];
    about_run.extend(run.id.map(|id| text("juror.run.id", id)));
    let record = |evaluation| log_record(run, answer, evaluation);
    Request {
        resource_logs: [ResourceLogs {
            resource: Resource { attributes: about_run },
            scope_logs: [ScopeLogs {
                scope: Scope { name: "juror", version: env!("CARGO_PKG_VERSION") },
                log_records: answer.evaluations.iter().map(record).collect(),
            }],
        }],
    }
}

fn log_record<'a>(
    run: &ExportedRun<'_>,
    answer: &'a Evaluated<'_>,
    evaluation: &'a Evaluation<'_>,
) -> LogRecord<'a> {
    let time = run.unix_nanos.to_string();
    let trace_id = answer.trace_id.as_deref();
    let span_id = answer.span_id.as_deref();
    let mut attributes = vec![text("gen_ai.evaluation.name", evaluation.metric)];
    attributes.push(match evaluation.score {
        Some(score) => {
            Attribute { key: "gen_ai.evaluation.score.value", value: AttributeValue::Number(score) }
        }
        None => text("error.type", "no_score"),
    });
    let explanation = evaluation.explanation.as_deref();
    attributes.extend(explanation.map(|why| text("gen_ai.evaluation.explanation", why)));
    attributes.push(text("juror.question_id", answer.id));
    attributes.push(text("juror.template_id", answer.group));
    let trial = answer.trial.map(|trial| AttributeValue::Integer(trial.to_string()));
    attributes.extend(trial.map(|value| Attribute { key: "juror.trial", value }));
    // Ids of other systems than OpenTelemetry do not fit into the fields of a record.
    let foreign = |id: &&str, length| !is_hex(id, length);
    attributes.extend(trace_id.filter(|id| foreign(id, 32)).map(|id| text("juror.trace_id", id)));
    attributes.extend(span_id.filter(|id| foreign(id, 16)).map(|id| text("juror.span_id", id)));
    LogRecord {
        time_unix_nano: time.clone(),
        observed_time_unix_nano: time,
        severity_number: if evaluation.score.is_some() { INFO } else { ERROR },
        event_name: EVENT,
        trace_id: trace_id.filter(|id| is_hex(id, 32)),
        span_id: span_id.filter(|id| is_hex(id, 16)),
        attributes,
    }
}

fn text<'a>(key: &'static str, text: &'a str) -> Attribute<'a> {
    Attribute { key, value: AttributeValue::Text(text) }
}

fn is_hex(id: &str, length: usize) -> bool {
    id.len() == length && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::export::tests::{RUN, answers};

    fn rendered(answers: &[Evaluated<'_>]) -> Vec<Value> {
        let text = String::from_utf8(render(&RUN, answers)).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn attribute<'v>(record: &'v Value, key: &str) -> Option<&'v Value> {
        let attributes = record["attributes"].as_array()?;
        Some(&attributes.iter().find(|attribute| attribute["key"] == key)?["value"])
    }

    #[test]
    fn a_score_is_an_event_with_the_ids_of_its_trace() {
        let lines = rendered(&answers());
        assert_eq!(lines.len(), 2);
        let resource = &lines[0]["resourceLogs"][0];
        assert_eq!(resource["resource"]["attributes"][1]["value"]["stringValue"], "main");
        let records = resource["scopeLogs"][0]["logRecords"].as_array().expect("records");
        assert_eq!(records.len(), 2);
        let record = &records[0];
        assert_eq!(record["eventName"], "gen_ai.evaluation.result");
        assert_eq!(record["timeUnixNano"], "1785578400000000000");
        assert_eq!(record["traceId"], "5b8efff798038103d269b633813fc60c");
        assert_eq!(record["spanId"], "eee19b7ec3c1b174");
        let check = |key: &str, wanted: Value| {
            assert_eq!(attribute(record, key), Some(&wanted), "{key}");
        };
        check("gen_ai.evaluation.name", json!({"stringValue": "answer_f1"}));
        check("gen_ai.evaluation.score.value", json!({"doubleValue": 0.5}));
        check("gen_ai.evaluation.explanation", json!({"stringValue": "The coast is missing."}));
        check("juror.trial", json!({"intValue": "2"}));
    }

    #[test]
    fn a_metric_without_a_score_is_an_error() {
        let lines = rendered(&answers());
        let record = &lines[1]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        assert_eq!(record["severityNumber"], ERROR);
        assert_eq!(attribute(record, "gen_ai.evaluation.score.value"), None);
        assert_eq!(attribute(record, "error.type"), Some(&json!({"stringValue": "no_score"})));
        assert_eq!(record.get("traceId"), None);
    }

    #[test]
    fn ids_that_are_not_those_of_opentelemetry_are_attributes() {
        let mut answers = answers();
        answers[0].trace_id = Some("trace_77".into());
        let lines = rendered(&answers);
        let record = &lines[0]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        assert_eq!(record.get("traceId"), None);
        assert_eq!(attribute(record, "juror.trace_id"), Some(&json!({"stringValue": "trace_77"})));
    }
}
