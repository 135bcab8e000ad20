//! Parses the table of `strace -c`: calls, errors and time per system call (strace(1), "-c, --summary-only").
//!
//! The seconds are kernel CPU time unless `-w` was given. Only the times of sleeping calls show
//! whether it was.

use units::Nanos;

use crate::{
    calls::{Call, Calls},
    format::{Claim, Format, Line, Out},
    places::Places,
};

const FORMAT: &str = "strace -c";

/// Maximum CPU time of a call that only sleeps, in microseconds.
const LONGEST_AWAKE: f64 = 1000.0;

#[derive(Debug, Default)]
pub(crate) struct Strace {
    open: Option<Table>,
    noted_elapsed: Option<bool>,
}

#[derive(Debug)]
struct Table {
    first: u64,
    last: u64,
    columns: Vec<String>,
    calls: Calls,
    asleep: f64,
    wrong: Places,
}

impl Format for Strace {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if let Some(columns) = heading(line.text) {
            self.broken(out);
            self.open = Some(Table::new(columns, line.number));
            return Claim::Claimed;
        }
        let Some(table) = &mut self.open else { return Claim::Declined };
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if words.last() == Some(&"total") && words.len() > 2 && line.whole {
            table.last = line.number;
            self.total(&words, line.number, out);
            return Claim::Claimed;
        }
        if is_rule(&words) {
            return Claim::Claimed;
        }
        if words.is_empty() || !words[0].starts_with(|c: char| c.is_ascii_digit()) {
            self.broken(out);
            return Claim::Declined;
        }
        table.row(&words, line);
        Claim::Claimed
    }

    fn end(&mut self, out: &mut Out) {
        self.broken(out);
    }
}

impl Strace {
    fn total(&mut self, words: &[&str], line: u64, out: &mut Out) {
        let Some(table) = self.open.take() else { return };
        let calls = table.calls.count().to_string();
        if !words.contains(&calls.as_str()) {
            out.note(format!(
                "strace's table at line {}: its rows add up to {calls} calls, which differs from the total at line {line}.",
                table.first
            ));
        }
        self.found(table, out);
    }

    fn broken(&mut self, out: &mut Out) {
        let Some(table) = self.open.take() else { return };
        out.note(format!(
            "strace's table at line {} is truncated after line {}; the rows before that were imported.",
            table.first, table.last
        ));
        self.found(table, out);
    }

    fn found(&mut self, mut table: Table, out: &mut Out) {
        if !table.wrong.is_empty() {
            out.note(format!(
                "strace's table at line {}: skipped invalid rows: {}.",
                table.first, table.wrong
            ));
        }
        if table.calls.is_empty() {
            return;
        }
        let elapsed = table.asleep > LONGEST_AWAKE;
        if self.noted_elapsed.replace(elapsed) != Some(elapsed) {
            out.note(format!(
                "strace's table at line {} does not show what its seconds are; treated as {}.",
                table.first,
                if elapsed {
                    "elapsed time from enter to exit (-w), because sleeping calls average over a millisecond"
                } else {
                    "CPU time in the kernel, as without -w"
                }
            ));
        }
        if elapsed {
            table.calls.seconds_are_elapsed();
        }
        let lines = table.first..=table.last;
        out.found(table.calls.found(FORMAT, "strace".to_owned(), lines, &out.title, Vec::new()));
    }
}

impl Table {
    fn new(columns: Vec<String>, line: u64) -> Self {
        Self { first: line, last: line, columns, calls: Calls::default(), asleep: 0.0, wrong: Places::NONE }
    }

    fn row(&mut self, words: &[&str], line: &Line<'_>) {
        let call = if line.whole { self.call(words) } else { None };
        match call.filter(|call| self.calls.add(call.clone())) {
            Some(call) => {
                self.last = line.number;
                self.sleeps(&call);
            }
            None => self.wrong.add(line.number),
        }
    }

    /// The errors column is empty if no call failed.
    fn call(&self, words: &[&str]) -> Option<Call> {
        let errors = self.columns.iter().position(|column| column == "errors");
        let missing = self.columns.len().checked_sub(words.len())?;
        if missing > usize::from(errors.is_some()) {
            return None;
        }
        let word = |wanted: &str| {
            let at = self.columns.iter().position(|column| column == wanted)?;
            match errors {
                Some(errors) if missing == 1 && at == errors => Some("0"),
                Some(errors) if missing == 1 && at > errors => words.get(at - 1).copied(),
                _ => words.get(at).copied(),
            }
        };
        let name =
            word("syscall").filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
        let seconds = match word("seconds") {
            Some(seconds) => Some(nanos(seconds)?),
            None => None,
        };
        let errors = match word("errors") {
            Some(errors) => Some(errors.parse().ok()?),
            None => None,
        };
        Some(Call {
            thread: None,
            name: name.to_owned(),
            calls: word("calls")?.parse().ok()?,
            errors,
            total: None,
            running: seconds,
        })
    }

    fn sleeps(&mut self, call: &Call) {
        const SLEEPS: [&str; 24] = [
            "clock_nanosleep",
            "nanosleep",
            "pselect6",
            "select",
            "poll",
            "ppoll",
            "epoll_wait",
            "epoll_pwait",
            "epoll_pwait2",
            "wait4",
            "waitid",
            "futex",
            "futex_wait",
            "accept",
            "accept4",
            "recvfrom",
            "recvmsg",
            "recvmmsg",
            "pause",
            "rt_sigsuspend",
            "rt_sigtimedwait",
            "io_getevents",
            "io_uring_enter",
            "msgrcv",
        ];
        if SLEEPS.contains(&call.name.as_str()) && call.calls > 0 {
            let each = call.running.map_or(0.0, |time| time.0 as f64 / 1e3 / call.calls as f64);
            self.asleep = self.asleep.max(each);
        }
    }
}

fn heading(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if !text.contains("calls") || !text.ends_with("syscall") {
        return None;
    }
    let columns: Vec<String> =
        text.replace("% time", "%time").split_whitespace().map(str::to_owned).collect();
    let has = |wanted: &str| columns.iter().any(|column| column == wanted);
    (has("calls") && has("syscall") && (has("seconds") || has("%time"))).then_some(columns)
}

fn is_rule(words: &[&str]) -> bool {
    words.len() > 1 && words.iter().all(|word| word.bytes().all(|byte| byte == b'-'))
}

fn nanos(seconds: &str) -> Option<Nanos> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let below: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(below).map(Nanos)
}

#[cfg(test)]
mod tests;
