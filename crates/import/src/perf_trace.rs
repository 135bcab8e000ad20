//! Parses the summary of `perf trace -s`: system calls per thread, with elapsed time (perf-trace(1), "-s,
//! --summary").

use std::collections::HashSet;

use units::Nanos;

use crate::{
    calls::{Call, Calls},
    format::{Claim, Format, Line, Out},
    places::Places,
    quantity::leading_number,
};

const FORMAT: &str = "perf trace -s";

#[derive(Debug, Default)]
pub(crate) struct PerfTrace {
    open: Option<Summary>,
}

#[derive(Debug, Default)]
struct Summary {
    first: u64,
    last: u64,
    calls: Calls,
    thread: Option<String>,
    heads: HashSet<String>,
    columns: Vec<String>,
    milliseconds: bool,
    wrong: Places,
}

impl Format for PerfTrace {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let text = line.text.trim();
        if text.starts_with("Summary of events") {
            self.end(out);
            self.open = Some(Summary::new(line.number));
            return Claim::Claimed;
        }
        let is_repeated = |open: &Summary| head(text).is_some() && open.heads.contains(thread_of(text));
        if self.open.as_ref().is_some_and(is_repeated) {
            // Another summary follows without a title.
            self.end(out);
        }
        if self.open.is_none() && (head(text).is_some() || is_columns(text)) {
            self.open = Some(Summary::new(line.number));
        }
        let Some(summary) = &mut self.open else { return Claim::Declined };
        if summary.takes(text, line) {
            return Claim::Claimed;
        }
        self.end(out);
        Claim::Declined
    }

    fn end(&mut self, out: &mut Out) {
        let Some(summary) = self.open.take() else { return };
        if !summary.wrong.is_empty() {
            let (first, wrong) = (summary.first, &summary.wrong);
            out.note(format!("perf trace's summary at line {first}: skipped invalid rows: {wrong}."));
        }
        if !summary.calls.is_empty() {
            let lines = summary.first..=summary.last;
            out.found(summary.calls.found(FORMAT, "perf trace".to_owned(), lines, &out.title, Vec::new()));
        }
    }
}

impl Summary {
    fn new(line: u64) -> Self {
        Self { first: line, last: line, ..Self::default() }
    }

    fn takes(&mut self, text: &str, line: &Line<'_>) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() || words.iter().all(|word| word.bytes().all(|byte| byte == b'-')) {
            return true;
        }
        if let Some(head) = head(text) {
            self.heads.insert(thread_of(text).to_owned());
            self.thread = match head {
                Head::Thread(name) => Some(name),
                Head::Total => None,
            };
            self.columns.clear();
        } else if is_columns(text) {
            self.columns = words.iter().map(|word| (*word).to_owned()).collect();
            self.milliseconds = false;
        } else if words.iter().all(|word| word.starts_with('(') && word.ends_with(')')) {
            self.milliseconds = words.contains(&"(msec)");
        } else if self.columns.is_empty() {
            return false;
        } else {
            return self.row(&words, line);
        }
        self.last = line.number;
        true
    }

    fn row(&mut self, words: &[&str], line: &Line<'_>) -> bool {
        let call = if line.whole { self.call(words) } else { None };
        match call.filter(|call| self.calls.add(call.clone())) {
            Some(_) => self.last = line.number,
            None if words.len() == self.columns.len() || !line.whole => self.wrong.add(line.number),
            None => return false,
        }
        true
    }

    fn call(&self, words: &[&str]) -> Option<Call> {
        if words.len() != self.columns.len() {
            return None;
        }
        let word = |wanted: &str| {
            let at = self.columns.iter().position(|column| column == wanted)?;
            words.get(at).copied()
        };
        let total = match word("total").filter(|_| self.milliseconds) {
            Some(total) => Some(milliseconds(total)?),
            None => None,
        };
        let errors = match word("errors") {
            Some(errors) => Some(errors.parse().ok()?),
            None => None,
        };
        Some(Call {
            thread: self.thread.clone(),
            name: words[0].to_owned(),
            calls: word("calls")?.parse().ok()?,
            errors,
            total,
            running: None,
        })
    }
}

fn is_columns(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next() == Some("syscall") && words.next() == Some("calls") && words.any(|word| word == "total")
}

enum Head {
    Thread(String),
    Total,
}

/// Parses `CPU 0/KVM (10396), 35468 events, 100.0%` (one thread) or `total, 35468 events`.
fn head(text: &str) -> Option<Head> {
    if !text.contains(" events") {
        return None;
    }
    let (thread, rest) =
        text.rsplit_once(", ").filter(|(thread, _)| thread.contains(" events")).unwrap_or((text, ""));
    let (thread, events) = thread.rsplit_once(", ")?;
    let counted = events.strip_suffix(" events")?;
    if counted.parse::<u64>().is_err() || !(rest.is_empty() || rest.ends_with('%')) {
        return None;
    }
    let name = thread.rsplit_once(" (").map_or(thread, |(name, _)| name);
    Some(if name == "total" { Head::Total } else { Head::Thread(name.to_owned()) })
}

/// Returns `vhost (7)` from `vhost (7), 12 events, 20.0%`.
fn thread_of(text: &str) -> &str {
    text.find(" events").and_then(|end| text[..end].rsplit_once(", ")).map_or(text, |(thread, _)| thread)
}

fn milliseconds(text: &str) -> Option<Nanos> {
    let (value, rest) = leading_number(text)?;
    let nanos = (value * 1e6).round();
    (rest.is_empty() && (0.0..1e18).contains(&nanos)).then_some(Nanos(nanos as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Out {
        let mut out = Out::default();
        let mut perf = PerfTrace::default();
        let last = text.lines().count();
        for (line, number) in text.lines().zip(1..) {
            let whole = number < last || text.ends_with('\n');
            let _ = perf.line(&Line { number: number as u64, text: line, whole }, &mut out);
        }
        perf.end(&mut out);
        out
    }

    /// Thread, call, number of calls, errors and nanoseconds.
    type Counted<'a> = (Option<&'a str>, &'a str, u64, Option<u64>, Option<u64>);

    fn counted(out: &Out) -> Vec<Counted<'_>> {
        let calls = out.founds.iter().flat_map(|found| &found.syscalls);
        calls
            .map(|call| {
                let total = call.total.map(|total| total.0);
                (call.thread.as_deref(), call.call.as_str(), call.calls, call.errors, total)
            })
            .collect()
    }

    const HEAD: &str = "   syscall            calls  errors  total       min       avg       max       stddev\n\
                                                        (msec)    (msec)    (msec)    (msec)        (%)\n\
                           --------------- --------  ------ -------- --------- --------- ---------     ------\n";

    #[test]
    fn counts_calls_per_thread_and_sums_equal_threads() {
        let out = read(&format!(
            "\n Summary of events:\n\n CPU 0/KVM (10396), 35468 events, 60.0%\n\n{HEAD}   ioctl  4  1  2200.756  0.154  550.189  2000.184  87.95%\n\n\
             \n vhost (7), 12 events, 20.0%\n\n{HEAD}   read  3  0  0.003  0.001  0.001  0.001  1.00%\n\n vhost (8), 12 events, 20.0%\n\n\
             {HEAD}   read  5  0  0.004  0.001  0.001  0.001  1.00%\n\n\ntext\n"
        ));
        assert_eq!(
            counted(&out),
            [
                (Some("CPU 0/KVM"), "ioctl", 4, Some(1), Some(2_200_756_000)),
                (Some("vhost"), "read", 8, Some(0), Some(7000)),
            ]
        );
        assert_eq!(out.notes, Vec::<String>::new());
    }

    #[test]
    fn parses_total_summary_of_older_perf() {
        let out = read(
            " Summary of events:\n total, 24 events\n   syscall  calls  total  min  avg  max  stddev\n   (msec) (msec) (msec) (msec) (%)\n\
             read  5  0.004  0.001  0.001  0.001  1.00%\n",
        );
        assert_eq!(counted(&out), [(None, "read", 5, None, Some(4000))]);
    }

    #[test]
    fn repeated_thread_starts_another_summary() {
        let table = format!(" a (1), 2 events\n{HEAD}   read  5  0  1.0  0.1  0.1  0.1  1.00%\n");
        assert_eq!(read(&format!("{table}{table}")).founds.len(), 2);
        assert_eq!(read(&format!("{table}{}", table.replace("(1)", "(2)"))).founds.len(), 1);
    }

    #[test]
    fn skips_damaged_rows_with_line_numbers() {
        let out = read(&format!(
            " Summary of events:\n a (1), 2 events, 100.0%\n{HEAD}   read  5  0  nan  0.1  0.1  0.1  1.00%\n\
             write  -5  0  1.0  0.1  0.1  0.1  1.00%\n   close  5  0  1.0  0.1  0.1  0.1  1.00%\n   open  5  0  1.0"
        ));
        assert_eq!(counted(&out), [(Some("a"), "close", 5, Some(0), Some(1_000_000))]);
        assert!(out.notes[0].contains("lines 6, 7 and 9"), "{:?}", out.notes);
    }

    #[test]
    fn times_without_unit_are_unknown() {
        let out = read(" Summary of events:\n a (1), 2 events\n syscall calls total\n read 5 7\n");
        assert_eq!(counted(&out), [(Some("a"), "read", 5, None, None)]);
    }
}
