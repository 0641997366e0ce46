//! Partials as bytes: `juror.partial/1`, described in docs/formats.md.
//!
//! A line with the name and version, the content, and its checksum. Everything has one form only, so
//! equal partials are equal bytes: names are sorted, and numbers that were added up are exact.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use juror_score::{Coverage, QUESTION_METRICS};

use crate::exact_sum::{Exact, ExactSum};
use crate::origin::Origin;
use crate::partial::{Cell, Column, Partial, Rules, SeenAt, Steps, Template, TrialRow};
use crate::read_bytes::{Reader, Unreadable};
use crate::series::{MOST_DISTINCT, Range, Series, Values, in_order};
use crate::sketch::{Bucket, Sketch};
use crate::tally::{Alone, Several, Tally};

/// What every partial begins with, before its version.
const NAME: &[u8] = b"juror.partial/";

/// The version of the format.
const VERSION: &[u8] = b"1\n";

/// More shards than anybody makes.
const MOST_SHARDS: u32 = 1_000_000;

/// The length of the checksum.
const CHECKSUM: usize = 16;

/// Adds what stands before and after the content.
fn sealed(content: &[u8]) -> Vec<u8> {
    let checksum = blake3::hash(content);
    [NAME, VERSION, content, &checksum.as_bytes()[..CHECKSUM]].concat()
}

impl Partial {
    /// Returns the bytes, equal for equal partials.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = Writer::default();
        self.write(&mut content);
        sealed(&content.0)
    }

    /// Reads the bytes of a partial. Refuses whatever is not one, is damaged or cut off, or was
    /// written by a release with another format or other metrics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Partial, Unreadable> {
        let rest = bytes.strip_prefix(NAME).ok_or(Unreadable::NotAPartial)?;
        let Some(rest) = rest.strip_prefix(VERSION) else {
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let version = String::from_utf8_lossy(&line[..line.len().min(20)]).into_owned();
            return Err(Unreadable::OtherVersion { version });
        };
        let (content, checksum) =
            rest.split_at_checked(rest.len().saturating_sub(CHECKSUM)).ok_or(Unreadable::CutOff)?;
        if blake3::hash(content).as_bytes()[..CHECKSUM] != *checksum {
            return Err(Unreadable::Damaged);
        }
        let mut reader = Reader::new(content);
        let partial = Partial::read(&mut reader)?;
        if reader.is_at_end() { Ok(partial) } else { Err(Unreadable::Damaged) }
    }

    fn write(&self, out: &mut Writer) {
        out.rules(&self.rules);
        out.all(&self.columns, |out, column| out.text(&column.name));
        out.origin(self.origin.as_ref());
        out.number(self.n_owed.into());
        out.all(&self.templates, |out, (name, template)| {
            out.text(name);
            out.template(template);
        });
        out.all(&self.repeats, |out, counts| {
            out.all(counts, |out, (verdicts, count)| {
                out.all(verdicts, |out, bits| out.bits(*bits));
                out.number(*count);
            });
        });
        out.all(&self.trials, |out, ((template, id), rows)| {
            out.text(template);
            out.text(id);
            let mut rows = rows.clone();
            rows.sort_unstable();
            out.all(&rows, Writer::trial);
        });
    }

    fn read(reader: &mut Reader<'_>) -> Result<Partial, Unreadable> {
        let rules = read_rules(reader)?;
        let columns = read_columns(reader)?;
        let origin = read_origin(reader)?;
        let n_owed = u16::try_from(reader.small()?).map_err(|_| Unreadable::Damaged)?.into();
        let templates =
            reader.map(|reader| Ok((reader.text()?, read_template(reader, columns.len())?)))?;
        let repeats: Vec<BTreeMap<Vec<u64>, u64>> = reader
            .list(|reader| reader.map(|own| Ok((own.list(Reader::finite_bits)?, own.count()?))))?;
        if repeats.len() != columns.len() {
            return Err(Unreadable::Damaged);
        }
        let trials = reader.map(|reader| {
            let question = (reader.text()?, reader.text()?);
            Ok((question, reader.list(|own| read_trial(own, columns.len()))?))
        })?;
        Ok(Partial { rules, columns, n_owed, templates, repeats, trials, origin })
    }
}

/// Appends numbers and texts to bytes.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    /// Seven bits a byte, the lowest first; all bytes but the last have the eighth bit.
    fn wide(&mut self, mut number: u128) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    fn number(&mut self, number: u64) {
        self.wide(number.into());
    }

    /// Small numbers of either sign are short: 0, -1, 1, -2 and so on.
    fn signed(&mut self, number: i32) {
        self.number(u64::from(((number << 1) ^ (number >> 31)).cast_unsigned()));
    }

    fn flag(&mut self, is_set: bool) {
        self.0.push(u8::from(is_set));
    }

    fn bits(&mut self, bits: u64) {
        self.0.extend(bits.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    fn all<I>(&mut self, items: I, write: impl Fn(&mut Writer, I::Item))
    where
        I: IntoIterator<IntoIter: ExactSizeIterator>,
    {
        let items = items.into_iter();
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    fn rules(&mut self, rules: &Rules) {
        self.0.push(rules.profile);
        self.0.extend(rules.hash);
        self.flag(rules.micro_steps);
        self.flag(rules.retrieval_in_steps);
    }

    fn origin(&mut self, origin: Option<&Origin>) {
        self.flag(origin.is_some());
        if let Some(Origin { whole, of, shards }) = origin {
            self.all(whole, |out, (what, hash)| {
                out.text(what);
                out.text(hash);
            });
            self.number((*of).into());
            self.all(shards, |out, shard| out.number((*shard).into()));
        }
    }

    fn template(&mut self, template: &Template) {
        let Template { first, n_answers, n_errors, n_alone, tallies, steps } = template;
        for number in [first.0, first.1, *n_answers, *n_errors, *n_alone] {
            self.number(number);
        }
        let used = tallies.iter().enumerate().filter(|(_, tally)| !tally.is_empty());
        self.all(used.collect::<Vec<_>>(), |out, (column, tally)| {
            out.number(column as u64);
            out.tally(tally);
        });
        for counts in steps.counts() {
            self.all(counts, |out, (name, seen)| {
                out.text(name);
                out.number(seen.count);
                out.number(seen.first.0);
                out.number(seen.first.1);
            });
        }
    }

    fn tally(&mut self, tally: &Tally) {
        let Tally { series, coverage, alone, several } = tally;
        self.number(coverage.n_applicable as u64);
        self.number(coverage.n_scored as u64);
        self.number(alone.n_applicable);
        self.number(alone.n_scored);
        self.number(alone.n_solved);
        self.series(series);
        self.number(several.n);
        if several.n > 0 {
            self.number(several.n_values);
            self.wide(several.n_squared);
            several.sums().into_iter().for_each(|sum| self.sum(sum));
        }
    }

    fn series(&mut self, series: &Series) {
        self.number(series.n);
        let Some(Range { min, max }) = series.range else { return };
        self.flag(series.any_real);
        self.bits(min.to_bits());
        self.bits(max.to_bits());
        self.sum(&series.sum);
        self.sum(&series.squares);
        match &series.values {
            Values::Counted(counts) => {
                self.flag(false);
                let mut counts: Vec<_> = counts.iter().collect();
                counts.sort_unstable_by(|a, b| in_order(*a.0, *b.0));
                self.all(counts, |out, (bits, count)| {
                    out.bits(*bits);
                    out.number(*count);
                });
            }
            Values::Sketched(sketch) => {
                self.flag(true);
                self.all(&sketch.buckets, |out, (bucket, count)| {
                    let (sign, number) = match *bucket {
                        Bucket::Negative(number) => (0, number),
                        Bucket::Zero => (1, 0),
                        Bucket::Positive(number) => (2, number),
                    };
                    out.0.push(sign);
                    out.signed(number);
                    out.number(*count);
                });
            }
        }
    }

    fn sum(&mut self, sum: &ExactSum) {
        let Exact { is_negative, low, digits } = sum.exact();
        self.flag(is_negative);
        self.signed(low);
        self.all(&digits, |out, digit| out.0.extend(digit.to_le_bytes()));
    }

    fn trial(&mut self, row: &TrialRow) {
        self.number(row.trial.into());
        self.all(&row.cells, |out, cell| {
            out.number(cell.column.into());
            out.all(&cell.values, |out, bits| out.bits(*bits));
        });
    }
}

fn read_rules(reader: &mut Reader<'_>) -> Result<Rules, Unreadable> {
    Ok(Rules {
        profile: reader.byte()?,
        hash: reader.array()?,
        micro_steps: reader.flag()?,
        retrieval_in_steps: reader.flag()?,
    })
}

/// The metrics of the table come first, then the user's own.
fn read_columns(reader: &mut Reader<'_>) -> Result<Vec<Column>, Unreadable> {
    let names = reader.list(Reader::text)?;
    let known = QUESTION_METRICS.iter().map(|info| info.name);
    if !names.iter().map(String::as_str).take(QUESTION_METRICS.len()).eq(known) {
        return Err(Unreadable::OtherRelease);
    }
    let infos = QUESTION_METRICS.iter().map(Some).chain(std::iter::repeat(None));
    Ok(names.into_iter().zip(infos).map(|(name, info)| Column { name, info }).collect())
}

fn read_origin(reader: &mut Reader<'_>) -> Result<Option<Origin>, Unreadable> {
    if !reader.flag()? {
        return Ok(None);
    }
    let whole = reader.list(|reader| Ok((reader.text()?, reader.text()?)))?;
    let of = Some(reader.small()?).filter(|of| *of <= MOST_SHARDS).ok_or(Unreadable::Damaged)?;
    let shards = reader.list(Reader::small)?.into_iter().collect();
    Ok(Some(Origin { whole, of, shards }))
}

fn read_template(reader: &mut Reader<'_>, n_columns: usize) -> Result<Template, Unreadable> {
    let mut template = Template::new(n_columns);
    template.first = (reader.number()?, reader.number()?);
    template.n_answers = reader.count()?;
    template.n_errors = reader.count()?;
    template.n_alone = reader.count()?;
    for (column, tally) in reader.list(|reader| Ok((reader.number()?, read_tally(reader)?)))? {
        let at = usize::try_from(column).ok().and_then(|at| template.tallies.get_mut(at));
        *at.ok_or(Unreadable::Damaged)? = tally;
    }
    template.steps = read_steps(reader)?;
    if is_possible(&template) { Ok(template) } else { Err(Unreadable::Damaged) }
}

/// Whether counts are no larger than what they are parts of: whoever subtracts may rely on it.
fn is_possible(template: &Template) -> bool {
    let Template { n_answers, n_errors, n_alone, tallies, .. } = template;
    let of_tally = |Tally { series, coverage, alone, several }: &Tally| {
        let (n_applicable, n_scored) = (coverage.n_applicable as u64, coverage.n_scored as u64);
        let several_of_alone = several.n <= alone.n_scored && several.n_values <= series.n;
        n_scored <= n_applicable
            && n_applicable <= *n_answers
            && n_scored <= series.n
            && alone.n_applicable <= n_applicable
            && alone.n_scored <= n_scored.min(alone.n_applicable)
            && alone.n_solved <= alone.n_scored
            && several_of_alone
    };
    n_errors <= n_answers && n_alone <= n_answers && tallies.iter().all(of_tally)
}

fn read_steps(reader: &mut Reader<'_>) -> Result<Steps, Unreadable> {
    let mut steps = Steps::default();
    for counts in steps.counts_mut() {
        *counts = reader.map(|reader| {
            let (name, count) = (reader.text()?, reader.count()?);
            Ok((name, SeenAt { count, first: (reader.number()?, reader.number()?) }))
        })?;
    }
    Ok(steps)
}

fn read_tally(reader: &mut Reader<'_>) -> Result<Tally, Unreadable> {
    let n_applicable = reader.size()?;
    let coverage = Coverage { n_applicable, n_scored: reader.size()? };
    let alone = Alone {
        n_applicable: reader.count()?,
        n_scored: reader.count()?,
        n_solved: reader.count()?,
    };
    let series = read_series(reader)?;
    let mut several = Several { n: reader.count()?, ..Several::default() };
    if several.n > 0 {
        several.n_values = reader.count()?;
        several.n_squared = reader.wide()?;
        for sum in several.sums_mut() {
            *sum = read_sum(reader)?;
        }
    }
    Ok(Tally { series, coverage, alone, several })
}

fn read_series(reader: &mut Reader<'_>) -> Result<Series, Unreadable> {
    let n = reader.count()?;
    if n == 0 {
        return Ok(Series::default());
    }
    let any_real = reader.flag()?;
    let range = Range { min: reader.finite()?, max: reader.finite()? };
    let (sum, squares) = (read_sum(reader)?, read_sum(reader)?);
    let (values, n_told) = if reader.flag()? {
        let buckets = reader.map(|reader| {
            let (sign, number) = (reader.byte()?, reader.signed()?);
            let bucket = match sign {
                0 => Bucket::Negative(number),
                1 => Bucket::Zero,
                2 => Bucket::Positive(number),
                _ => return Err(Unreadable::Damaged),
            };
            Ok((bucket, reader.count()?))
        })?;
        let n_told = total(buckets.values());
        (Values::Sketched(Sketch { buckets }), n_told)
    } else {
        let counts = reader.list(|reader| Ok((reader.finite_bits()?, reader.count()?)))?;
        let counts: HashMap<u64, u64> = counts.into_iter().collect();
        let n_told = total(counts.values()).filter(|_| counts.len() <= MOST_DISTINCT);
        (Values::Counted(counts), n_told)
    };
    if n_told != Some(n) || range.min.total_cmp(&range.max).is_gt() {
        return Err(Unreadable::Damaged);
    }
    Ok(Series { n, any_real, range: Some(range), sum, squares, values })
}

fn total<'c>(counts: impl Iterator<Item = &'c u64>) -> Option<u64> {
    counts.copied().try_fold(0, u64::checked_add)
}

fn read_sum(reader: &mut Reader<'_>) -> Result<ExactSum, Unreadable> {
    let (is_negative, low) = (reader.flag()?, reader.signed()?);
    let digits = reader.list(|reader| Ok(u32::from_le_bytes(reader.array()?)))?;
    let exact = Exact { is_negative, low, digits };
    // Sums of finite numbers, of their squares, and of squares of such sums have digits in this range.
    let is_in_range = exact.low.abs() <= 256 && exact.digits.len() <= 512;
    if !is_in_range || !exact.is_canonical() {
        return Err(Unreadable::Damaged);
    }
    let mut sum = ExactSum::default();
    sum.add_exact(&exact);
    Ok(sum)
}

fn read_trial(reader: &mut Reader<'_>, n_columns: usize) -> Result<TrialRow, Unreadable> {
    let trial = reader.small()?;
    let cells = reader.list(|reader| {
        let column = reader.small()?;
        if column as usize >= n_columns {
            return Err(Unreadable::Damaged);
        }
        Ok(Cell { column, values: reader.list(Reader::finite_bits)? })
    })?;
    Ok(TrialRow { trial, cells })
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{Aggregator, Number, Observation, ObservedStep, Profile};
    use proptest::prelude::*;

    /// A partial that has something of everything.
    fn partial() -> Partial {
        let mut aggregator = Aggregator::new(&Profile::V6, &["taste".to_owned()]);
        let number = |value| Number::real(value).expect("finite");
        for at in 0..30_u32 {
            let recall = |value| vec![("retrieval_context_recall", number(value))];
            let step = |name, value| ObservedStep {
                name,
                is_error: at % 3 == 0,
                is_empty: at % 2 == 0,
                values: recall(value),
            };
            aggregator.observe(&Observation {
                id: &(at / 3).to_string(),
                template: if at % 2 == 0 { "even" } else { "odd" },
                trial: (at > 9).then_some(at),
                is_error: at % 5 == 0,
                values: vec![("steps_score", number(f64::from(at % 2))), ("taste", number(-0.1))],
                repeats: vec![("answer_relevance", vec![0.5, 1.0])],
                steps: vec![step("retrieval", 0.25), step("retrieval", 1.0), step("look", 0.0)],
                ..Observation::default()
            });
        }
        let whole = vec![("the reference".to_owned(), "abc".to_owned())];
        Partial::of(&aggregator).from_shard(Origin::new(whole, 2, 3))
    }

    proptest! {
        /// Whoever computes a checksum can write anything.
        #[test]
        fn content_that_was_made_up_is_refused_or_harmless(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut out = Writer::default();
            partial().write(&mut out);
            let mut content = out.0;
            for (at, byte) in changes {
                let at = at.index(content.len());
                content[at] = byte;
            }
            if let Ok(partial) = Partial::from_bytes(&sealed(&content)) {
                let n_verdicts: u64 =
                    partial.repeats.iter().flat_map(BTreeMap::values).sum();
                // So many verdicts would be a file of gigabytes.
                if n_verdicts < 1_000_000 && partial.n_answers() < 1_000_000 {
                    partial.finish(0.95);
                }
                let again = Partial::from_bytes(&partial.to_bytes()).expect("its own bytes");
                prop_assert_eq!(again.to_bytes(), partial.to_bytes());
            }
        }
    }
}
