//! The list, reports and comparisons.

use crate::stage::Stage;

/// The place of a text, which there must be.
fn place(page: &str, text: &str) -> usize {
    page.find(text).unwrap_or_else(|| panic!("{text} is not in {page}"))
}

#[test]
fn runs_are_listed_with_their_metrics_the_newest_first() {
    let stage = Stage::with_two_runs();
    let page = stage.view("").page("/");
    assert!(place(&page, "/run/second") < place(&page, "/run/first"));
    for part in ["steps_score", "0.500", "1.000", "complete", "/history?metric=steps%5Fscore"] {
        place(&page, part);
    }
    assert!(!page.contains("USD"), "nobody was paid");
}

#[test]
fn a_run_is_shown_as_the_report_that_files_hold() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("");
    let page = viewed.page("/run/first");
    for part in ["id=\"verdict\"", "id=\"juror-index\"", "href=\"/\"", "All runs"] {
        place(&page, part);
    }
    assert_eq!(viewed.get("/run/first").body, page, "it is made once");
    stage.eval("first", &["x", "x"]);
    assert_ne!(viewed.get("/run/first").body, page, "a run that has changed is shown anew");
}

#[test]
fn runs_are_compared_in_the_order_of_the_address() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("");
    let page = viewed.page("/compare?run=first&run=second");
    place(&page, "second.jsonl compared with first.jsonl");
    let page = viewed.page("/compare?run=second&run=first");
    place(&page, "first.jsonl compared with second.jsonl");
    let ticked = viewed.get("/compare?by=age&run=second&run=first");
    assert_eq!((ticked.status, ticked.header("location")), (303, "/compare?run=first&run=second"));
    for few in ["/compare", "/compare?run=first", "/compare?run=first&run=first"] {
        let reply = viewed.get(few);
        assert_eq!(reply.status, 400, "{few}");
        place(&reply.body, "a comparison takes from 2 to 12 runs");
    }
    assert_eq!(viewed.get("/compare?run=first&run=third").status, 404);
}

#[test]
fn runs_of_different_questions_are_compared_only_on_request() {
    let stage = Stage::new();
    stage.eval("first", &["x", "y"]);
    stage.write_reference("Which?");
    stage.eval("second", &["x", "y"]);
    let viewed = stage.view("");
    let reply = viewed.get("/compare?run=first&run=second");
    assert_eq!(reply.status, 422);
    place(&reply.body, "the reference questions differ");
    place(&reply.body, "/compare?run=first&#38;run=second&#38;allow_mismatch=1");
    let allowed = viewed.get("/compare?run=first&run=second&allow_mismatch=1");
    assert!([200, 422].contains(&allowed.status), "{}", allowed.body);
}

#[test]
fn a_folder_without_runs_is_shown_and_runs_may_come() {
    let stage = Stage::new();
    let viewed = stage.view("");
    place(&viewed.page("/"), "There are no runs here yet");
    stage.eval("first", &["x", "y"]);
    place(&viewed.page("/"), "/run/first");
}

#[test]
fn every_page_forbids_what_it_does_not_need() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("");
    for path in ["/", "/run/first", "/compare?run=first&run=second", "/nothing"] {
        let reply = viewed.get(path);
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(reply.header("cache-control"), "no-store", "{path}");
        let talks = policy.contains("connect-src 'self'");
        assert_eq!(talks, !path.contains("run"), "{path}: {policy}");
    }
}

#[test]
fn names_of_runs_stay_text() {
    let stage = Stage::with_two_runs();
    let mut run = stage.manifest("first");
    run["name"] = "<script>alert(1)</script>".into();
    stage.write("runs/<img src=x>/run.json", &run.to_string());
    let page = stage.view("").page("/");
    assert!(!page.contains("<script>alert") && !page.contains("<img"), "{page}");
    place(&page, "&#60;script&#62;alert(1)");
    place(&page, "/run/%3Cimg%20src%3Dx%3E");
}
