//! Sums in which small terms survive.

/// Computes Neumaier's compensated sum, in which small terms survive beside large ones.
pub fn compensated_sum(values: &[f64]) -> f64 {
    let mut sum = 0.0_f64;
    let mut lost = 0.0_f64;
    for &value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    if lost.is_finite() { sum + lost } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_beside_large_ones() {
        assert!((compensated_sum(&[1e16, 1.0, -1e16]) - 1.0).abs() < f64::EPSILON);
    }
}
