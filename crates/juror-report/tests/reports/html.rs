//! What a comparison, and the statistics of a run, look like in a notebook.

use juror_compare::{CompareOptions, Gate, Gates, LevelLimit, Statistics};
use juror_report::{
    ComparisonView, Palette, comparison_html, comparison_text, statistics_html, statistics_text,
};

use crate::support::{answer, compared, table, two_runs};

/// The texts between tags, without the marks of escaping.
fn texts(html: &str) -> Vec<String> {
    let text = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let plain = |text: &str| {
        marks.iter().fold(text.trim().to_owned(), |text, (mark, sign)| text.replace(mark, sign))
    };
    text.map(plain).filter(|text| !text.is_empty()).collect()
}

#[test]
fn a_notebook_shows_the_rows_of_a_terminal() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let gates = vec![Gate::on_mean("steps_score", LevelLimit::Min(0.9))];
    let gates = Gates { gates, ..Gates::default() };
    let options = CompareOptions { gates, by_group: true, ..CompareOptions::default() };
    let comparison = compared(&[("main", &a), ("one", &b), ("two", &b)], &options);
    let view = ComparisonView { flips: 2, by_group: true, ..ComparisonView::default() };
    let text = comparison_text(&comparison, &view, Palette::Plain);
    let words = |text: &str| -> Vec<String> {
        text.split([' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let on_terminal = words(&text);
    for cell in texts(&comparison_html(&comparison, &view)) {
        let is_title = ["question", "why", "·"].contains(&&*cell);
        let shown = words(&cell).into_iter().filter(|word| word != "·");
        for word in shown.filter(|_| !is_title) {
            assert!(on_terminal.contains(&word), "`{word}` of `{cell}` is not in\n{text}");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "<script>alert(\"&\")</script>'";
    let run = |score: f64| table(&[answer(hostile, hostile, score), answer("t", "q", 1.0)]);
    let (a, b) = (run(1.0), run(0.0));
    let mut comparison = compared(&[(hostile, &a), (hostile, &b)], &CompareOptions::default());
    comparison.candidates[0].flips[0].broken[0].why = Some(hostile.into());
    let view = ComparisonView { by_group: true, ..ComparisonView::default() };
    let statistics = Statistics::of(&a, 0.95);
    for html in [comparison_html(&comparison, &view), statistics_html(&statistics)] {
        assert!(!html.contains("<script") && !html.contains("</script"), "{html}");
        assert!(
            html.contains("&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;&#39;"),
            "{html}"
        );
        assert!(!html.contains("href") && !html.contains("src="), "{html}");
    }
}

#[test]
fn statistics_have_a_row_for_each_metric_and_template() {
    let [a, _] = two_runs().map(|answers| table(&answers));
    let text = statistics_text(&Statistics::of(&a, 0.95), Palette::Plain);
    let expected = "\
48 questions · errors 1

metric               mean  median   n  coverage  mean over templates
steps_score   0.681 ±0.09   1.000  47    97.9 %          0.688 ±0.10
total_tokens     1,003 ±1   1,003  48     100 %             1,003 ±1
± is half of the 95 % interval of a mean, allowing for 12 templates

steps_score by template               mean  n  coverage
template_0                     0.500 ±0.35  4     100 %
template_1               0.750 (0.30…0.95)  4     100 %
";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.lines().count(), 8 + 12, "{text}");
}

#[test]
fn of_many_templates_the_worst_are_listed() {
    let score = |at: usize| if at == 24 { 0.0 } else { 1.0 };
    let all: Vec<_> =
        (0..25).map(|at| answer(&format!("t{at}"), &format!("q{at}"), score(at))).collect();
    let text = statistics_text(&Statistics::of(&table(&all), 0.95), Palette::Plain);
    assert!(text.contains("mean  n  coverage\nt24 "), "{text}");
    assert!(text.ends_with("… and 5 more\n"), "{text}");
}

#[test]
fn statistics_without_numbers_say_only_how_many_answers_there_are() {
    let errors = table(&[answer("t", "q1", None), answer("t", "q2", None)]);
    let statistics = Statistics::of(&errors, 0.95);
    assert_eq!(statistics_text(&statistics, Palette::Plain), "2 questions · errors 2\n");
    assert_eq!(texts(&statistics_html(&statistics)), ["2 questions · errors 2"]);
}
