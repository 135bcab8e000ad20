//! Parses numbered lists of system calls, with counts or with elapsed times:
//!
//! `1. pselect6: 70,482,702,503 ns (96.9%) - 1,696,411 calls = 41.5 μs/call` or `3. ioctl: 163,632 (10.0%) [fc_vcpu
//! 0]`.

use units::Nanos;
use workload::{Quantity, ReportedValue};

use super::{known_settings::KnownSettings, row::plain};
use crate::{
    calls::{Call, Calls, reported},
    format::{Claim, Line, Out},
    places::Places,
    quantity::{amount, whole},
};

const FORMAT: &str = "list of system calls";

/// Tolerance for the time per call: this fraction, or rounding to one decimal.
const FITS: f64 = 0.01;
const ROUNDED: f64 = 0.06;

#[derive(Debug, Default)]
pub(super) struct List {
    open: Option<Open>,
    announced: bool,
}

#[derive(Debug)]
struct Open {
    first: u64,
    last: u64,
    calls: Calls,
    values: Vec<ReportedValue>,
    wrong: Places,
}

impl List {
    pub(super) fn line(&mut self, line: &Line<'_>, known: &KnownSettings, out: &mut Out) -> Claim {
        // Fast path: sentences neither number an entry nor mention calls.
        let has_digit = || line.text.bytes().any(|byte| byte.is_ascii_digit());
        let may_mention_calls = || line.text.contains("all") || line.text.contains("ALL");
        if self.open.is_none() && !has_digit() && !may_mention_calls() {
            return Claim::Declined;
        }
        let text = plain(line.text);
        let Some((ordinal, rest)) = numbered(&text) else {
            return self.other_line(line, &text);
        };
        if ordinal == 1 {
            self.end(known, out);
        }
        match entry(rest) {
            Some(Entry { call, timed }) if timed || self.open.is_some() || self.is_announced(out) => {
                self.add(line, call);
                Claim::Claimed
            }
            _ => match &mut self.open {
                Some(open) => {
                    open.wrong.add(line.number);
                    Claim::Claimed
                }
                None => Claim::Declined,
            },
        }
    }

    pub(super) fn end(&mut self, known: &KnownSettings, out: &mut Out) {
        let Some(open) = self.open.take() else { return };
        if !open.wrong.is_empty() {
            out.note(format!(
                "In the list of system calls at line {}, skipped entries without a count or with inconsistent times: {}.",
                open.first, open.wrong
            ));
        }
        if open.calls.is_empty() {
            return;
        }
        let lines = open.first..=open.last;
        let mut found =
            open.calls.found(FORMAT, "a list of system calls".to_owned(), lines, &out.title, open.values);
        if let Some((innermost, outer)) = out.title.split_last()
            && let Some((factor, level)) = known.level_in(innermost)
        {
            found.levels.insert(factor, level);
            found.title = outer.to_vec();
        }
        out.found(found);
    }

    pub(super) const fn forget(&mut self) {
        self.announced = false;
    }

    fn other_line(&mut self, line: &Line<'_>, text: &str) -> Claim {
        self.announced |= mentions_calls(text);
        let Some(open) = &mut self.open else { return Claim::Declined };
        if let Some(messages) = text.strip_prefix("Messages:").and_then(whole) {
            if line.whole {
                open.values.push(reported("messages", messages as f64));
                open.last = line.number;
            } else {
                open.wrong.add(line.number);
            }
            return Claim::Claimed;
        }
        match text.strip_prefix("Additional:").and_then(|text| entry(text.trim())) {
            Some(Entry { call, .. }) => {
                self.add(line, call);
                Claim::Claimed
            }
            None => Claim::Declined,
        }
    }

    fn add(&mut self, line: &Line<'_>, call: Option<Call>) {
        let open = self.open.get_or_insert_with(|| Open {
            first: line.number,
            last: line.number,
            calls: Calls::default(),
            values: Vec::new(),
            wrong: Places::NONE,
        });
        open.last = line.number;
        let added = call.filter(|_| line.whole).is_some_and(|call| open.calls.add(call));
        if !added {
            open.wrong.add(line.number);
        }
    }

    fn is_announced(&self, out: &Out) -> bool {
        self.announced || out.title.last().is_some_and(|heading| mentions_calls(heading))
    }
}

struct Entry {
    /// The call, or `None` if its numbers are inconsistent.
    call: Option<Call>,
    /// Whether the entry has times. Only lists of system calls do.
    timed: bool,
}

fn mentions_calls(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("syscall") || text.contains("system call")
}

fn numbered(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.split_once(['.', ')'])?;
    let rest = rest.strip_prefix(' ')?;
    Some((number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?, rest.trim()))
}

/// Parses `fc_vcpu 0 ioctl: …` into thread, call and numbers.
fn entry(text: &str) -> Option<Entry> {
    let (name, numbers) = text.split_once(':')?;
    let (thread, name) = name.rsplit_once(' ').map_or((None, name), |(thread, name)| (Some(thread), name));
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_name) {
        return None;
    }
    let call = |thread: Option<&str>| Call {
        thread: thread.map(|thread| thread.trim().to_owned()),
        name: name.to_owned(),
        ..Call::default()
    };
    if let Some((time, calls)) = numbers.split_once(" - ") {
        return timed(call(thread), time, calls);
    }
    let (count, bracketed) = bracketed(numbers.trim());
    let count = count.split_once('(').map_or(count, |(count, _)| count);
    let calls = whole(count)?;
    Some(Entry { call: Some(Call { calls, ..call(bracketed.or(thread)) }), timed: false })
}

fn bracketed(text: &str) -> (&str, Option<&str>) {
    let inner = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
    inner.map_or((text, None), |(before, thread)| (before, Some(thread)))
}

fn timed(call: Call, time: &str, calls: &str) -> Option<Entry> {
    let is_time =
        |amount: &crate::quantity::Amount| amount.unit.is_some_and(|unit| unit.quantity == Quantity::Time);
    let total = amount(time).filter(is_time)?.in_base(None)?;
    let (count, each) = calls.split_once("calls")?;
    let count = whole(count)?;
    let each = match each.trim().strip_prefix('=') {
        Some(each) => Some(amount(each.trim()).filter(is_time)?.in_base(None)?),
        None => None,
    };
    let fits = each.is_none_or(|each| fits(total, count, each)) && (0.0..1e18).contains(&total);
    let total = Some(Nanos(total as u64));
    Some(Entry { call: fits.then_some(Call { calls: count, total, ..call }), timed: true })
}

/// Returns whether the time per call, rounded to 0.1 μs, matches the total and the count.
fn fits(total: f64, calls: u64, each: f64) -> bool {
    let exact = total / calls as f64;
    calls > 0 && (exact - each).abs() <= (exact * FITS).max(ROUNDED * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(title: &str, text: &str) -> Out {
        let mut out = Out { title: vec!["Calls".to_owned(), title.to_owned()], ..Out::default() };
        let mut known = KnownSettings::default();
        known.learn("Configuration", "BM-BM");
        let mut list = List::default();
        for (text, number) in text.lines().zip(1..) {
            let _ = list.line(&Line { number, text, whole: true }, &known, &mut out);
        }
        list.end(&known, &mut out);
        out
    }

    fn calls(out: &Out) -> Vec<(Option<&str>, &str, u64, Option<u64>)> {
        let calls = out.founds.iter().flat_map(|found| &found.syscalls);
        calls
            .map(|call| {
                (call.thread.as_deref(), call.call.as_str(), call.calls, call.total.map(|total| total.0))
            })
            .collect()
    }

    #[test]
    fn parses_times_counts_and_threads() {
        let out = read(
            "BM-BM Server Timing",
            "1. pselect6: 70,482,702,503 ns (96.9%) - 1,696,411 calls = 41.5 μs/call\n\
             2. fc_vcpu 0 ioctl: 36,590,728,696 ns (70.8%) - 685,646 calls = 53.4 μs/call\n\
             3. futex:  66,883,668,239 ns (24.7%) - 498 calls    = 134,304.9 μs/call (134ms!)\n",
        );
        assert_eq!(
            calls(&out),
            [
                (None, "pselect6", 1_696_411, Some(70_482_702_503)),
                (Some("fc_vcpu 0"), "ioctl", 685_646, Some(36_590_728_696)),
                (None, "futex", 498, Some(66_883_668_239)),
            ]
        );
        let found = &out.founds[0];
        assert_eq!(found.levels.get("Configuration").map(String::as_str), Some("BM-BM"));
        assert_eq!(found.title, ["Calls"]);
        assert_eq!(found.syscalls[0].end.as_deref(), Some("server"));
    }

    #[test]
    fn counts_require_mention_of_system_calls() {
        let list = "1. ioctl:       163,632  (10.0%) [fc_vcpu 0]\n2. write: 12\n\nMessages: 455,731\nAdditional: read: 5\n";
        let out = read("VM Client Syscalls", list);
        assert_eq!(
            calls(&out),
            [(Some("fc_vcpu 0"), "ioctl", 163_632, None), (None, "write", 12, None), (None, "read", 5, None)]
        );
        let workload::Measurement::Reported(data) = &out.founds[0].measurement else { panic!("reported") };
        let values: Vec<_> = data.values.iter().map(|value| (value.name.as_str(), value.value)).collect();
        assert_eq!(values, [("listed system calls", 163_649.0), ("messages", 455_731.0)]);
        assert_eq!(calls(&read("Fruit", list)), []);
        assert_eq!(calls(&read("Fruit", &format!("Key syscalls:\n{list}"))).len(), 3);
    }

    #[test]
    fn ignores_other_lists() {
        for text in [
            "1. Baremetal: 2.0 syscalls/message",
            "1. **futex** in KVM-KVM-vhost latency: 134ms/call (blocking operations)",
            "1. KVM+vhost: 12",
            "1. **For Low-Latency Requirements** (< 50 μs target):",
            "2024. something: else",
        ] {
            let out = read("Syscall Efficiency", text);
            assert_eq!((calls(&out).len(), out.notes.len()), (0, 0), "{text}");
        }
    }

    #[test]
    fn skips_inconsistent_entries_with_line_numbers() {
        let out = read(
            "Syscalls",
            "1. read: 1,000,000 ns - 1,000 calls = 1.0 μs/call\n\
             2. write: 1,000,000 ns - 1,000 calls = 7.0 μs/call\n\
             3. close: 1,000,000 ns - 0 calls = 7.0 μs/call\n\
             4. futex: 99999999999999999999\n\
             5. open: 9e30 s - 3 calls\n",
        );
        assert_eq!(calls(&out), [(None, "read", 1000, Some(1_000_000))]);
        assert_eq!(out.notes.len(), 1);
        assert!(out.notes[0].contains("lines 2, 3, 4 and 1 more"), "{}", out.notes[0]);
    }
}
