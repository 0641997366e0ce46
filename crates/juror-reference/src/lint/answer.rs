//! Compares an answer with the result that it is made of.

use juror_graph::Term;
use juror_json as json;
use juror_score::Question;

use super::Lint;

/// The most rows whose values an answer is expected to mention.
const MOST_MENTIONED: usize = 10;

const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// Numbers that answers have as words.
const WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// Finds what the answer of a question has not of the result of its last step.
pub(super) fn lint(question: &Question<'_>, rows: &[Vec<Option<Term>>]) -> Option<Lint> {
    let answer = json::text_of(question.answer?)?;
    if let Some(result) = only_number(rows) {
        let asked = json::text_of(question.text).unwrap_or_default();
        return other_number(&answer, &asked, result);
    }
    unmentioned(&answer, rows)
}

/// Finds literals of a result that an answer does not mention. Names of things may stand in for IRIs, so that
/// those are not looked for.
fn unmentioned(answer: &str, rows: &[Vec<Option<Term>>]) -> Option<Lint> {
    if rows.is_empty() || rows.len() > MOST_MENTIONED {
        return None;
    }
    let answer = answer.to_lowercase();
    let texts = rows.iter().flatten().flatten().filter_map(|term| match term {
        Term::Literal(literal) if literal.datatype().as_str() == STRING => Some(literal.value()),
        _ => None,
    });
    let values: Vec<String> =
        texts.filter(|text| !answer.contains(&text.to_lowercase())).map(str::to_owned).collect();
    (!values.is_empty()).then_some(Lint::Unmentioned { values })
}

/// Returns the number that is the whole result, as it is written.
fn only_number(rows: &[Vec<Option<Term>>]) -> Option<&str> {
    let [row] = rows else { return None };
    let mut cells = row.iter().flatten();
    let (Some(Term::Literal(literal)), None) = (cells.next(), cells.next()) else { return None };
    let is_number = literal.value().trim().parse::<f64>().is_ok_and(f64::is_finite);
    is_number.then(|| literal.value().trim())
}

/// Finds a number in the answer that is not the result: if the answer is nothing else, or if the result is a
/// whole number and the answer has one number that the question has not. Anything else may be meant well.
fn other_number(answer: &str, question: &str, result: &str) -> Option<Lint> {
    let value: f64 = result.parse().ok()?;
    let asked = numbers(question);
    let own: Vec<&str> = numbers(answer).into_iter().filter(|one| !asked.contains(one)).collect();
    let bare = answer.trim().trim_end_matches('.');
    let number = match own[..] {
        [one] if one == bare => one,
        [one] if !result.contains(['.', 'e', 'E']) && !has_word(answer, value) => one,
        _ => return None,
    };
    let is_same = is_close(number, value)?;
    (!is_same).then(|| Lint::OtherNumber { answer: number.to_owned(), result: result.to_owned() })
}

/// Whether a number is another one as far as it is written out.
fn is_close(number: &str, value: f64) -> Option<bool> {
    let number = number.replace(',', "");
    let n_decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = 10_f64.powi(-i32::try_from(n_decimals).ok()?);
    Some((number.parse::<f64>().ok()? - value).abs() <= unit * 0.500_001)
}

fn has_word(answer: &str, value: f64) -> bool {
    let mut words = answer.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
    words.any(|word| {
        let number = WORDS.iter().zip(0_u8..).find(|(own, _)| **own == word);
        number.is_some_and(|(_, number)| (f64::from(number) - value).abs() < 0.5)
            || (matches!(&*word, "no" | "none" | "nothing") && value.abs() < 0.5)
    })
}

/// Returns the numbers of a text, as they are written, with commas between thousands. What touches letters is a
/// name or a measure, and what touches a hyphen may be a date.
fn numbers(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | '/' | ':' | '_');
    let words = text.split(|c: char| !is_part(c));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'));
    words.filter(|word| is_number(word)).collect()
}

fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    is_digits(first) && groups.all(|own| own.len() == 3 && is_digits(own)) && is_digits(decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_the_result_is_told_and_no_other() {
        for (answer, result) in [
            ("17", "3"),
            ("17.", "3"),
            ("There are 17 lights.", "3"),
            ("It has 1,250 pages", "1300"),
            ("3.5", "3.61"),
        ] {
            assert!(other_number(answer, "How many?", result).is_some(), "{answer} for {result}");
        }
        for (answer, result) in [
            ("3", "3"),
            ("There are 3.", "3"),
            ("3.6", "3.61"),
            ("1,300 pages", "1300"),
            ("Three, since 1962.", "3"),
            ("None before 1962", "0"),
            ("Since 2026-05-01 it is so", "3"),
            ("About 7 km", "7120.5"),
            ("Between 2 and 4", "3"),
            ("The 17th", "3"),
            ("M17 and Q5", "3"),
            ("many", "3"),
        ] {
            assert_eq!(other_number(answer, "How many?", result), None, "{answer} for {result}");
        }
        assert_eq!(other_number("Of 17 none", "Which of the 17?", "3"), None);
    }
}
