//! The formats of files with comparisons.

/// The format of a file with a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonFormat {
    /// `juror.compare/1`.
    Json,
    /// A comment for a pull request.
    Markdown,
    /// A test report.
    Junit,
    /// A table.
    Tsv,
}

impl ComparisonFormat {
    /// The supported extensions, for messages.
    pub const ENDINGS: &str = ".json, .md, .junit.xml or .tsv";

    /// Returns the format for a file name's extension.
    pub fn from_name(name: &str) -> Option<ComparisonFormat> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" => Some(ComparisonFormat::Json),
            "md" | "markdown" => Some(ComparisonFormat::Markdown),
            "xml" => Some(ComparisonFormat::Junit),
            "tsv" => Some(ComparisonFormat::Tsv),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_picks_the_format() {
        for (name, format) in [
            ("c.json", Some(ComparisonFormat::Json)),
            ("c.MD", Some(ComparisonFormat::Markdown)),
            ("c.junit.xml", Some(ComparisonFormat::Junit)),
            ("c.v1.tsv", Some(ComparisonFormat::Tsv)),
            ("c.html", None),
            ("json", None),
        ] {
            assert_eq!(ComparisonFormat::from_name(name), format, "{name}");
        }
    }
}
