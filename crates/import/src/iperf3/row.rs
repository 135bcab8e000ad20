//! A table row of iperf3, and the words after its rate.

use units::{Bytes, Nanos};

use super::figure::{Figure, bytes, rate};
use crate::imported_test::End;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) id: Id,
    pub(super) tag: Option<Tag>,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) transfer: Figure,
    pub(super) rate: Figure,
    pub(super) rest: Rest,
    pub(super) omitted: bool,
    /// The end that a summary row describes.
    pub(super) side: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    Sum,
    Stream(u32),
}

/// `[TX-C]`, `[RX-S]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) sends: bool,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Sender,
    Receiver,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rest {
    Nothing,
    /// A TCP sender's retransmitted segments, and its congestion window except in summaries.
    Segments {
        retransmits: u32,
        cwnd: Option<Bytes>,
    },
    Sent {
        datagrams: u64,
    },
    Received {
        jitter: Nanos,
        lost: i64,
        total: u64,
    },
}

impl Side {
    pub(super) const fn of(sends: bool) -> Self {
        if sends { Self::Sender } else { Self::Receiver }
    }
}

impl Row {
    pub(super) fn parse<'a>(
        id: Id,
        tag: Option<Tag>,
        start: Nanos,
        end: Nanos,
        mut words: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let transfer = bytes(words.next()?, words.next()?)?;
        let rate = rate(words.next()?, words.next()?)?;
        // Authors add remarks to rows: `receiver  <-- slow`.
        let is_remark = |word: &&str| word.starts_with(['<', '←', '#']) || *word == "//";
        let mut left: Vec<&str> = words.take_while(|word| !is_remark(word)).take(8).collect();
        let side = match left.last() {
            Some(&"sender") => Some(Side::Sender),
            Some(&"receiver") => Some(Side::Receiver),
            _ => None,
        };
        left.truncate(left.len() - usize::from(side.is_some()));
        let omitted = left.last() == Some(&"(omitted)");
        left.truncate(left.len() - usize::from(omitted));
        let rest = rest(&left)?;
        (end >= start).then_some(Self { id, tag, start, end, transfer, rate, rest, omitted, side })
    }
}

fn rest(words: &[&str]) -> Option<Rest> {
    match *words {
        [] => Some(Rest::Nothing),
        [number] => number.parse().ok().map(|datagrams| Rest::Sent { datagrams }),
        [retransmits, number, unit] if unit.ends_with("Bytes") => {
            let cwnd = bytes(number, unit)?;
            let cwnd = Some(Bytes(cwnd.value.round() as u64));
            Some(Rest::Segments { retransmits: retransmits.parse().ok()?, cwnd })
        }
        // Without datagrams, the percentage is `(nan%)`. A line without a percentage is truncated.
        [jitter, "ms", counts, share] if share.starts_with('(') && share.ends_with(')') => {
            let jitter = jitter.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0)?;
            let (lost, total) = counts.split_once('/')?;
            let jitter = Nanos((jitter * 1e6).round() as u64);
            Some(Rest::Received { jitter, lost: lost.parse().ok()?, total: total.parse().ok()? })
        }
        _ => None,
    }
}
