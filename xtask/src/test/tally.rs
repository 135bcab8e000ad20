//! Counts tests from the lines that test programs print. Both libtest and libtest-mimic print
//! `running N tests`, `test NAME ... ignored` with a reason, and `test result: ok. N passed; N failed; ...`.
//! A test that finds out by itself that it cannot run prints `skipped: NAME: REASON`.
//! Pure; must not know cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The sum over all test programs.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Test to reason, for those that gave one.
    pub(crate) skipped_because: BTreeMap<String, String>,
    program: Program,
}

/// The test program that is printing.
#[derive(Debug, Default)]
struct Program {
    is_running: bool,
    tests: BTreeSet<String>,
    ignored: BTreeSet<String>,
    said_skipped: BTreeSet<String>,
}

impl Tally {
    /// Takes in one line, without its end.
    pub(crate) fn read(&mut self, line: &str) {
        if is_start(line) {
            self.close_program();
            self.program.is_running = true;
        } else if let Some([passed, failed, ignored]) = result_in(line) {
            // A test that returned early has passed in the eyes of its program, not in ours.
            let early = self.program.ended_early().min(passed);
            self.passed += passed - early;
            self.failed += failed;
            self.skipped += ignored + early;
            self.program = Program::default();
        } else {
            self.read_test(line);
        }
    }

    fn read_test(&mut self, line: &str) {
        let (test, said) = test_in(line).map_or((None, line), |(name, said)| (Some(name), said));
        self.program.tests.extend(test.map(str::to_owned));
        if let (Some(name), Some(reason)) = (test, ignored_in(said)) {
            self.program.ignored.insert(name.to_owned());
            if !reason.is_empty() {
                self.skipped_because.insert(name.to_owned(), reason.to_owned());
            }
        } else if let Some((name, reason)) =
            said.strip_prefix("skipped: ").and_then(|said| said.split_once(": "))
        {
            self.program.said_skipped.insert(name.to_owned());
            self.skipped_because.insert(name.to_owned(), reason.to_owned());
        }
    }

    /// Says how `cargo test` itself ended. Programs that died or did not build count as a failure.
    pub(crate) fn end(&mut self, good: bool) {
        self.close_program();
        if !good && self.failed == 0 {
            self.failed = 1;
        }
    }

    fn close_program(&mut self) {
        self.failed += usize::from(self.program.is_running);
        self.program = Program::default();
    }
}

impl Program {
    /// How many tests passed because they found that they cannot run.
    fn ended_early(&self) -> usize {
        let is_early = |name: &&String| self.tests.contains(*name) && !self.ignored.contains(*name);
        self.said_skipped.iter().filter(is_early).count()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

fn is_start(line: &str) -> bool {
    let mut words = line.split(' ');
    let is_count = |word: &str| word.parse::<usize>().is_ok();
    words.next() == Some("running")
        && words.next().is_some_and(is_count)
        && matches!(words.next(), Some("test" | "tests"))
        && words.next().is_none()
}

fn result_in(line: &str) -> Option<[usize; 3]> {
    // The verdict before the counts may be coloured.
    let counts = line.split_once("test result: ")?.1.split_once(". ")?.1;
    let count = |word: &str| counts.split("; ").find_map(|part| part.strip_suffix(word)?.trim().parse().ok());
    Some([count("passed")?, count("failed")?, count("ignored")?])
}

/// The name and what follows it in `test NAME ... ok`; libtest-mimic puts a kind of test before it as `[KIND]`.
fn test_in(line: &str) -> Option<(&str, &str)> {
    let (name, said) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name.trim().rsplit("] ").next()?, said))
}

/// The reason, perhaps empty: libtest prints `ignored, REASON`, libtest-mimic `ignored (REASON)`.
fn ignored_in(said: &str) -> Option<&str> {
    let reason = said.strip_prefix("ignored")?;
    Some(
        reason
            .strip_prefix(", ")
            .or_else(|| reason.strip_prefix(" (")?.strip_suffix(')'))
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(text: &str, good: bool) -> Tally {
        let mut tally = Tally::default();
        text.lines().for_each(|line| tally.read(line));
        tally.end(good);
        tally
    }

    #[test]
    fn the_programs_of_both_harnesses_are_added_up() {
        let text = "
running 3 tests
test a ... ok
test b ... ignored, needs a second machine
test c ... FAILED
test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 2 tests
test [lab] d ... ignored (needs root)
test e       ... ok
test result: \u{1b}[32mok\u{1b}[0m. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
";
        let tally = tally(text, false);
        assert_eq!(tally.to_string(), "2 passed, 1 failed, 2 skipped");
        assert_eq!(tally.skipped_because["b"], "needs a second machine");
        assert_eq!(tally.skipped_because["d"], "needs root");
    }

    #[test]
    fn a_test_that_returns_early_is_skipped_and_not_passed() {
        let text = "
running 3 tests
test a ... skipped: a: needs root: run with sudo
ok
test b ... ok
skipped: c: said twice
test c ... ignored
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let tally = tally(text, true);
        assert_eq!(tally.to_string(), "1 passed, 0 failed, 2 skipped");
        assert_eq!(tally.skipped_because["a"], "needs root: run with sudo");
    }

    #[test]
    fn reasons_before_the_start_are_kept_and_chatter_is_not_a_test() {
        let text = "
skipped: a: needs root
running 2 tests
test a ... ignored
skipped: path x: needs vxlan
test b ... ok
test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let tally = tally(text, true);
        assert_eq!(tally.to_string(), "1 passed, 0 failed, 1 skipped");
        assert_eq!(tally.skipped_because["a"], "needs root");
    }

    #[test]
    fn a_program_that_dies_has_failed_even_when_others_end_well() {
        let died = "running 2 tests\ntest a ... ok\n";
        let well = "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(tally(&[died, well].concat(), false).to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(tally(&[well, died].concat(), false).to_string(), "1 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn what_does_not_build_has_failed() {
        assert_eq!(tally("", false).to_string(), "0 passed, 1 failed, 0 skipped");
        assert_eq!(tally("", true).to_string(), "0 passed, 0 failed, 0 skipped");
    }
}
