//! The plumb extension of iperf3's results: all intervals, and the CPU time of each thread. Received records that the
//! test could not have produced are rejected.

use std::{
    fmt,
    io::{self, Write},
};

use codecs::iperf3::{PlannedStream, Unread};
use samples::ThreadCpu;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, SeqAccess, Visitor},
};
use traffic::StreamOutcome;
use workload::{DatagramSample, Direction, FlowEnd, Interval, StreamEnd};

pub(super) const LONGEST: usize = 4 << 20;

const VERSION: u32 = 1;
const FLOWS: usize = 256;
/// The maximum number of intervals over all connections. Each takes a few hundred bytes, so a record of at most
/// [`LONGEST`] bytes cannot reach this number.
const INTERVALS: usize = 50_000;
/// The maximum value of any count, size or duration in an interval, so that sums cannot overflow. For durations, this
/// is 39 hours in nanoseconds.
const MOST: u64 = 1 << 47;

#[derive(Serialize)]
struct SentRecord<'a> {
    version: u32,
    flows: &'a [FlowEnd],
    threads: &'a [ThreadCpu],
}

#[derive(Deserialize)]
struct ReceivedRecord {
    version: u32,
    #[serde(deserialize_with = "few")]
    flows: Vec<FlowEnd>,
    threads: Vec<ThreadCpu>,
}

/// Returns `None` without building the text if it would exceed `limit`.
pub(crate) fn encode(outcome: &StreamOutcome, limit: usize) -> Option<Unread> {
    let record = SentRecord { version: VERSION, flows: &outcome.measured.flows, threads: &outcome.threads };
    let mut text = Bounded { bytes: Vec::new(), limit };
    serde_json::to_writer(&mut text, &record).ok()?;
    Unread::new(String::from_utf8(text.bytes).ok()?)
}

/// Returns `None` if this version of plumb could not have sent the record for the given plan.
pub(crate) fn decode(record: &Unread, plan: &[PlannedStream]) -> Option<StreamOutcome> {
    // Plumb's records contain no escapes. Others could use them to send escape sequences to a terminal.
    if record.text().len() > LONGEST || record.text().contains(|sign: char| sign == '\\' || sign.is_control())
    {
        return None;
    }
    let ReceivedRecord { version, flows, threads } = serde_json::from_str(record.text()).ok()?;
    let planned = |direction| plan.iter().filter(|planned| planned.direction == direction).count();
    let many = |direction| flows.iter().filter(|flow| flow.direction == direction).count();
    let of_plan = [Direction::Forward, Direction::Reverse, Direction::Both]
        .into_iter()
        .all(|direction| many(direction) <= planned(direction));
    let intervals: usize = flows.iter().map(|flow| flow.series.intervals.len()).sum();
    let possible = flows.iter().flat_map(|flow| &flow.series.intervals).all(is_possible);
    if version != VERSION || !of_plan || intervals > INTERVALS || threads.len() > 2 * plan.len() || !possible
    {
        return None;
    }
    Some(StreamOutcome { measured: StreamEnd { flows }, threads })
}

fn is_possible(interval: &Interval) -> bool {
    let DatagramSample { count, lost, reordered, duplicates, strays, .. } =
        interval.datagrams.unwrap_or_default();
    let numbers =
        [interval.end.0, interval.bytes.0, count, lost.unsigned_abs(), reordered, duplicates, strays];
    interval.start <= interval.end && numbers.into_iter().all(|number| number <= MOST)
}

fn few<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<FlowEnd>, D::Error> {
    struct Few;
    impl<'de> Visitor<'de> for Few {
        type Value = Vec<FlowEnd>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {FLOWS} connections")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
            let mut flows = Vec::new();
            while let Some(flow) = sequence.next_element()? {
                if flows.len() == FLOWS {
                    return Err(A::Error::custom("more connections than a test has"));
                }
                flows.push(flow);
            }
            Ok(flows)
        }
    }
    from.deserialize_seq(Few)
}

struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};
    use workload::{EndSeries, LatencyHistogram};

    use super::*;

    const PLAN: [PlannedStream; 1] = [PlannedStream { id: 1, direction: Direction::Reverse }];

    fn outcome() -> StreamOutcome {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos(5),
            bytes: Bytes(7),
            warmup: false,
            tcp: None,
            datagrams: None,
        };
        let lateness = Some(LatencyHistogram::new());
        let series = EndSeries { intervals: vec![interval], lateness, ..EndSeries::default() };
        let flows = vec![FlowEnd { id: 2, direction: Direction::Reverse, series }];
        StreamOutcome { measured: StreamEnd { flows }, ..StreamOutcome::default() }
    }

    #[test]
    fn decodes_encoded_record() {
        let record = encode(&outcome(), LONGEST).expect("short");
        assert_eq!(decode(&record, &PLAN), Some(outcome()));
    }

    #[test]
    fn omits_long_records_and_other_versions() {
        assert_eq!(encode(&outcome(), 100), None);
        let record = encode(&outcome(), LONGEST).expect("short");
        for text in [record.text().replace("\"version\":1", "\"version\":2"), "null".to_owned()] {
            assert_eq!(decode(&Unread::new(text).expect("JSON"), &PLAN), None);
        }
    }

    #[test]
    fn stops_encoding_at_the_limit() {
        let mut long = Bounded { bytes: Vec::new(), limit: 100 };
        assert!(serde_json::to_writer(&mut long, &vec![7; 1 << 20]).is_err());
        assert!(long.bytes.len() <= 100);
    }

    #[test]
    fn rejects_terminal_escapes() {
        let text = encode(&outcome(), LONGEST).expect("short").text().to_owned();
        for name in ["\\u001b[2J", "\u{9b}2J"] {
            let text = text.replacen("\"congestion\":null", &format!("\"congestion\":\"{name}\""), 1);
            assert!(text.contains(name), "{text}");
            assert_eq!(decode(&Unread::new(text).expect("JSON"), &PLAN), None);
        }
    }

    #[test]
    fn rejects_more_data_than_the_test_can_have() {
        let record = encode(&outcome(), LONGEST).expect("short");
        let forward = [PlannedStream { direction: Direction::Forward, ..PLAN[0] }];
        assert_eq!(decode(&record, &forward), None, "wrong direction");
        assert_eq!(decode(&record, &[]), None, "more connections");
        let text = record.text();
        let (flow, end) =
            (text.find("[{").expect("flows") + 1, text.find("}],\"threads").expect("threads") + 1);
        let many = vec![&text[flow..end]; FLOWS + 1].join(",");
        let many = format!("{}{many}{}", &text[..flow], &text[end..]);
        let read = serde_json::from_str::<ReceivedRecord>(&many).err().expect("too many").to_string();
        assert!(read.contains("more connections"), "{read}");
        let mut long = outcome();
        long.measured.flows[0].series.intervals =
            vec![outcome().measured.flows[0].series.intervals[0]; INTERVALS + 1];
        assert_eq!(decode(&encode(&long, usize::MAX).expect("no limit"), &PLAN), None, "more intervals");
    }
    #[test]
    fn rejects_impossible_numbers() {
        let with = |change: &dyn Fn(&mut Interval)| {
            let mut outcome = outcome();
            change(&mut outcome.measured.flows[0].series.intervals[0]);
            decode(&encode(&outcome, LONGEST).expect("short"), &PLAN)
        };
        let datagrams = |sample| move |interval: &mut Interval| interval.datagrams = Some(sample);
        let none = DatagramSample::default();
        assert!(with(&|interval| interval.bytes = Bytes(MOST)).is_some());
        assert_eq!(with(&|interval| interval.bytes = Bytes(u64::MAX)), None);
        assert_eq!(with(&|interval| interval.end = Nanos(u64::MAX)), None);
        assert_eq!(with(&|interval| interval.start = Nanos(6)), None, "the interval ends at 5");
        for sample in [
            DatagramSample { count: u64::MAX, ..none },
            DatagramSample { lost: i64::MIN, ..none },
            DatagramSample { reordered: u64::MAX, ..none },
            DatagramSample { duplicates: u64::MAX, ..none },
            DatagramSample { strays: u64::MAX, ..none },
        ] {
            assert_eq!(with(&datagrams(sample)), None, "{sample:?}");
        }
    }
}
