//! Plain HTML for notebooks: paragraphs and tables without styles of their own, links or scripts.
//!
//! Only texts enter a fragment, and all of them are escaped on the way.

use std::fmt::Write as _;

use super::escape::escaped;

/// Keeps notebooks, whichever renderer they have, from reading text between dollars as formulas.
const NO_FORMULAS: &str = "tex2jax_ignore mathjax_ignore";

/// A piece of a page.
#[derive(Debug, Default)]
pub(crate) struct Fragment(String);

impl Fragment {
    /// Adds a sentence.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.lines(&[text.to_owned()]);
    }

    /// Adds sentences, one on each line.
    pub(crate) fn lines(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
            // Writing to a string does not fail, here and below.
            let _ = writeln!(self.0, "<p>{}</p>", lines.join("<br>\n"));
        }
    }

    /// Adds a table. The first row has the titles; the first `n_left` columns are aligned to the left,
    /// the others to the right.
    pub(crate) fn table(&mut self, rows: &[Vec<String>], n_left: usize) {
        let Some((titles, rows)) = rows.split_first() else { return };
        self.0.push_str("<table>\n<thead>\n");
        self.row(titles, n_left, "th");
        self.0.push_str("</thead>\n<tbody>\n");
        for row in rows {
            self.row(row, n_left, "td");
        }
        self.0.push_str("</tbody>\n</table>\n");
    }

    fn row(&mut self, cells: &[String], n_left: usize, tag: &str) {
        self.0.push_str("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let side = if at < n_left { "left" } else { "right" };
            let cell = escaped(cell);
            let _ = write!(self.0, "<{tag} style=\"text-align: {side}\">{cell}</{tag}>");
        }
        self.0.push_str("</tr>\n");
    }

    /// Returns the HTML.
    pub(crate) fn finish(self) -> String {
        format!("<div class=\"{NO_FORMULAS}\">\n{}</div>\n", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_escaped() {
        let hostile = "<img src=x onerror=\"alert('&')\">\u{202e}";
        let safe = "&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;\u{fffd}";
        let mut fragment = Fragment::default();
        fragment.paragraph(hostile);
        fragment.table(&[vec![hostile.to_owned()], vec![hostile.to_owned()]], 1);
        let html = fragment.finish();
        assert_eq!(html.matches(safe).count(), 3, "{html}");
        assert!(!html.contains("<img"), "{html}");
    }

    #[test]
    fn columns_are_aligned_and_nothing_is_added_for_nothing() {
        let rows = [["metric", "n"], ["steps", "5"]].map(|row| row.map(str::to_owned).to_vec());
        let mut fragment = Fragment::default();
        fragment.lines(&[]);
        fragment.table(&[], 1);
        fragment.table(&rows, 1);
        assert_eq!(
            fragment.finish(),
            "<div class=\"tex2jax_ignore mathjax_ignore\">\n<table>\n<thead>\n<tr><th style=\"text-align: left\">metric</th>\
             <th style=\"text-align: right\">n</th></tr>\n</thead>\n<tbody>\n\
             <tr><td style=\"text-align: left\">steps</td><td style=\"text-align: right\">5</td></tr>\n\
             </tbody>\n</table>\n</div>\n"
        );
    }
}
