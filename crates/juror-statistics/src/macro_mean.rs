//! The macro mean: the mean of the templates' means, with two errors for two questions.

use serde::Serialize;

use super::Interval;
use super::distributions::{is_inner_share, t_half_width};
use super::sample::{Sample, ordered_sum};

/// A mean of means, in which every template counts the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MacroMean {
    /// The number of templates.
    pub n_templates: usize,
    /// The mean of their means.
    pub mean: f64,
    /// The standard error if other templates could have been chosen; `None` for one template.
    #[serde(rename = "se_templates_sampled")]
    pub se_sample: Option<f64>,
    /// The standard error if these templates are all there is, and only their questions could have
    /// been others; `None` if a template has one question.
    #[serde(rename = "se_templates_fixed")]
    pub se_fixed: Option<f64>,
}

impl MacroMean {
    /// Returns the t-interval for templates that are a sample; `None` for one template, and if
    /// `confidence` is not between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let se = self.se_sample.filter(|_| is_inner_share(confidence))?;
        let df = (self.n_templates - 1) as f64;
        Interval::around(self.mean, se * t_half_width(confidence, df))
    }
}

/// Returns the mean of templates' means; each template is the list of its values.
///
/// Returns `None` if there are no templates, if one has no values, and for values that are not
/// finite.
///
/// ```
/// use juror_statistics::macro_mean;
///
/// let found = macro_mean(&[vec![1.0, 0.0, 1.0, 0.0], vec![1.0, 1.0]]).unwrap();
/// assert_eq!(found.mean, 0.75);
/// ```
pub fn macro_mean<T: AsRef<[f64]>>(templates: &[T]) -> Option<MacroMean> {
    let mean_of = |values: &T| {
        let sample = Sample::new(values.as_ref())?;
        let squared_error = sample.variance().map(|variance| variance / sample.n() as f64);
        Some(TemplateMean { mean: sample.mean(), squared_error })
    };
    macro_of_means(&templates.iter().map(mean_of).collect::<Option<Vec<_>>>()?)
}

/// The mean of a template's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemplateMean {
    /// The mean.
    pub mean: f64,
    /// The square of its standard error; `None` for one value.
    pub squared_error: Option<f64>,
}

/// Returns the mean of templates' means, however those were computed. Returns `None` where
/// [`macro_mean`] would.
pub fn macro_of_means(templates: &[TemplateMean]) -> Option<MacroMean> {
    let means: Vec<f64> = templates.iter().map(|template| template.mean).collect();
    let of_means = Sample::new(&means)?;
    let (se_sample, se_fixed) = (of_means.standard_error(), fixed_error(templates));
    let is_finite = [se_sample, se_fixed].into_iter().flatten().all(f64::is_finite);
    let mean = of_means.mean();
    is_finite.then_some(MacroMean { n_templates: means.len(), mean, se_sample, se_fixed })
}

fn fixed_error(templates: &[TemplateMean]) -> Option<f64> {
    let squares: Vec<f64> =
        templates.iter().map(|template| template.squared_error).collect::<Option<_>>()?;
    Some(ordered_sum(squares).sqrt() / templates.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_that_are_a_sample_say_less_than_templates_that_are_all() {
        let template = |n_right: usize, n: usize| -> Vec<f64> {
            (0..n).map(|at| f64::from(at < n_right)).collect()
        };
        let templates = [template(8, 10), template(0, 10), template(9, 9), template(0, 10)];
        let found = macro_mean(&templates).expect("a mean");
        assert!((found.mean - 0.45).abs() < 1e-12);
        assert!((found.se_sample.expect("an error") - 0.262_995_564).abs() < 1e-9);
        assert!((found.se_fixed.expect("an error") - 0.033_333_333).abs() < 1e-9);
        let interval = found.interval(0.95).expect("an interval");
        assert!((interval.high - 1.286_969_261).abs() < 1e-9, "{interval:?}");
    }

    #[test]
    fn one_template_and_one_question_leave_errors_out() {
        let one = macro_mean(&[[1.0, 0.0]]).expect("a mean");
        assert_eq!((one.se_sample, one.interval(0.95)), (None, None));
        assert!(one.se_fixed.is_some());
        let single = macro_mean(&[vec![1.0, 0.0], vec![0.5]]).expect("a mean");
        assert!(single.se_sample.is_some() && single.se_fixed.is_none());
        assert_eq!(single.interval(1.5), None);
    }

    #[test]
    fn templates_without_values_have_no_mean() {
        assert_eq!(macro_mean::<Vec<f64>>(&[]), None);
        assert_eq!(macro_mean(&[vec![1.0], vec![]]), None);
        assert_eq!(macro_mean(&[[1.0], [f64::NAN]]), None);
    }
}
