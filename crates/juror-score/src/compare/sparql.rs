//! Compares steps that return SPARQL results.

use juror_sparql::{Comparison, Prepared, ResultFormat, Rules, SparqlResult};

use super::{Expectation, View};

/// Whether an actual output agrees with the expected one. An output that is not a table or a
/// boolean, such as that of a DESCRIBE query, agrees only with the identical text.
pub(super) fn matches(expected: &Expectation<'_>, actual: &View<'_>, format: ResultFormat) -> bool {
    if expected.view.is_written_like(actual) {
        return true;
    }
    match (expected.prepared(format), actual.result(format)) {
        (Some(expected), Some(actual)) => expected.compare(actual) == Comparison::Same,
        _ => expected.view.text().is_some() && expected.view.text() == actual.text(),
    }
}

/// Compares two results in JSON. Returns 1 if they agree by the rules, and 0 otherwise.
///
/// ```
/// use juror_score::Rules;
/// use juror_score::compare::compare_sparql_results;
/// let one = r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri", "value": "u"}}]}}"#;
/// let two = r#"{"head": {"vars": ["z"]}, "results": {"bindings": [{"z": {"type": "uri", "value": "u"}}]}}"#;
/// assert_eq!(compare_sparql_results(one, two, &Rules::default()), 1.0);
/// ```
pub fn compare_sparql_results(reference: &str, actual: &str, rules: &Rules<'_>) -> f64 {
    let format = ResultFormat::Json;
    let expected = SparqlResult::parse_reference(reference, format);
    let same = match (expected, SparqlResult::parse(actual, format)) {
        (Ok(reference), Ok(actual)) => {
            Prepared::new(&reference, rules).compare(&actual) == Comparison::Same
        }
        _ => reference == actual,
    };
    f64::from(u8::from(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_texts_agree_even_when_unreadable() {
        let rules = Rules::default();
        assert_eq!(compare_sparql_results("ex:a ex:b ex:c .", "ex:a ex:b ex:c .", &rules), 1.0);
        assert_eq!(compare_sparql_results("ex:a ex:b ex:c .", "ex:a ex:b ex:d .", &rules), 0.0);
    }
}
