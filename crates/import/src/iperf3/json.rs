//! Parses iperf3's JSON: the document of `--json`, or the events of `--json-stream` (one document each).
//!
//! Parses one interval at a time, so memory use is close to the size of the text.

mod facts;
mod measure;
mod reading;

use std::ops::RangeInclusive;

use codecs::iperf3::output::{End as Summary, Interval, Output, Start};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::reading::Reading;
use crate::{
    document::Document,
    format::{Claim, Out},
    places,
};

#[derive(Debug, Default)]
pub(crate) struct Json {
    events: Option<Events>,
}

#[derive(Debug)]
struct Events {
    first: u64,
    last: u64,
    reading: Reading,
    end: Option<Summary>,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    start: Option<&'a RawValue>,
    #[serde(borrow)]
    intervals: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    end: Option<&'a RawValue>,
    error: Option<String>,
    #[serde(borrow)]
    server_output_json: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl Document for Json {
    fn read(&mut self, text: &str, lines: RangeInclusive<u64>, out: &mut Out) -> Claim {
        let Ok(parts) = serde_json::from_str::<Parts<'_>>(text) else { return Claim::Declined };
        if let (Some(event), Some(data)) = (parts.event, parts.data) {
            return self.event(event.get().trim_matches('"'), data, &lines, out);
        }
        // iperf3's documents have these keys, even if the test failed immediately. flent's do not.
        if parts.start.is_none() || (parts.intervals.is_none() && parts.end.is_none()) {
            return Claim::Declined;
        }
        self.finish(out);
        document(&parts, &lines, out);
        Claim::Claimed
    }

    fn end(&mut self, out: &mut Out) {
        self.finish(out);
    }
}

impl Json {
    fn event(&mut self, event: &str, data: &RawValue, lines: &RangeInclusive<u64>, out: &mut Out) -> Claim {
        if event == "start" {
            self.finish(out);
            let Some(start) = start(data) else { return Claim::Declined };
            let (first, last) = (*lines.start(), *lines.end());
            self.events = Some(Events { first, last, reading: Reading::new(start), end: None });
            return Claim::Claimed;
        }
        let Some(events) = &mut self.events else {
            return if event == "interval" || event == "end" { Claim::Claimed } else { Claim::Declined };
        };
        events.last = *lines.end();
        match event {
            "interval" => match interval(data) {
                Some(interval) => events.reading.interval(&interval),
                None => out.note(format!("line {}: cannot parse this interval", lines.start())),
            },
            "end" => events.end = end(data),
            "error" => {
                let error = data.get().trim_matches('"').chars().take(200).collect::<String>();
                out.note(format!("line {}: iperf3 reported \"{error}\"", lines.start()));
            }
            "server_output_json" => {
                if let Ok(parts) = serde_json::from_str::<Parts<'_>>(data.get()) {
                    test(&parts, lines, out);
                }
            }
            _ => {}
        }
        Claim::Claimed
    }

    fn finish(&mut self, out: &mut Out) {
        let Some(Events { first, last, reading, end }) = self.events.take() else { return };
        hand_on(reading, end, &(first..=last), out);
    }
}

fn document(parts: &Parts<'_>, lines: &RangeInclusive<u64>, out: &mut Out) {
    test(parts, lines, out);
    let of_server = parts.server_output_json.map(|raw| serde_json::from_str::<Parts<'_>>(raw.get()));
    if let Some(Ok(of_server)) = of_server {
        test(&of_server, lines, out);
    }
}

fn test(parts: &Parts<'_>, lines: &RangeInclusive<u64>, out: &mut Out) {
    let place = places::lines(lines);
    let Some(start) = parts.start.and_then(start) else {
        return out.note(format!("{place}: skipped this JSON document: cannot parse `start`"));
    };
    if let Some(error) = &parts.error {
        let error = error.chars().take(200).collect::<String>();
        out.note(format!("{place}: iperf3 says \"{error}\""));
    }
    let mut reading = Reading::new(start);
    let intervals = parts.intervals.as_deref().unwrap_or_default();
    let unread = intervals
        .iter()
        .filter(|raw| {
            interval(raw).is_none_or(|interval| {
                reading.interval(&interval);
                false
            })
        })
        .count();
    if unread > 0 {
        out.note(format!("{place}: skipped {unread} unreadable intervals of this document"));
    }
    hand_on(reading, parts.end.and_then(end), lines, out);
}

fn hand_on(reading: Reading, end: Option<Summary>, lines: &RangeInclusive<u64>, out: &mut Out) {
    let place = places::lines(lines);
    let outcome = reading.finish(&end.unwrap_or_default(), lines.clone());
    outcome.notes.iter().for_each(|note| out.note(format!("{place}: {note}")));
    if let Some(found) = outcome.found {
        out.found(found);
    }
}

fn interval(raw: &RawValue) -> Option<Interval> {
    part("intervals", &format!("[{}]", raw.get()))?.intervals.into_iter().next()
}

fn start(raw: &RawValue) -> Option<Start> {
    Some(part("start", raw.get())?.start)
}

fn end(raw: &RawValue) -> Option<Summary> {
    Some(part("end", raw.get())?.end)
}

fn part(key: &str, value: &str) -> Option<Output> {
    Output::parse(&format!("{{\"{key}\":{value}}}")).ok()
}
