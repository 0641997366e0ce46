//! How often intervals hold the truth, on data made with a known one.
//!
//! Templates differ in how hard they are: the share of right answers in a template is drawn from a
//! beta distribution, whose spread is the intra-class correlation of its questions. Two runs share
//! most of their answers, as a small change to a system leaves most of them alone.

use juror_compare::Estimate;
use juror_score::statistics::{CONFIDENCE, Interval, paired};
use juror_testing::Random;

const N_DATA_SETS: usize = 2000;
const N_TEMPLATES: [usize; 6] = [8, 12, 20, 30, 40, 60];
const CORRELATIONS: [f64; 4] = [0.0, 0.1, 0.3, 0.5];
/// The true mean of the first run, and of what the second run answers anew.
const MEAN: f64 = 0.6;
const NEW_MEAN: f64 = 0.5;
/// The share of questions that the second run answers anew.
const ANEW: f64 = 0.3;
/// How much fractions spread around the share of their template: the sum of the parameters of
/// their beta distribution.
const CONCENTRATION: f64 = 4.0;

/// The kind of scores.
#[derive(Clone, Copy)]
enum Scores {
    Binary,
    Fraction,
}

/// Prints a row for each kind of data: the share of data sets whose interval of the mean, and of the
/// difference of two runs, holds the truth.
pub(crate) fn run(n_data_sets: Option<usize>) {
    let n_data_sets = n_data_sets.unwrap_or(N_DATA_SETS);
    println!("scores\ttemplates\tcorrelation\tmean\tdifference");
    for (name, scores) in [("binary", Scores::Binary), ("fraction", Scores::Fraction)] {
        for n_templates in N_TEMPLATES {
            for correlation in CORRELATIONS {
                let mut random = Random::new(n_templates as u64 ^ correlation.to_bits());
                let design = Design { scores, n_templates, correlation };
                let [mean, difference] = design.coverage(n_data_sets, &mut random);
                println!("{name}\t{n_templates}\t{correlation}\t{mean:.3}\t{difference:.3}");
            }
        }
    }
}

/// What data sets look like.
struct Design {
    scores: Scores,
    n_templates: usize,
    correlation: f64,
}

/// Two runs over the same questions.
#[derive(Default)]
struct DataSet {
    a: Vec<f64>,
    b: Vec<f64>,
    templates: Vec<u32>,
}

impl Design {
    fn coverage(&self, n_data_sets: usize, random: &mut Random) -> [f64; 2] {
        let mut n_held = [0_usize; 2];
        for _ in 0..n_data_sets {
            let DataSet { a, b, templates } = self.data_set(random);
            let mean = Estimate::of(&a, &templates, CONFIDENCE).and_then(|own| own.interval);
            let difference = paired(&a, &b, Some(&templates), CONFIDENCE);
            let difference = difference.and_then(|own| own.interval);
            n_held[0] += usize::from(holds(mean, MEAN));
            n_held[1] += usize::from(holds(difference, ANEW * (NEW_MEAN - MEAN)));
        }
        n_held.map(|n| n as f64 / n_data_sets as f64)
    }

    /// Templates of 5 to 15 questions, whatever their difficulty.
    fn data_set(&self, random: &mut Random) -> DataSet {
        let mut data = DataSet::default();
        for template in 0..self.n_templates {
            let [old, new] = [MEAN, NEW_MEAN].map(|mean| self.share(mean, random));
            for _ in 0..5 + random.below(11) {
                let score = self.score(old, random);
                let is_anew = uniform(random) < ANEW;
                data.a.push(score);
                data.b.push(if is_anew { self.score(new, random) } else { score });
                data.templates.push(u32::try_from(template).unwrap_or(u32::MAX));
            }
        }
        data
    }

    /// The share of right answers in a template.
    fn share(&self, mean: f64, random: &mut Random) -> f64 {
        if self.correlation == 0.0 {
            return mean;
        }
        beta(mean, 1.0 / self.correlation - 1.0, random)
    }

    fn score(&self, share: f64, random: &mut Random) -> f64 {
        match self.scores {
            Scores::Binary => f64::from(u8::from(uniform(random) < share)),
            Scores::Fraction => beta(share, CONCENTRATION, random),
        }
    }
}

fn holds(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

/// A number from 0 to 1, without its ends.
fn uniform(random: &mut Random) -> f64 {
    ((random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A draw from the beta distribution with this mean and sum of parameters.
fn beta(mean: f64, sum: f64, random: &mut Random) -> f64 {
    let (one, other) = (gamma(mean * sum, random), gamma((1.0 - mean) * sum, random));
    if one + other > 0.0 {
        one / (one + other)
    } else {
        f64::from(u8::from(uniform(random) < mean))
    }
}

/// A draw from the gamma distribution, by rejection from a transformed normal one (Marsaglia and
/// Tsang); shapes below 1 are raised by one and scaled back.
fn gamma(shape: f64, random: &mut Random) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, random) * uniform(random).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = normal(random);
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && uniform(random).ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A draw from the normal distribution (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}
