//! A judge that was asked several times: its own noise, apart from how questions differ.

use serde::Serialize;

use super::sample::{Sample, ordered_sum};

/// What repeated verdicts say about a judge and its questions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgeNoise {
    /// The number of questions.
    pub n: usize,
    /// The number of verdicts on each question.
    pub repeats: usize,
    /// The mean verdict.
    pub mean: f64,
    /// The variance of verdicts on one question; `None` for one verdict.
    pub judge_variance: Option<f64>,
    /// The variance of questions without the judge's noise, at least 0; `None` for one question or
    /// one verdict.
    pub question_variance: Option<f64>,
    /// The share of the variance that is the questions' (intraclass correlation), below 0 if the
    /// judge contradicts itself more than questions differ; `None` if nothing varies.
    pub icc: Option<f64>,
    /// The standard error of the mean over questions; `None` for one question.
    pub se: Option<f64>,
    /// The share of questions whose verdicts are not unanimous.
    pub flip_rate: f64,
}

impl JudgeNoise {
    /// Returns the standard error to expect from other questions of this kind, with so many verdicts
    /// on each. Returns `None` if a variance is missing, or for no verdicts.
    pub fn predicted_se(&self, repeats: u32) -> Option<f64> {
        let of_judge = self.judge_variance.filter(|_| repeats > 0)? / f64::from(repeats);
        Some(((self.question_variance? + of_judge) / self.n as f64).sqrt())
    }
}

/// Splits the noise of a judge from the spread of questions; each question is the list of its
/// verdicts.
///
/// Returns `None` if there are no verdicts, if questions have different numbers of them, and for
/// verdicts that are not finite.
///
/// ```
/// use juror_statistics::judge_noise;
///
/// let noise = judge_noise(&[[1.0, 1.0], [0.0, 0.5], [1.0, 0.0]]).unwrap();
/// assert_eq!(noise.flip_rate, 2.0 / 3.0);
/// ```
pub fn judge_noise<T: AsRef<[f64]>>(verdicts: &[T]) -> Option<JudgeNoise> {
    let samples = verdicts.iter().map(|verdicts| Sample::new(verdicts.as_ref()));
    let samples: Vec<Sample<'_>> = samples.collect::<Option<_>>()?;
    let (n, repeats) = (samples.len(), samples.first()?.n());
    if samples.iter().any(|sample| sample.n() != repeats) {
        return None;
    }
    let means: Vec<f64> = samples.iter().map(Sample::mean).collect();
    let of_means = Sample::new(&means)?;
    let within = within(&samples);
    let between = of_means.variance().map(|variance| variance * repeats as f64);
    let is_finite = [within, between].into_iter().flatten().all(f64::is_finite);
    let n_flips = samples.iter().filter(|sample| !sample.is_constant()).count();
    is_finite.then_some(JudgeNoise {
        n,
        repeats,
        mean: of_means.mean(),
        judge_variance: within,
        question_variance: question_variance(between, within, repeats),
        icc: intraclass(between, within, repeats),
        se: of_means.standard_error(),
        flip_rate: n_flips as f64 / n as f64,
    })
}

/// Returns the mean square of verdicts around their question's mean.
fn within(samples: &[Sample<'_>]) -> Option<f64> {
    let variances = samples.iter().map(Sample::variance).collect::<Option<Vec<f64>>>()?;
    Some(ordered_sum(variances) / samples.len() as f64)
}

fn question_variance(between: Option<f64>, within: Option<f64>, repeats: usize) -> Option<f64> {
    Some(((between? - within?) / repeats as f64).max(0.0))
}

fn intraclass(between: Option<f64>, within: Option<f64>, repeats: usize) -> Option<f64> {
    let (between, within) = (between?, within?);
    let total = between + (repeats - 1) as f64 * within;
    (total > 0.0).then(|| (between - within) / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERDICTS: [[f64; 4]; 6] = [
        [1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.5, 0.0],
        [1.0, 0.5, 1.0, 1.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.5, 0.5, 1.0, 0.5],
        [1.0, 1.0, 1.0, 1.0],
    ];

    fn near(got: Option<f64>, wanted: f64) {
        let got = got.expect("a number");
        assert!((got - wanted).abs() < 1e-9, "got {got}, wanted {wanted}");
    }

    #[test]
    fn noise_and_spread_are_as_published() {
        let noise = judge_noise(&VERDICTS).expect("a result");
        near(Some(noise.mean), 0.645_833_333);
        near(noise.judge_variance, 0.072_916_667);
        near(noise.question_variance, 0.128_125);
        near(noise.icc, 0.637_305_699);
        near(noise.se, 0.156_180_540);
        near(noise.predicted_se(1), 0.183_049_022);
        near(noise.predicted_se(4), 0.156_180_540);
        near(Some(noise.flip_rate), 4.0 / 6.0);
    }

    #[test]
    fn a_judge_that_never_differs_is_all_questions() {
        let noise = judge_noise(&[[1.0; 3], [0.0; 3]]).expect("a result");
        assert_eq!((noise.judge_variance, noise.icc, noise.flip_rate), (Some(0.0), Some(1.0), 0.0));
        let alike = judge_noise(&[[0.0; 2], [0.0; 2]]).expect("a result");
        assert_eq!((alike.icc, alike.question_variance, alike.se), (None, Some(0.0), Some(0.0)));
    }

    #[test]
    fn one_verdict_or_one_question_leaves_parts_out() {
        let once = judge_noise(&[[1.0], [0.0]]).expect("a result");
        assert_eq!((once.judge_variance, once.icc, once.flip_rate), (None, None, 0.0));
        assert!(once.se.is_some() && once.predicted_se(2).is_none());
        let alone = judge_noise(&[[1.0, 0.0]]).expect("a result");
        assert_eq!((alone.judge_variance, alone.se, alone.icc), (Some(0.5), None, None));
        assert_eq!(judge_noise(&VERDICTS).and_then(|noise| noise.predicted_se(0)), None);
    }

    #[test]
    fn uneven_verdicts_are_none() {
        assert_eq!(judge_noise(&[vec![1.0, 0.0], vec![1.0]]), None);
        assert_eq!(judge_noise::<Vec<f64>>(&[]), None);
        assert_eq!(judge_noise(&[Vec::new()]), None);
        assert_eq!(judge_noise(&[[f64::NAN, 1.0]]), None);
    }
}
