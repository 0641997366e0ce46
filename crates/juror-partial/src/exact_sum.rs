//! Sums without rounding.
//!
//! A sum is a whole number of tiny units, written in digits of 32 bits. It is exact like an expansion
//! of floating-point numbers, but has one form only: the same numbers give the same digits in
//! whatever order and from whatever parts they are added. That is what makes partials equal to the
//! byte.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers are taken apart into digits, of which the lowest is wanted"
)]

/// How many additions the digits can take before carries have to be moved on.
const MOST_PENDING: u32 = 1 << 30;

/// The bits of a digit.
const BITS: i32 = 32;

/// A sum that grows, exact for any finite numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactSum {
    /// The place of the first digit: it counts units of 2^(32 · low).
    low: i32,
    /// Digits that may have carries left in them.
    digits: Vec<i64>,
    n_pending: u32,
}

/// A number of any size, exact: the digits of a sum without carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) is_negative: bool,
    /// The place of the first digit.
    pub(crate) low: i32,
    /// From the lowest on, without zeros at either end.
    pub(crate) digits: Vec<u32>,
}

impl ExactSum {
    /// Adds a number, which must be finite.
    pub(crate) fn add(&mut self, value: f64) {
        self.add_times(value, 1);
    }

    /// Adds a number several times.
    pub(crate) fn add_times(&mut self, value: f64, count: u64) {
        let (is_negative, mantissa, exponent) = parts_of(value);
        self.add_shifted(is_negative, u128::from(mantissa) * u128::from(count), exponent);
    }

    /// Adds the square of a number.
    pub(crate) fn add_square(&mut self, value: f64) {
        let (_, mantissa, exponent) = parts_of(value);
        let mantissa = u128::from(mantissa);
        self.add_shifted(false, mantissa * mantissa, 2 * exponent);
    }

    /// Adds another sum.
    pub(crate) fn add_exact(&mut self, other: &Exact) {
        for (place, digit) in (other.low..).zip(&other.digits) {
            let digit = i64::from(*digit);
            self.add_digit(place, if other.is_negative { -digit } else { digit });
        }
        self.count_addition();
    }

    /// Subtracts another sum.
    pub(crate) fn subtract(&mut self, other: &Exact) {
        self.add_exact(&Exact { is_negative: !other.is_negative, ..other.clone() });
    }

    fn add_shifted(&mut self, is_negative: bool, mantissa: u128, exponent: i32) {
        if mantissa == 0 {
            return;
        }
        let (mut place, shift) = (exponent.div_euclid(BITS), exponent.rem_euclid(BITS));
        // The highest bits would fall off where both the number and the shift are large.
        let mut rest = mantissa << shift;
        let mut lost = if shift == 0 { 0 } else { mantissa >> (128 - shift) };
        while rest != 0 || lost != 0 {
            let digit = (rest & u128::from(u32::MAX)) as i64;
            self.add_digit(place, if is_negative { -digit } else { digit });
            rest = (rest >> BITS) | (lost << (128 - BITS));
            lost >>= BITS;
            place += 1;
        }
        self.count_addition();
    }

    fn add_digit(&mut self, place: i32, digit: i64) {
        if digit == 0 {
            return;
        }
        if self.digits.is_empty() {
            self.low = place;
        }
        if place < self.low {
            let n_more = (self.low - place).unsigned_abs() as usize;
            self.digits.splice(0..0, std::iter::repeat_n(0, n_more));
            self.low = place;
        }
        let at = (place - self.low).unsigned_abs() as usize;
        if at >= self.digits.len() {
            self.digits.resize(at + 1, 0);
        }
        self.digits[at] += digit;
    }

    fn count_addition(&mut self) {
        self.n_pending += 1;
        if self.n_pending >= MOST_PENDING {
            let settled = self.exact();
            *self = ExactSum::default();
            self.add_exact(&settled);
        }
    }

    /// Returns the sum in its only form.
    pub(crate) fn exact(&self) -> Exact {
        match carried(&self.digits) {
            Ok(digits) => Exact::new(false, self.low, digits),
            Err(()) => {
                let negated: Vec<i64> = self.digits.iter().map(|digit| -digit).collect();
                Exact::new(true, self.low, carried(&negated).unwrap_or_default())
            }
        }
    }

    /// Returns the double that is nearest to the sum.
    pub(crate) fn rounded(&self) -> f64 {
        self.exact().rounded()
    }
}

/// Moves carries on; fails if the number is negative.
fn carried(digits: &[i64]) -> Result<Vec<u32>, ()> {
    let mut carry = 0_i64;
    let mut settled = Vec::with_capacity(digits.len() + 2);
    for digit in digits {
        let sum = digit + carry;
        settled.push((sum & i64::from(u32::MAX)) as u32);
        carry = sum >> BITS;
    }
    while carry > 0 {
        settled.push((carry & i64::from(u32::MAX)) as u32);
        carry >>= BITS;
    }
    if carry < 0 { Err(()) } else { Ok(settled) }
}

impl Exact {
    fn new(is_negative: bool, low: i32, mut digits: Vec<u32>) -> Exact {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let n_zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..n_zeros);
        if digits.is_empty() {
            return Exact::default();
        }
        Exact { is_negative, low: low + i32::try_from(n_zeros).unwrap_or(0), digits }
    }

    /// A whole number.
    pub(crate) fn whole(n: u128) -> Exact {
        let digits = (0..4).map(|at| (n >> (32 * at)) as u32).collect();
        Exact::new(false, 0, digits)
    }

    /// Whether this is written in its only form: no zeros at either end, and nothing for zero.
    pub(crate) fn is_canonical(&self) -> bool {
        match (self.digits.first(), self.digits.last()) {
            (Some(first), Some(last)) => *first != 0 && *last != 0,
            _ => *self == Exact::default(),
        }
    }

    /// Returns the product with another number.
    pub(crate) fn times(&self, other: &Exact) -> Exact {
        let mut digits = vec![0_u32; self.digits.len() + other.digits.len()];
        for (at, mine) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (further, theirs) in other.digits.iter().enumerate() {
                let slot = &mut digits[at + further];
                let sum = u64::from(*mine) * u64::from(*theirs) + u64::from(*slot) + carry;
                *slot = sum as u32;
                carry = sum >> BITS;
            }
            digits[at + other.digits.len()] = carry as u32;
        }
        Exact::new(self.is_negative != other.is_negative, self.low + other.low, digits)
    }

    /// Returns the difference to another number.
    pub(crate) fn minus(&self, other: &Exact) -> Exact {
        let mut sum = ExactSum::default();
        sum.add_exact(self);
        sum.subtract(other);
        sum.exact()
    }

    /// Returns the nearest double: of two that are equally near, the one with the even last bit.
    pub(crate) fn rounded(&self) -> f64 {
        let n = self.digits.len();
        let (below, top) = self.digits.split_at(n.saturating_sub(4));
        let mut bits = 0_u128;
        for digit in top.iter().rev() {
            bits = (bits << BITS) | u128::from(*digit);
        }
        // Whatever is below these 97 bits or more only decides whether they are a tie.
        bits |= u128::from(below.iter().any(|digit| *digit != 0));
        let place = self.low + i32::try_from(below.len()).unwrap_or(i32::MAX);
        let size = scaled(bits as f64, place.saturating_mul(BITS));
        if self.is_negative { -size } else { size }
    }
}

/// Returns `size · 2^exponent`, in steps that are exact as long as the result is no subnormal number.
fn scaled(mut size: f64, mut exponent: i32) -> f64 {
    const STEP: i32 = 512;
    let (up, down) = (2_f64.powi(STEP), 2_f64.powi(-STEP));
    while exponent > STEP && size.is_finite() && size > 0.0 {
        size *= up;
        exponent -= STEP;
    }
    while exponent < -STEP && size > 0.0 {
        size *= down;
        exponent += STEP;
    }
    size * 2_f64.powi(exponent.clamp(-STEP, STEP))
}

/// Returns the sign, the digits and the exponent of a double: `mantissa · 2^exponent`.
fn parts_of(value: f64) -> (bool, u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let mantissa = if exponent == 0 { fraction } else { fraction | (1 << 52) };
    (value.is_sign_negative(), mantissa, exponent.max(1) - 1075)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        for value in values {
            sum.add(*value);
        }
        sum
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("finite", |value| value.is_finite())
    }

    #[test]
    fn a_sum_is_rounded_once() {
        for (values, sum) in [
            (&[][..], 0.0),
            (&[0.1, 0.2, 0.3], 0.6),
            (&[1e16, 1.0, -1e16], 1.0),
            (&[1e308, 1e308, -1e308], 1e308),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[5e-324, 5e-324], 1e-323),
            (&[1.0, 1e-30, -1.0], 1e-30),
            (&[-0.5, -0.25], -0.75),
            (&[9_007_199_254_740_992.0, 1.0], 9_007_199_254_740_992.0),
            (&[9_007_199_254_740_992.0, 1.0, 1e-300], 9_007_199_254_740_994.0),
        ] {
            assert_eq!(sum_of(values).rounded(), sum, "{values:?}");
        }
    }

    #[test]
    fn squares_and_products_are_exact() {
        let mut squares = ExactSum::default();
        squares.add_square(3.0);
        squares.add_square(-1e-200);
        squares.subtract(&Exact::whole(9));
        assert!(squares.exact().digits.len() > 1, "the small one survives");
        let third = sum_of(&[0.5, 0.25]).exact();
        assert_eq!(third.times(&third).rounded(), 0.5625);
        assert_eq!(third.times(&Exact::whole(4)).minus(&Exact::whole(3)), Exact::default());
    }

    proptest! {
        #[test]
        fn order_and_parts_leave_no_trace(mut values in prop::collection::vec(finite(), 0..40), at in 0..40_usize) {
            let whole = sum_of(&values).exact();
            let (one, other) = values.split_at(at.min(values.len()));
            let (one, other) = (sum_of(one).exact(), sum_of(other).exact());
            let mut merged = ExactSum::default();
            merged.add_exact(&other);
            merged.add_exact(&one);
            prop_assert_eq!(&merged.exact(), &whole);
            values.sort_by(f64::total_cmp);
            prop_assert_eq!(sum_of(&values).exact(), whole);
        }

        #[test]
        fn one_number_is_its_own_sum(value in finite(), count in 1..5_u8) {
            prop_assert_eq!(sum_of(&[value]).rounded(), value);
            let mut times = ExactSum::default();
            times.add_times(value, count.into());
            prop_assert_eq!(times.exact(), sum_of(&vec![value; count.into()]).exact());
        }

        #[test]
        fn a_product_is_that_of_whole_numbers(a in any::<u64>(), b in any::<u64>()) {
            let product = Exact::whole(a.into()).times(&Exact::whole(b.into()));
            prop_assert_eq!(product, Exact::whole(u128::from(a) * u128::from(b)));
        }
    }
}
