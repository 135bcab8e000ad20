//! Counts tests in the output of libtest and libtest-mimic. A test that cannot run prints `skipped: NAME: REASON`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) skipped_because: BTreeMap<String, String>,
    /// The names of tests by their duration in seconds, from programs that print durations.
    pub(crate) took: BTreeSet<(u64, String)>,
    /// The names of failed tests by program.
    pub(crate) failures: BTreeMap<String, Vec<String>>,
    pub(crate) passed_alone: Vec<String>,
    /// The name in the last `Running` line.
    running: String,
    program: Program,
}

#[derive(Debug, Default)]
struct Program {
    is_running: bool,
    tests: BTreeSet<String>,
    ignored: BTreeSet<String>,
    skipped_by_output: BTreeSet<String>,
    failures: Vec<String>,
}

impl Tally {
    pub(crate) fn read(&mut self, line: &str) {
        if is_start(line) {
            self.close_program();
            self.program.is_running = true;
        } else if let Some(name) = line.strip_prefix("     Running ") {
            name.clone_into(&mut self.running);
        } else if line == "failures:" {
            // The second list contains only names.
            self.program.failures.clear();
        } else if let Some(name) = line.strip_prefix("    ").filter(|name| !name.contains(' ')) {
            self.program.failures.push(name.to_owned());
        } else if let Some(took) = took_in(line) {
            self.took.insert(took);
        } else if let Some([passed, failed, ignored]) = result_in(line) {
            // A test that returned early has passed for its program, but counts as skipped here.
            let early = self.program.ended_early().min(passed);
            self.passed += passed - early;
            self.failed += failed;
            self.skipped += ignored + early;
            let program = std::mem::take(&mut self.program);
            if failed > 0 && program.failures.len() == failed {
                self.failures.insert(self.running.clone(), program.failures);
            }
        } else {
            self.read_test(line);
        }
    }

    fn read_test(&mut self, line: &str) {
        let (test, rest) = test_in(line).map_or((None, line), |(name, rest)| (Some(name), rest));
        self.program.tests.extend(test.map(str::to_owned));
        if let (Some(name), Some(reason)) = (test, ignored_in(rest)) {
            self.program.ignored.insert(name.to_owned());
            if !reason.is_empty() {
                self.skipped_because.insert(name.to_owned(), reason.to_owned());
            }
        } else if let Some((name, reason)) =
            rest.strip_prefix("skipped: ").and_then(|rest| rest.split_once(": "))
        {
            self.program.skipped_by_output.insert(name.to_owned());
            self.skipped_because.insert(name.to_owned(), reason.to_owned());
        }
    }

    pub(crate) fn pass_alone(&mut self, test: String) {
        self.failed -= 1;
        self.passed += 1;
        self.passed_alone.push(test);
    }

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
    fn ended_early(&self) -> usize {
        let is_early = |name: &&String| self.tests.contains(*name) && !self.ignored.contains(*name);
        self.skipped_by_output.iter().filter(is_early).count()
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

/// Parses `took SECONDS s: NAME`, which programs print at their end.
fn took_in(line: &str) -> Option<(u64, String)> {
    let (seconds, name) = line.strip_prefix("took ")?.split_once(" s: ")?;
    Some((seconds.parse().ok()?, name.to_owned()))
}

/// libtest-mimic prints the kind of test before its name, as `[KIND]`.
fn test_in(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name.trim().rsplit("] ").next()?, rest))
}

/// Parses the reason, which may be empty. libtest prints `ignored, REASON`, and libtest-mimic prints `ignored
/// (REASON)`.
fn ignored_in(rest: &str) -> Option<&str> {
    let reason = rest.strip_prefix("ignored")?;
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
    fn adds_up_programs_of_both_harnesses() {
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
took 31 s: e
";
        let tally = tally(text, false);
        assert_eq!(tally.took, [(31, "e".to_owned())].into());
        assert_eq!(tally.to_string(), "2 passed, 1 failed, 2 skipped");
        assert_eq!(tally.skipped_because["b"], "needs a second machine");
        assert_eq!(tally.skipped_because["d"], "needs root");
    }

    #[test]
    fn failed_test_that_passes_alone_counts_as_passed() {
        let text = "
     Running plumb tests lab

running 2 tests
test a ... ok
test b::c ... FAILED

failures:

---- b::c stdout ----
    left
    5

failures:
    b::c

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let mut tally = tally(text, false);
        assert_eq!(tally.failures["plumb tests lab"], ["b::c"]);
        tally.pass_alone("b::c".to_owned());
        assert_eq!(tally.to_string(), "2 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn early_return_counts_as_skipped() {
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
    fn keeps_early_reasons_and_ignores_other_output() {
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
    fn crashed_program_counts_as_failed() {
        let died = "running 2 tests\ntest a ... ok\n";
        let well = "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(tally(&[died, well].concat(), false).to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(tally(&[well, died].concat(), false).to_string(), "1 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn build_error_counts_as_failed() {
        assert_eq!(tally("", false).to_string(), "0 passed, 1 failed, 0 skipped");
        assert_eq!(tally("", true).to_string(), "0 passed, 0 failed, 0 skipped");
    }
}
