//! Writes `JUnit` files as XML.

use std::borrow::Cow;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::{Case, Status, Suite, Trouble, TroubleKind};

/// Renders suites as a file; `name` is that of all of them.
pub(crate) fn write(name: &str, suites: &[Suite]) -> Vec<u8> {
    let mut document = Document { writer: Writer::new_with_indent(Vec::new(), b' ', 2) };
    document.put(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
    let start = element("testsuites", &[("name", name)]);
    document.put(Event::Start(with_counts(start, suites)));
    for suite in suites {
        document.suite(suite);
    }
    document.end("testsuites");
    let mut bytes = document.writer.into_inner();
    bytes.push(b'\n');
    bytes
}

struct Document {
    writer: Writer<Vec<u8>>,
}

impl Document {
    /// Adds an event. Writing to memory does not fail.
    fn put(&mut self, event: Event<'_>) {
        let _ = self.writer.write_event(event);
    }

    fn end(&mut self, name: &str) {
        self.put(Event::End(BytesEnd::new(name)));
    }

    fn suite(&mut self, suite: &Suite) {
        let start = element("testsuite", &[("name", &suite.name)]);
        self.put(Event::Start(with_counts(start, std::slice::from_ref(suite))));
        for case in &suite.cases {
            self.case(case, &suite.name);
        }
        self.end("testsuite");
    }

    fn case(&mut self, case: &Case, suite: &str) {
        let mut start = element("testcase", &[("name", &case.name), ("classname", suite)]);
        if let Some(seconds) = case.seconds {
            start.push_attribute(("time", &*time(seconds)));
        }
        self.put(Event::Start(start));
        self.properties(&case.properties);
        match &case.status {
            Status::Passed => {}
            Status::Flaky(troubles) => {
                self.troubles(troubles, ["flakyFailure", "flakyError"]);
            }
            Status::Failed(first, more) => {
                self.troubles(std::slice::from_ref(first), ["failure", "error"]);
                self.troubles(more, ["rerunFailure", "rerunError"]);
            }
            Status::Skipped(why) => {
                self.put(Event::Empty(element("skipped", &[("message", why)])));
            }
        }
        self.end("testcase");
    }

    fn properties(&mut self, properties: &[(String, String)]) {
        if properties.is_empty() {
            return;
        }
        self.put(Event::Start(element("properties", &[])));
        for (name, value) in properties {
            self.put(Event::Empty(element("property", &[("name", name), ("value", value)])));
        }
        self.end("properties");
    }

    /// Adds an element for each; `names` are those of a failure and of an error.
    fn troubles(&mut self, troubles: &[Trouble], names: [&'static str; 2]) {
        for trouble in troubles {
            self.trouble(trouble, names);
        }
    }

    fn trouble(&mut self, trouble: &Trouble, names: [&'static str; 2]) {
        let (name, kind) = match trouble.kind {
            TroubleKind::Failure => (names[0], "failure"),
            TroubleKind::Error => (names[1], "error"),
        };
        let start = element(name, &[("message", &trouble.message), ("type", kind)]);
        let Some(why) = &trouble.why else { return self.put(Event::Empty(start)) };
        self.put(Event::Start(start));
        self.put(Event::Text(BytesText::new(&allowed(why))));
        self.end(name);
    }
}

fn element(name: &'static str, attributes: &[(&str, &str)]) -> BytesStart<'static> {
    let mut start = BytesStart::new(name);
    for (key, value) in attributes {
        start.push_attribute((*key, &*allowed(value)));
    }
    start
}

/// Adds the attributes that count the cases of suites, and the time they took.
fn with_counts(mut start: BytesStart<'static>, suites: &[Suite]) -> BytesStart<'static> {
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let count = |is_counted: fn(&Status) -> bool| {
        cases().filter(|case| is_counted(&case.status)).count().to_string()
    };
    for (key, value) in [
        ("tests", count(|_| true)),
        ("failures", count(|status| status.is_failed_by(TroubleKind::Failure))),
        ("errors", count(|status| status.is_failed_by(TroubleKind::Error))),
        ("skipped", count(|status| matches!(status, Status::Skipped(_)))),
        ("time", time(cases().filter_map(|case| case.seconds).fold(0.0, |sum, own| sum + own))),
    ] {
        start.push_attribute((key, &*value));
    }
    start
}

fn time(seconds: f64) -> String {
    format!("{seconds:.3}")
}

/// Replaces the characters that XML 1.0 does not have, not even escaped.
pub(crate) fn allowed(text: &str) -> Cow<'_, str> {
    let is_allowed = |c: char| match c {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => c >= ' ',
    };
    if text.chars().all(is_allowed) {
        return Cow::Borrowed(text);
    }
    let replaced = |c| if is_allowed(c) { c } else { char::REPLACEMENT_CHARACTER };
    Cow::Owned(text.chars().map(replaced).collect())
}
