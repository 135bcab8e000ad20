//! Converts measures in iperf3's JSON.

use codecs::iperf3::output::Measure;
use units::{Bytes, Nanos};
use workload::{DatagramSample, Interval, TcpSample};

/// The limits are 30 years and an exabyte. Larger values mean a damaged log.
const LONGEST: f64 = 1e9;
const MOST_BYTES: i64 = 1 << 60;

pub(super) fn interval(measure: &Measure) -> Option<Interval> {
    let sensible = |seconds: f64| seconds.is_finite() && (0.0..LONGEST).contains(&seconds);
    let nanos = |seconds: f64| Nanos((seconds * 1e9).round() as u64);
    let fits = sensible(measure.start) && sensible(measure.end) && measure.end > measure.start;
    if !fits || !(0..MOST_BYTES).contains(&measure.bytes) {
        return None;
    }
    let counted = measure.retransmits.is_some() || measure.snd_cwnd.is_some() || measure.rtt.is_some();
    Some(Interval {
        start: nanos(measure.start),
        end: nanos(measure.end),
        bytes: Bytes(measure.bytes.cast_unsigned()),
        warmup: measure.omitted == Some(true),
        tcp: counted.then(|| tcp(measure)),
        datagrams: if measure.jitter_ms.is_some() { received_datagrams(measure) } else { sent_of(measure) },
    })
}

fn tcp(measure: &Measure) -> TcpSample {
    let number = |value: Option<i64>| value.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    let micros = |value: Option<i64>| Nanos(number(value).saturating_mul(1000));
    TcpSample {
        retransmits: u32::try_from(number(measure.retransmits)).unwrap_or(u32::MAX),
        cwnd: Bytes(number(measure.snd_cwnd)),
        rtt: micros(measure.rtt),
        rtt_variation: micros(measure.rttvar),
        reorderings: u32::try_from(number(measure.reorder)).unwrap_or(u32::MAX),
        ..TcpSample::default()
    }
}

pub(super) fn sent_of(measure: &Measure) -> Option<DatagramSample> {
    let count = u64::try_from(measure.packets?).ok()?;
    Some(DatagramSample { count, ..DatagramSample::default() })
}

pub(super) fn received_datagrams(measure: &Measure) -> Option<DatagramSample> {
    let (all, lost) = (measure.packets?, measure.lost_packets?);
    let jitter = measure.jitter_ms.filter(|it| it.is_finite() && (0.0..1e9).contains(it))?;
    Some(DatagramSample {
        count: u64::try_from(all.checked_sub(lost)?).unwrap_or(0),
        lost,
        reordered: measure.out_of_order.and_then(|it| u64::try_from(it).ok()).unwrap_or(0),
        duplicates: 0,
        strays: 0,
        jitter: Nanos((jitter * 1e6).round() as u64),
    })
}
