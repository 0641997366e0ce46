//! A clock that somebody sets while a program runs.

use std::process::Command;

use super::Compiled;

static LIBRARY: Compiled = Compiled::new("clock", include_str!("clock.c"), &["-shared", "-fPIC"]);

/// A jump of the date. Clocks by which programs measure how long things take stay.
#[derive(Clone, Copy, Debug)]
pub struct ClockJump {
    /// How far, in seconds; backwards if negative.
    pub seconds: i64,
    /// How often the program asks for the date before.
    pub after: usize,
}

impl ClockJump {
    /// Has a program see the jump; returns false if that is not possible here.
    pub fn apply(self, command: &mut Command) -> bool {
        let Some(library) = LIBRARY.path() else { return false };
        command.env("LD_PRELOAD", library);
        command.env("CLOCK_JUMP", format!("{} {}", self.seconds, self.after));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ended;

    #[test]
    fn the_date_jumps() {
        let year = |after: usize| {
            let mut command = Command::new("date");
            let jump = ClockJump { seconds: -20 * 365 * 86_400, after };
            jump.apply(&mut command).then(|| Ended::of(command.arg("+%Y")).stdout)
        };
        let Some((then, now)) = year(0).zip(year(1_000)) else { return };
        let number = |year: String| year.trim().parse::<i32>().expect("a year");
        assert!(number(now) - number(then) >= 19);
    }
}
