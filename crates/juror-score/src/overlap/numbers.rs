//! Numbers as answers write them.

/// Digits with what separates them, found at the beginning of a text.
pub(super) struct Digits<'t> {
    /// The text, such as `1,234.50`.
    pub(super) text: &'t str,
    groups: Vec<&'t str>,
    separators: Vec<char>,
}

impl<'t> Digits<'t> {
    /// Reads digits, with separators that are followed by digits. Returns `None` if the text begins
    /// with none.
    pub(super) fn read(text: &'t str) -> Option<Digits<'t>> {
        let n_digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut end = n_digits(text);
        let mut digits = Digits { text, groups: vec![&text[..end]], separators: Vec::new() };
        if end == 0 {
            return None;
        }
        while let Some(separator) = text[end..].chars().next().filter(|c| is_separator(*c)) {
            let begin = end + separator.len_utf8();
            let n = n_digits(&text[begin..]);
            if n == 0 {
                break;
            }
            end = begin + n;
            digits.groups.push(&text[begin..end]);
            digits.separators.push(separator);
        }
        digits.text = &text[..end];
        Some(digits)
    }

    /// Returns the numbers in a form that is the same for equal numbers: one if the separators are
    /// those of one number, else one for each run of digits, as in `2024.05.01` and `3,14`.
    pub(super) fn numbers(&self, is_negative: bool) -> Vec<String> {
        let sign = |first: bool| if first && is_negative { "-" } else { "" };
        if let Some((whole, fraction)) = self.as_one() {
            return vec![normal_form(sign(true), &whole, fraction)];
        }
        let own = self.groups.iter().enumerate();
        own.map(|(at, digits)| normal_form(sign(at == 0), digits, "")).collect()
    }

    /// Returns the digits before and after the decimal point, if this is one number. Its thousands
    /// are separated by the same character throughout, or not at all.
    fn as_one(&self) -> Option<(String, &'t str)> {
        let has_fraction = self.separators.last() == Some(&'.');
        let n_whole = self.groups.len() - usize::from(has_fraction);
        let (whole, fraction) = self.groups.split_at(n_whole);
        let mut separators = self.separators[..n_whole - 1].iter();
        let thousands = separators.next();
        let is_grouped = thousands.is_none_or(|first| {
            *first != '.'
                && separators.all(|separator| separator == first)
                && whole[0].len() <= 3
                && whole[1..].iter().all(|group| group.len() == 3)
        });
        is_grouped.then(|| (whole.concat(), fraction.first().copied().unwrap_or_default()))
    }
}

/// Whether a character may separate the digits of a number: a point, or what separates thousands.
/// A plain space does not: it separates numbers as well.
fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Drops the zeros that do not matter.
fn normal_form(sign: &str, whole: &str, fraction: &str) -> String {
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    match (whole, fraction) {
        ("", "") => "0".to_owned(),
        (whole, "") => format!("{sign}{whole}"),
        ("", fraction) => format!("{sign}0.{fraction}"),
        (whole, fraction) => format!("{sign}{whole}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_one_form() {
        for (text, wanted) in [
            ("1,234.50", "1234.5"),
            ("1234.5", "1234.5"),
            ("1'234’567", "1 234 567"),
            ("1'234'567 km", "1234567"),
            ("12\u{202f}345", "12345"),
            ("007", "7"),
            ("0.50", "0.5"),
            ("0.0", "0"),
            ("5.", "5"),
            ("1,234,5", "1 234 5"),
            ("1234,567", "1234 567"),
            ("3,14", "3 14"),
            ("1.234.567", "1 234 567"),
            ("2024.05.01", "2024 5 1"),
            ("1,2,3", "1 2 3"),
            ("1 234", "1"),
        ] {
            let digits = Digits::read(text).expect("digits");
            assert_eq!(digits.numbers(false).join(" "), wanted, "{text}");
        }
        assert!(Digits::read("x1").is_none() && Digits::read("").is_none());
        let negative = |text| Digits::read(text).expect("digits").numbers(true).join(" ");
        assert_eq!(negative("5.0"), "-5");
        assert_eq!(negative("0.0"), "0", "zero has no sign");
    }
}
