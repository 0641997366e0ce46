//! The numbers and names that a reference answer mentions, and which of them an answer repeats.
//!
//! A mention is one of these:
//!
//! - a number, compared by value: `1,234.50` is `1234.5`, and `5km` mentions 5;
//! - a word with digits in it, such as `Q42` or `CO2`;
//! - a word with a capital letter that does more than begin a sentence. At the beginning of a
//!   sentence, a word counts if it has a capital elsewhere too (`NASA`), if the next word of the
//!   sentence has a capital (`Marie Curie`) or there is none (`Oslo.`), or if it is a name elsewhere
//!   in the text. Common English words, such as `The`, do not count.
//!
//! Words are compared in lower case, one by one: `Marie Curie` is two mentions.

use hashbrown::HashSet;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::numbers::Digits;

/// How many of the mentions of a reference answer an answer repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionRecall {
    /// The mentions of the reference answer, each counted once.
    pub n_mentions: usize,
    /// Those that the answer lacks, in the order of the reference answer.
    pub missing: Vec<String>,
}

impl MentionRecall {
    /// How many missing mentions a description names.
    const MOST_NAMED: usize = 10;

    /// How many characters of a mention it shows.
    const MOST_CHARACTERS: usize = 40;

    /// Returns the share of mentions that the answer repeats.
    pub fn score(&self) -> f64 {
        (self.n_mentions - self.missing.len()) as f64 / self.n_mentions as f64
    }

    /// Names the mentions that the answer lacks, if any.
    pub fn describe_missing(&self) -> Option<String> {
        let shorten = |mention: &String| match mention.char_indices().nth(Self::MOST_CHARACTERS) {
            Some((end, _)) => format!("{}…", &mention[..end]),
            None => mention.clone(),
        };
        let named: Vec<String> = self.missing.iter().take(Self::MOST_NAMED).map(shorten).collect();
        let more = match self.missing.len().saturating_sub(Self::MOST_NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        (!named.is_empty()).then(|| format!("not mentioned: {}{more}", named.join(", ")))
    }
}

/// Returns which numbers and names of the reference answer an answer repeats. Returns `None` if the
/// reference answer mentions none.
///
/// ```
/// use juror_score::overlap::mention_recall;
/// let recall = mention_recall("In 2020, Oslo had 693,494 inhabitants.", "Oslo: 693494").unwrap();
/// assert_eq!((recall.score(), recall.missing), (2.0 / 3.0, vec!["2020".to_owned()]));
/// assert_eq!(mention_recall("Nobody knows.", "Nobody knows."), None);
/// ```
pub fn mention_recall(reference: &str, actual: &str) -> Option<MentionRecall> {
    let mentions = mentions(reference);
    if mentions.is_empty() {
        return None;
    }
    let said: HashSet<String> = said(actual).into_iter().map(|said| said.normal).collect();
    let missing = mentions.iter().filter(|mention| !said.contains(&mention.normal));
    let missing = missing.map(|mention| mention.written.to_owned()).collect();
    Some(MentionRecall { n_mentions: mentions.len(), missing })
}

/// Whether a reference answer mentions a number or a name.
pub fn has_mentions(reference: &str) -> bool {
    !mentions(reference).is_empty()
}

/// A word or number of a text.
#[derive(Clone, Debug)]
struct Said<'t> {
    /// A form that is the same for equal words and equal numbers.
    normal: String,
    written: &'t str,
    kind: SaidKind,
    /// Whether a sentence begins with it.
    begins: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SaidKind {
    Number,
    /// A word with digits in it.
    Code,
    /// A word in lower case, or of a script that has no capitals.
    Lower,
    /// A word whose only capital is its first letter.
    Capital,
    /// A word with another capital.
    Capitals,
}

impl SaidKind {
    fn of_word(word: &str) -> SaidKind {
        if word.chars().any(char::is_numeric) {
            return SaidKind::Code;
        }
        let mut letters = word.chars();
        let is_first = letters.next().is_some_and(char::is_uppercase);
        match (is_first, letters.any(char::is_uppercase)) {
            (_, true) => SaidKind::Capitals,
            (true, false) => SaidKind::Capital,
            (false, false) => SaidKind::Lower,
        }
    }

    fn is_capital(self) -> bool {
        matches!(self, SaidKind::Capital | SaidKind::Capitals)
    }

    fn is_word(self) -> bool {
        self.is_capital() || self == SaidKind::Lower
    }
}

/// A mention, which is equal to others of the same normal form.
struct Mention<'t> {
    normal: String,
    written: &'t str,
}

/// Returns the mentions of a text, each once, in order.
fn mentions(text: &str) -> Vec<Mention<'_>> {
    let all = said(text);
    let is_shouted = !all.iter().any(|said| said.kind == SaidKind::Lower);
    let counts = |said: &Said<'_>| match said.kind {
        SaidKind::Number | SaidKind::Code => true,
        SaidKind::Lower => false,
        // In capitals throughout, `IT` may be `it`.
        SaidKind::Capitals => !(is_shouted && is_common(&said.normal)),
        SaidKind::Capital => !is_common(&said.normal),
    };
    let within =
        |said: &&Said<'_>| said.kind.is_capital() && !said.begins && !is_common(&said.normal);
    let names: HashSet<&str> = all.iter().filter(within).map(|said| &*said.normal).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut mentions = Vec::new();
    for (said, is_next_capital) in all.iter().zip(follow_capitals(&all)) {
        let merely_begins = said.kind == SaidKind::Capital && said.begins && !is_next_capital;
        let is_mention = counts(said) && (!merely_begins || names.contains(&*said.normal));
        if is_mention && seen.insert(&said.normal) {
            mentions.push(Mention { normal: said.normal.clone(), written: said.written });
        }
    }
    mentions
}

/// Returns for each word or number whether the next word of its sentence has a capital, or there is
/// none.
fn follow_capitals(all: &[Said<'_>]) -> Vec<bool> {
    let mut follow = vec![true; all.len()];
    let mut is_capital = true;
    for (at, said) in all.iter().enumerate().rev() {
        follow[at] = is_capital;
        if said.begins {
            is_capital = true;
        } else if said.kind.is_word() {
            is_capital = said.kind.is_capital();
        }
    }
    follow
}

/// Splits a text into words and numbers.
fn said(text: &str) -> Vec<Said<'_>> {
    let mut all: Vec<Said<'_>> = Vec::new();
    let mut at = 0;
    let mut after_last = 0;
    while let Some(first) = text[at..].chars().next() {
        if !is_word_character(first) {
            at += first.len_utf8();
            continue;
        }
        let begins =
            all.last().is_none_or(|last| ends_sentence(last.written, &text[after_last..at]));
        let is_negative = is_minus(&text[..at]);
        let rest = &text[at..];
        let (written, own) = read_one(rest, is_negative);
        for (nth, (normal, kind)) in own.into_iter().enumerate() {
            all.push(Said { normal, written, kind, begins: begins && nth == 0 });
        }
        at += written.len();
        after_last = at;
    }
    all
}

/// Reads the word or the digits that a text begins with, which may be several numbers.
fn read_one(rest: &str, is_negative: bool) -> (&str, Vec<(String, SaidKind)>) {
    let end_of_word = |from: usize| {
        let end = rest[from..].find(|c| !is_word_character(c));
        end.map_or(rest.len(), |end| from + end)
    };
    let Some(digits) = Digits::read(rest) else {
        let word = &rest[..end_of_word(0)];
        return (word, vec![(word.to_lowercase(), SaidKind::of_word(word))]);
    };
    let end = end_of_word(digits.text.len());
    let (written, unit) = (&rest[..end], &rest[digits.text.len()..end]);
    if unit.chars().any(char::is_numeric) {
        return (written, vec![(written.to_lowercase(), SaidKind::Code)]);
    }
    let numbers = digits.numbers(is_negative).into_iter();
    (written, numbers.map(|number| (number, SaidKind::Number)).collect())
}

/// Whether a character is part of a word: a letter, a digit, or a mark such as an accent of its own.
fn is_word_character(c: char) -> bool {
    let is_mark = || c.general_category_group() == GeneralCategoryGroup::Mark;
    c.is_alphanumeric() || (!c.is_ascii() && is_mark())
}

/// Whether a number after this text is negative: there is a minus directly before it, and no word or
/// number before that, as in `2019-2021`.
fn is_minus(before: &str) -> bool {
    let mut before = before.chars().rev();
    let is_minus = matches!(before.next(), Some('-' | '−'));
    is_minus
        && before.next().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '=' | ':'))
}

/// Whether a sentence ends between a word and the next one.
fn ends_sentence(last: &str, between: &str) -> bool {
    let is_end = |c: char| matches!(c, '!' | '?' | '…' | '。' | '！' | '？' | '\n' | '•');
    if between.contains(is_end) {
        return true;
    }
    let Some((_, after)) = between.split_once('.') else { return false };
    let is_short = last.chars().nth(1).is_none() && !last.bytes().all(|c| c.is_ascii_digit());
    after.contains(char::is_whitespace) && !is_short && !is_title(last)
}

/// Whether a word is written with a point that ends no sentence.
fn is_title(word: &str) -> bool {
    const TITLES: [&str; 10] = ["dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "vs", "no"];
    TITLES.iter().any(|title| word.eq_ignore_ascii_case(title))
}

/// Whether an English word in lower case is too common to be a name where it has a capital.
fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// In alphabetical order.
const COMMON: [&str; 79] = [
    "a", "about", "after", "all", "also", "an", "and", "are", "as", "at", "because", "before",
    "both", "but", "by", "can", "did", "do", "does", "during", "each", "every", "false", "for",
    "from", "has", "have", "he", "her", "here", "his", "how", "however", "i", "if", "in", "is",
    "it", "its", "my", "neither", "no", "nobody", "none", "not", "nothing", "of", "on", "or",
    "our", "she", "since", "so", "some", "that", "the", "their", "then", "there", "these", "they",
    "this", "those", "to", "true", "unknown", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "with", "yes", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let normal = |mention: Mention<'_>| mention.normal;
        mentions(text).into_iter().map(normal).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn common_words_can_be_searched() {
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn numbers_are_mentioned_by_value() {
        for (text, mentions) in [
            ("about 1,234.50 m and 5km", "1234.5 5"),
            ("from 2019-2021", "2019 2021"),
            ("at -5 or (−6.0) degrees", "-5 -6"),
            ("the 1990s and the 21st", "1990 21"),
            ("2024-05-01", "2024 5 1"),
            ("7, 7.0 and 007", "7"),
            ("version 1.2.3", "1 2 3"),
            ("50 % of ٣٤", "50 ٣٤"),
        ] {
            assert_eq!(found(text), mentions, "{text}");
        }
    }

    #[test]
    fn words_with_digits_are_mentioned_as_they_are_written() {
        assert_eq!(found("item Q42, CO2, 3fa85f64 and 1.5e6"), "q42 co2 3fa85f64 1.5e6");
        assert_eq!(found("http://example.org/Q7?x=COVID-19"), "q7 covid 19");
    }

    #[test]
    fn a_capital_that_merely_begins_a_sentence_is_no_name() {
        for (text, mentions) in [
            ("Cities are large. They grow.", ""),
            ("ask Kari. Then go.", "kari"),
            ("Then Kari came. Kari left.", "kari"),
            ("Marie Curie was here.", "marie curie"),
            ("Oslo.", "oslo"),
            ("Oslo, Bergen and Trondheim", "oslo bergen trondheim"),
            ("Oslo, 1050", "oslo 1050"),
            ("NASA and the iPhone", "nasa iphone"),
            ("The Hague", "hague"),
            ("Yes. It does! No?", ""),
            ("They met Dr. Strange in St. Ives.", "strange ives dr st"),
            ("in the U.S. Army", "u s army"),
            ("first line\nSecond line", ""),
            ("he said that I can", ""),
            ("Norway's O'Brien", "o brien"),
            ("THE CAPITAL IS OSLO", "capital oslo"),
        ] {
            let sorted = |text: &str| {
                let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                words.sort();
                words
            };
            assert_eq!(sorted(&found(text)), sorted(mentions), "{text}");
        }
    }

    #[test]
    fn names_of_any_script_with_capitals_are_found() {
        assert_eq!(found("столица — Осло"), "осло");
        assert_eq!(found("η πόλη της Αθήνας"), "αθήνας");
        assert_eq!(found("the town Ange\u{301}lique"), "ange\u{301}lique");
        assert_eq!(found("首都はオスロです"), "", "a script without capitals has no names");
    }

    #[test]
    fn an_answer_repeats_mentions_however_it_writes_them() {
        let recall = |reference, actual| {
            let recall = mention_recall(reference, actual).expect("mentions");
            (recall.score(), recall.missing.join(" "))
        };
        assert_eq!(recall("It is Oslo.", "oslo"), (1.0, String::new()));
        assert_eq!(recall("It is Oslo, 1,000 km away.", "1000"), (0.5, "Oslo".into()));
        assert_eq!(recall("It is 5 km.", "5.0km"), (1.0, String::new()));
        assert_eq!(recall("It is 12.", "It is 12.5 or 120 or 12a1."), (0.0, "12".into()));
    }

    #[test]
    fn what_is_missing_is_told_briefly() {
        let recall = mention_recall("It is Oslo, 7.", "It is 7.").expect("mentions");
        assert_eq!(recall.describe_missing().as_deref(), Some("not mentioned: Oslo"));
        let numbers: Vec<String> = (10..25).map(|n| n.to_string()).collect();
        let recall = mention_recall(&numbers.join(" "), "none").expect("mentions");
        let told = recall.describe_missing().unwrap_or_default();
        assert!(told.ends_with("18, 19 and 5 more"), "{told}");
        let long = format!("It is X{}", "x".repeat(100));
        let recall = mention_recall(&long, "none").expect("mentions");
        assert_eq!(recall.describe_missing().map(|told| told.chars().count()), Some(56));
        assert_eq!(mention_recall("It is 7.", "7").and_then(|own| own.describe_missing()), None);
    }
}
