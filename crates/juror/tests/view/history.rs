//! Metrics and questions over all runs.

use crate::stage::Stage;

fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

#[test]
fn a_metric_is_drawn_over_runs_and_the_line_breaks_where_the_reference_changed() {
    let stage = Stage::with_two_runs();
    stage.write_reference("Which?");
    stage.eval("third", &["x", "y"]);
    stage.eval("fourth", &["y", "y"]);
    let viewed = stage.view("");
    let page = viewed.page("/history?metric=steps_score");
    assert_eq!((count(&page, "class=\"line\""), count(&page, "class=\"break\"")), (2, 1));
    assert_eq!((count(&page, "class=\"mark\""), count(&page, "other questions")), (4, 1));
    assert!(page.find("/run/fourth") < page.find("/run/first"), "the newest first");
    assert_eq!(viewed.page("/history"), page, "this metric says best whether answers are right");
    let none = viewed.page("/history?metric=%3Cb%3Etaste");
    assert!(none.contains("No run has `&#60;b&#62;taste` yet"), "{none}");
}

#[test]
fn a_damaged_run_is_in_the_table_and_not_in_the_chart() {
    let stage = Stage::with_two_runs();
    stage.eval("third", &["x", "y"]);
    let results = stage.read("runs/second/results.jsonl");
    stage.write("runs/second/results.jsonl", &results[..results.len() - 40]);
    let page = stage.view("").page("/history?metric=steps_score");
    assert_eq!(count(&page, "class=\"mark\""), 2, "{page}");
    assert_eq!(count(&page, "<td>damaged, not in the chart</td>"), 1, "{page}");
    assert!(page.contains("/run/second"), "{page}");
}

#[test]
fn a_question_is_shown_over_runs_with_links_to_each() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("");
    let page = viewed.page("/history?question=q2&group=t");
    assert_eq!((count(&page, ">✗<"), count(&page, ">✓<")), (1, 1));
    assert!(page.contains("/run/first#/?q=q2&#38;g=t"), "{page}");
    assert!(page.contains("by steps_score"), "{page}");
    stage.eval("first", &["x", "x"]);
    let page = viewed.page("/history?question=q2");
    assert_eq!((count(&page, ">✗<"), count(&page, ">✓<")), (0, 2));
    for unknown in ["/history?question=q", "/history?question=q2&group=other"] {
        assert_eq!(count(&viewed.page(unknown), "not in this run"), 2, "{unknown}");
    }
    let hostile = viewed.page("/history?question=%3Cscript%3E&metric=%3Cscript%3E");
    assert!(!hostile.contains("<script>&") && hostile.contains("&#60;script&#62;"), "{hostile}");
}
