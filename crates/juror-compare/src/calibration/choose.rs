//! Which answers people should label.

use hashbrown::{HashMap, HashSet};
use juror_score::statistics::SplitMix64;

use super::{Sample, Side};

/// An answer with a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its question, as a number: several answers to a question have the same.
    pub question: usize,
    /// The judge's score.
    pub score: f64,
    /// How far the judge's verdicts on it are apart, if it was asked several times; else 0.
    pub spread: f64,
}

/// How many answers to choose, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// How many answers.
    pub n: usize,
    /// The share of them, from 0 to 1, that is drawn at random.
    pub random_share: f64,
    /// The seed: the same seed and candidates give the same choice.
    pub seed: u64,
}

/// Chooses answers for people to label; returns their positions in a random order.
///
/// A share of them is random: each answer is as likely as any other, so that what people say about
/// them holds for the whole run. The others are those that need people most: whose question has
/// verdicts or answers with different scores, then those whose score is nearest to the middle, one for
/// each question. If there are fewer of these than asked for, more are drawn at random; and those that
/// were drawn are not chosen again, so there may be a few less than asked for. If all answers are
/// asked for, all of them are the random share.
///
/// Random numbers are those of [`SplitMix64`]. All candidates are shuffled; the first are the random
/// share. The chosen answers are shuffled once more.
pub fn choose_answers(candidates: &[Candidate], choice: Choice) -> Vec<(usize, Sample)> {
    let doubtful = most_doubtful(candidates);
    let n = choice.n.min(candidates.len());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of n")]
    let n_random = (n as f64 * choice.random_share.clamp(0.0, 1.0)).round() as usize;
    // This must not depend on what is drawn, or the share would no longer be a random one.
    let n_random =
        if n == candidates.len() { n } else { n_random.max(n.saturating_sub(doubtful.len())) };
    let mut generator = SplitMix64::new(choice.seed);
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    generator.shuffle(&mut order);
    order.truncate(n_random);
    let drawn: HashSet<usize> = order.iter().copied().collect();
    let is_left = |at: &usize| !drawn.contains(at);
    let others: Vec<usize> = doubtful.into_iter().filter(is_left).take(n - n_random).collect();
    let mut chosen: Vec<(usize, Sample)> = order.iter().map(|at| (*at, Sample::Random)).collect();
    chosen.extend(others.into_iter().map(|at| (at, Sample::Disagreement)));
    generator.shuffle(&mut chosen);
    chosen
}

/// Returns one answer for each question that is in doubt, the greatest doubts first: verdicts or answers
/// with different scores, then scores near the middle. If all are 0, or all are 1, there is no doubt.
fn most_doubtful(candidates: &[Candidate]) -> Vec<usize> {
    let mut questions: HashMap<usize, Question> = HashMap::new();
    for (at, own) in candidates.iter().enumerate() {
        let distance = (own.score - Side::MIDDLE).abs();
        questions
            .entry(own.question)
            .or_insert(Question { at, distance, least: own.score, most: own.score, spread: 0.0 })
            .add(at, own, distance);
    }
    let mut doubtful: Vec<Question> =
        questions.into_values().filter(Question::is_in_doubt).collect();
    doubtful.sort_by(|a, b| {
        let by_spread = b.spread().total_cmp(&a.spread());
        by_spread.then(a.distance.total_cmp(&b.distance)).then(a.at.cmp(&b.at))
    });
    doubtful.into_iter().map(|question| question.at).collect()
}

/// The answers to a question: the one nearest to the middle, and how far the scores differ.
struct Question {
    at: usize,
    distance: f64,
    least: f64,
    most: f64,
    /// How far the verdicts on one of them are apart.
    spread: f64,
}

impl Question {
    fn add(&mut self, at: usize, own: &Candidate, distance: f64) {
        if distance < self.distance {
            (self.at, self.distance) = (at, distance);
        }
        self.least = self.least.min(own.score);
        self.most = self.most.max(own.score);
        self.spread = self.spread.max(own.spread);
    }

    fn spread(&self) -> f64 {
        self.spread.max(self.most - self.least)
    }

    fn is_in_doubt(&self) -> bool {
        self.spread() > 0.0 || self.distance < Side::MIDDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(question: usize, score: f64) -> Candidate {
        Candidate { question, score, spread: 0.0 }
    }

    fn single(scores: &[f64]) -> Vec<Candidate> {
        let own = |(question, score): (usize, &f64)| candidate(question, *score);
        scores.iter().enumerate().map(own).collect()
    }

    fn of_sample(chosen: &[(usize, Sample)], sample: Sample) -> Vec<usize> {
        let mut own: Vec<usize> =
            chosen.iter().filter(|(_, own)| *own == sample).map(|(at, _)| *at).collect();
        own.sort_unstable();
        own
    }

    #[test]
    fn disagreements_are_answers_that_differ_then_scores_near_the_middle() {
        let scores = [(0, 1.0), (0, 0.0), (1, 0.9), (2, 0.45), (3, 1.0), (3, 1.0)];
        let candidates: Vec<Candidate> =
            scores.into_iter().map(|(question, score)| candidate(question, score)).collect();
        assert_eq!(most_doubtful(&candidates), [0, 3, 2]);
        let split =
            [candidates.clone(), vec![Candidate { spread: 0.9, ..candidate(4, 0.8) }]].concat();
        assert_eq!(most_doubtful(&split), [0, 6, 3, 2], "verdicts on one answer can differ, too");
    }

    #[test]
    fn what_is_in_no_doubt_is_drawn_at_random() {
        let candidates = single(&[1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0]);
        let choice = Choice { n: 6, random_share: 0.5, seed: 1 };
        let chosen = choose_answers(&candidates, choice);
        let (random, doubtful) =
            (of_sample(&chosen, Sample::Random), of_sample(&chosen, Sample::Disagreement));
        assert_eq!(random.len(), 5, "one doubt leaves five to chance");
        assert!(doubtful == [3] || random.contains(&3));
    }

    #[test]
    fn all_answers_are_a_random_share() {
        let candidates = single(&[1.0, 0.5, 0.4]);
        let chosen = choose_answers(&candidates, Choice { n: 9, random_share: 0.0, seed: 1 });
        assert_eq!(of_sample(&chosen, Sample::Random), [0, 1, 2]);
    }

    #[test]
    fn another_seed_chooses_others() {
        let candidates = single(&(0..100).map(|at| f64::from(at) / 100.0).collect::<Vec<_>>());
        let of_seed = |seed| choose_answers(&candidates, Choice { n: 20, random_share: 1.0, seed });
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
    }

    /// Whatever the judge says of an answer, it is as likely to be in the random share as any other.
    #[test]
    fn the_random_share_does_not_depend_on_scores() {
        let scores: Vec<f64> = (0..20).map(|at| if at < 4 { 0.5 } else { 1.0 }).collect();
        let candidates = single(&scores);
        let mut n_drawn = vec![0; candidates.len()];
        for seed in 0..4000 {
            let choice = Choice { n: 10, random_share: 0.5, seed };
            for at in of_sample(&choose_answers(&candidates, choice), Sample::Random) {
                n_drawn[at] += 1;
            }
        }
        // Six of twenty are random, because four are in doubt.
        assert!(n_drawn.iter().all(|n| (1090..1310).contains(n)), "{n_drawn:?}");
    }

    proptest! {
        #[test]
        fn a_choice_has_each_answer_once_and_no_more_than_asked_for(
            scores in prop::collection::vec((0_usize..12, 0.0..=1.0), 0..40),
            n in 0_usize..50,
            random_share in 0.0..=1.0,
            seed in any::<u64>(),
        ) {
            let candidates: Vec<Candidate> =
                scores.into_iter().map(|(question, score)| candidate(question, score)).collect();
            let chosen = choose_answers(&candidates, Choice { n, random_share, seed });
            let mut places: Vec<usize> = chosen.iter().map(|(at, _)| *at).collect();
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len(), chosen.len());
            prop_assert!(chosen.len() <= n.min(candidates.len()));
            prop_assert!(places.iter().all(|at| *at < candidates.len()));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of n")]
            let least = (n.min(candidates.len()) as f64 * random_share).round() as usize;
            prop_assert!(of_sample(&chosen, Sample::Random).len() >= least);
        }
    }
}
