//! Random numbers that anyone can draw again.

/// Steele, Lea and Flood's generator: the same seed gives the same numbers everywhere.
///
/// ```
/// use juror_statistics::SplitMix64;
///
/// let mut ids = ["a", "b", "c", "d"];
/// SplitMix64::new(1).shuffle(&mut ids);
/// assert_eq!(ids, ["a", "b", "d", "c"]);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts at a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Returns the next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`: the upper half of the 128-bit product of the next number and
    /// `end`.
    pub fn below(&mut self, end: usize) -> usize {
        let product = u128::from(self.next_number()) * end as u128;
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// Puts items into a random order (Fisher and Yates): from the last place to the second, the item
    /// there changes places with one that is not behind it.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_documented_one() {
        let mut generator = SplitMix64::new(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| generator.next_number()).collect();
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, published);
    }

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        let mut generator = SplitMix64::new(7);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [1, 2, 3];
            generator.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (880..1120).contains(count)), "{counts:?}");
    }

    #[test]
    fn nothing_is_below_nothing_but_0() {
        assert_eq!(SplitMix64::new(3).below(0), 0);
        SplitMix64::new(3).shuffle::<u8>(&mut []);
    }
}
