//! Addresses of pages, whatever the names in them are.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Writes a name as part of an address.
pub(crate) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

/// The report of a run.
pub(crate) fn of_run(id: &str) -> String {
    format!("/run/{}", encoded(id))
}

/// A question in the report of a run.
pub(crate) fn of_question(id: &str, group: &str, question: &str) -> String {
    format!("{}#/?q={}&g={}", of_run(id), encoded(question), encoded(group))
}

/// The comparison of runs; the first is the baseline.
pub(crate) fn of_comparison<'i>(
    ids: impl IntoIterator<Item = &'i str>,
    allow_mismatch: bool,
) -> String {
    let runs: Vec<String> = ids.into_iter().map(|id| format!("run={}", encoded(id))).collect();
    let allow = if allow_mismatch { "&allow_mismatch=1" } else { "" };
    format!("/compare?{}{allow}", runs.join("&"))
}

/// A metric over all runs.
pub(crate) fn of_history(metric: &str) -> String {
    format!("/history?metric={}", encoded(metric))
}

/// The next answer of a run to label.
pub(crate) fn of_label(id: &str) -> String {
    format!("/label/{}", encoded(id))
}

/// The same with parameters.
pub(crate) fn of_label_with(id: &str, parameters: &[(&str, &str)]) -> String {
    let part = |(name, value): &(&str, &str)| format!("{name}={}", encoded(value));
    let parts: Vec<String> = parameters.iter().map(part).collect();
    format!("{}?{}", of_label(id), parts.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_parts_of_addresses() {
        assert_eq!(of_run("../a b?"), "/run/%2E%2E%2Fa%20b%3F");
        assert_eq!(
            of_comparison(["a&run=x", "b"], true),
            "/compare?run=a%26run%3Dx&run=b&allow_mismatch=1"
        );
        assert_eq!(of_question("r", "g", "q#1"), "/run/r#/?q=q%231&g=g");
    }
}
