//! Counters and histograms in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use juror_tools::{CallCounts, ServedFrom};

/// Upper bounds of the histogram's buckets, in seconds.
const BOUNDS: [f64; 12] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0];

const SOURCES: [ServedFrom; 4] =
    [ServedFrom::Cache, ServedFrom::Simulator, ServedFrom::Real, ServedFrom::Nowhere];

/// What the server itself counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    times: [Times; SOURCES.len()],
    refused: AtomicU64,
    connections: AtomicU64,
    pub(crate) requests: AtomicU64,
}

#[derive(Debug, Default)]
struct Times {
    /// The last bucket has no upper bound.
    classes: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

impl Metrics {
    /// Counts a call that was answered.
    pub(crate) fn served(&self, from: ServedFrom, took: Duration) {
        let times = &self.times[place(from)];
        let class = BOUNDS.partition_point(|bound| *bound < took.as_secs_f64());
        times.classes[class].fetch_add(1, Ordering::Relaxed);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        times.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    /// Counts a request that was refused.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Renders everything as text.
    pub(crate) fn render(&self, counts: &CallCounts, n_apis: usize, n_runs: usize) -> String {
        let mut out = String::new();
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counters = [
            ("juror_requests_total", "Requests of any kind.", &self.requests),
            ("juror_refused_total", "Requests that were not let through.", &self.refused),
            ("juror_hits_total", "Calls whose reply was known.", &counts.hits),
            ("juror_misses_total", "Calls whose reply was not known.", &counts.misses),
            (
                "juror_equal_numbers_total",
                "Hits by equal numbers that are written otherwise.",
                &counts.equal_numbers,
            ),
            ("juror_any_order_total", "Hits by arguments in another order.", &counts.any_order),
            ("juror_joined_total", "Calls that waited for an equal one.", &counts.joined),
            ("juror_simulated_total", "Replies made by a model.", &counts.simulated),
            ("juror_real_total", "Replies of real tools.", &counts.real),
            ("juror_failed_total", "Calls that nothing had a reply to.", &counts.failed),
            (
                "juror_look_up_failed_total",
                "Calls for which known replies could not be looked up.",
                &counts.look_up_failed,
            ),
            ("juror_kept_total", "Replies that were kept.", &counts.kept),
            ("juror_not_kept_total", "Replies that could not be kept.", &counts.not_kept),
        ];
        for (name, help, count) in counters {
            head(&mut out, name, help, "counter");
            line(&mut out, name, "", load(count));
        }
        head(&mut out, "juror_connections", "Open connections.", "gauge");
        line(&mut out, "juror_connections", "", load(&self.connections));
        head(&mut out, "juror_apis", "APIs that are served.", "gauge");
        line(&mut out, "juror_apis", "", n_apis as u64);
        head(
            &mut out,
            "juror_open_runs",
            "Runs with queries that calls are recorded for.",
            "gauge",
        );
        line(&mut out, "juror_open_runs", "", n_runs as u64);
        let name = "juror_call_seconds";
        head(&mut out, name, "How long calls took, by where the reply came from.", "histogram");
        for (source, times) in SOURCES.iter().zip(&self.times) {
            times.render(&mut out, name, source.as_str());
        }
        out
    }
}

/// Counts a connection while it is open.
pub(crate) struct ConnectionGauge<'m>(&'m Metrics);

impl<'m> ConnectionGauge<'m> {
    pub(crate) fn count(metrics: &'m Metrics) -> ConnectionGauge<'m> {
        metrics.connections.fetch_add(1, Ordering::Relaxed);
        ConnectionGauge(metrics)
    }
}

impl Drop for ConnectionGauge<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Times {
    fn render(&self, out: &mut String, name: &str, source: &str) {
        let mut total = 0;
        for (bound, class) in BOUNDS.iter().zip(&self.classes) {
            total += class.load(Ordering::Relaxed);
            let labels = format!("{{source=\"{source}\",le=\"{bound}\"}}");
            line(out, &format!("{name}_bucket"), &labels, total);
        }
        total += self.classes[BOUNDS.len()].load(Ordering::Relaxed);
        let labels = format!("{{source=\"{source}\",le=\"+Inf\"}}");
        line(out, &format!("{name}_bucket"), &labels, total);
        let labels = format!("{{source=\"{source}\"}}");
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        line(out, &format!("{name}_sum"), &labels, seconds);
        line(out, &format!("{name}_count"), &labels, total);
    }
}

fn place(from: ServedFrom) -> usize {
    match from {
        ServedFrom::Cache => 0,
        ServedFrom::Simulator => 1,
        ServedFrom::Real => 2,
        ServedFrom::Nowhere => 3,
    }
}

// Writing to a string does not fail.

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_into_all_classes_above() {
        let metrics = Metrics::default();
        metrics.served(ServedFrom::Cache, Duration::from_micros(90));
        metrics.served(ServedFrom::Cache, Duration::from_secs(90));
        let text = metrics.render(&CallCounts::default(), 7, 2);
        let has = |line: &str| assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        has("juror_call_seconds_bucket{source=\"cache\",le=\"0.0001\"} 1");
        has("juror_call_seconds_bucket{source=\"cache\",le=\"60\"} 1");
        has("juror_call_seconds_bucket{source=\"cache\",le=\"+Inf\"} 2");
        has("juror_call_seconds_sum{source=\"cache\"} 90.00009");
        has("juror_call_seconds_count{source=\"cache\"} 2");
        has("juror_apis 7");
        has("juror_open_runs 2");
    }
}
