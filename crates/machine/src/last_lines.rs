//! Keeps the last lines of a process's output for error messages.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use protocol::guest::FIRST_WORDS;

/// A kernel panic prints about 30 lines. The first contains the reason.
const MAX_LINES: usize = 40;
const LONGEST: u64 = 4096;
/// How long to wait for output in transit after the process has exited.
const DRAIN: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Default)]
pub(crate) struct LastLines {
    shared: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    lines: Mutex<Lines>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<String>,
    open: usize,
}

impl LastLines {
    pub(crate) fn keep(
        &self,
        from: impl Read + Send + 'static,
        matters: impl Fn(&str) -> bool + Send + 'static,
    ) {
        self.keep_some(from, LONGEST, move |line| matters(line).then(|| line.to_owned()));
    }

    /// Keeps all lines that do not contain `noise`. The returned value is set when the guest's first process
    /// starts.
    pub(crate) fn keep_console(
        &self,
        console: impl Read + Send + 'static,
        noise: &'static str,
    ) -> Arc<OnceLock<Instant>> {
        let first_process = Arc::new(OnceLock::new());
        let started = Arc::clone(&first_process);
        self.keep(console, move |line| {
            let is_first = line.contains(FIRST_WORDS);
            if is_first {
                started.get_or_init(Instant::now);
            }
            !is_first && !line.is_empty() && !line.contains(noise)
        });
        first_process
    }

    pub(crate) fn keep_some(
        &self,
        from: impl Read + Send + 'static,
        longest: u64,
        take: impl FnMut(&str) -> Option<String> + Send + 'static,
    ) {
        self.shared.lines.lock().open += 1;
        let lines = self.clone();
        thread::spawn(move || {
            lines.read(from, longest, take);
            lines.shared.lines.lock().open -= 1;
            lines.shared.ended.notify_all();
        });
    }

    pub(crate) fn text(&self) -> String {
        let mut lines = self.shared.lines.lock();
        self.shared.ended.wait_while_for(&mut lines, |lines| lines.open > 0, DRAIN);
        lines.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
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
        let mut lines = self.shared.lines.lock();
        if lines.lines.len() == MAX_LINES {
            lines.lines.pop_front();
        }
        lines.lines.push_back(line);
    }
}

pub(crate) fn last_output(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; last console output:\n{words}") }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, iter};

    use super::*;

    #[test]
    fn keeps_last_lines_that_matter() {
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
