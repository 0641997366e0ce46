//! Items grouped by the step they are about.

/// Items grouped by step, for looking up the items of many steps quickly.
pub struct ByStep<'r, T>(Vec<(usize, &'r T)>);

impl<'r, T> ByStep<'r, T> {
    /// Groups items by step, leaving out those that are not about a step.
    pub fn new(
        all: impl IntoIterator<Item = &'r T>,
        step: impl Fn(&T) -> Option<usize>,
    ) -> ByStep<'r, T> {
        let all = all.into_iter();
        let mut of_steps: Vec<_> = all.filter_map(|one| Some((step(one)?, one))).collect();
        of_steps.sort_by_key(|(step, _)| *step);
        ByStep(of_steps)
    }

    /// Returns the items of a step in their original order.
    pub fn of(&self, step: usize) -> impl Iterator<Item = &'r T> {
        let start = self.0.partition_point(|(other, _)| *other < step);
        self.0[start..].iter().take_while(move |(other, _)| *other == step).map(|(_, one)| *one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_step_keeps_its_order() {
        let all = [(Some(2), 'a'), (Some(0), 'b'), (None, 'c'), (Some(2), 'd')];
        let by_step = ByStep::new(&all, |(step, _)| *step);
        let of = |step| by_step.of(step).map(|(_, letter)| *letter).collect::<String>();
        assert_eq!([of(0), of(1), of(2), of(3)], ["b", "", "ad", ""]);
    }
}
