//! The last lines of what a process writes, kept for the error that may have to quote them. Must not know what they
//! mean.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// How many lines are kept: a kernel that panics writes some thirty, the reason first.
const KEPT: usize = 40;
/// A line without an end is cut here.
const LONGEST: u64 = 4096;
/// What a process said before it ended may still be on its way.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

/// The last lines of any number of streams, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastLines {
    shared: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: Mutex<Lines>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<String>,
    /// Streams that have not ended.
    open: usize,
}

impl LastLines {
    /// Reads `from` to its end on a thread of its own; each line is kept that `matters`, which is shown all of them.
    pub(crate) fn keep(
        &self,
        from: impl Read + Send + 'static,
        matters: impl Fn(&str) -> bool + Send + 'static,
    ) {
        self.keep_some(from, LONGEST, move |line| matters(line).then(|| line.to_owned()));
    }

    /// Reads `from` to its end on a thread of its own; kept is what `take`, which is shown every line, makes of them. A
    /// line that is longer than `longest` bytes is cut.
    pub(crate) fn keep_some(
        &self,
        from: impl Read + Send + 'static,
        longest: u64,
        take: impl FnMut(&str) -> Option<String> + Send + 'static,
    ) {
        self.lock().open += 1;
        let lines = self.clone();
        thread::spawn(move || {
            lines.read(from, longest, take);
            lines.lock().open -= 1;
            lines.shared.ended.notify_all();
        });
    }

    /// What is kept, a line each. Waits a moment for streams that have not ended: they may be about to.
    pub(crate) fn text(&self) -> String {
        let open = |kept: &mut Lines| kept.open > 0;
        let waited = self.shared.ended.wait_timeout_while(self.lock(), ON_ITS_WAY, open);
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        kept.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn read(&self, from: impl Read, longest: u64, mut take: impl FnMut(&str) -> Option<String>) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.by_ref().take(longest).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if let Some(text) = take(String::from_utf8_lossy(&line).trim_end()) {
                self.push(text);
            }
            line.clear();
        }
    }

    fn push(&self, line: String) {
        let mut kept = self.lock();
        if kept.lines.len() == KEPT {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, iter};

    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_those_that_do_not_matter_are_not() {
        let lines = LastLines::default();
        let (from, mut to) = std::io::pipe().expect("pipes");
        lines.keep(from, |line| line != "usual");
        for number in 0..100 {
            write!(to, "line {number}\r\nusual\n").expect("it is read");
        }
        write!(to, "no end").expect("it is read");
        drop(to);
        let text = lines.text();
        let expected: Vec<String> =
            (61..100).map(|number| format!("line {number}")).chain(iter::once("no end".to_owned())).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
