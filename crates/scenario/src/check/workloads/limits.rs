//! Ranges of workload settings, and the errors for values outside them.

use std::ops::{Range, RangeInclusive};

use units::{BitRate, Bytes, Nanos};
use workload::{PingPongSettings, Transport, WorkloadSettings};

use crate::{
    diagnosis::Problem,
    document::{As, Spanned, WorkloadTable},
};

pub(in crate::check) const STREAMS: RangeInclusive<u32> = 1..=1024;
pub(in crate::check) const STREAM_MESSAGE: RangeInclusive<u64> = 1..=16 << 20;
/// The payload of a stream's datagram in bytes. It must hold a sequence number and, with the IPv4 and UDP
/// headers, fit 65535 bytes.
const DATAGRAMS: RangeInclusive<u64> = 16..=65_507;
/// The size of a ping-pong message in bytes. It must hold a sequence number, and the engine must support it.
pub(in crate::check) const MESSAGES: RangeInclusive<u64> = 16..=PingPongSettings::LARGEST.0;
pub(super) const EXCHANGE: RangeInclusive<u64> = 1..=16 << 20;

const LONGEST: Nanos = Nanos::from_secs(3600);
const LEAST_INTERVAL: Nanos = Nanos::from_millis(10);
const SLOWEST: BitRate = BitRate(1e3);
const FASTEST: BitRate = BitRate(1e12);

pub(super) fn times(table: &WorkloadTable, load: &WorkloadSettings, problems: &mut Vec<Problem>) {
    let duration = load.kind().lasts().unwrap_or(LONGEST);
    problems.extend(time_out_of(&table.duration, LEAST_INTERVAL, LONGEST));
    problems.extend(time_out_of(&table.warmup, Nanos(0), LONGEST));
    problems.extend(time_out_of(&table.interval, LEAST_INTERVAL, duration.max(LEAST_INTERVAL)));
}

pub(super) fn time_out_of(time: &Option<Spanned<As<Nanos>>>, least: Nanos, most: Nanos) -> Option<Problem> {
    let (value, place) = (time.as_ref()?.0, time.as_ref()?.span());
    let message = format!("a time of {value} is out of range");
    let help = format!("use {least} to {most}");
    (value < least || value > most).then(|| Problem::new(place, message, "out of range").help(help))
}

pub(super) fn size(
    written: &Option<Spanned<As<Bytes>>>,
    default: Bytes,
    range: &RangeInclusive<u64>,
    problems: &mut Vec<Problem>,
) -> Bytes {
    let Some(written) = written else { return default };
    problems.extend(message_out_of(range, written.0, written.span()));
    written.0
}

pub(super) fn size_or(written: &Option<Spanned<As<Bytes>>>, default: Bytes) -> Bytes {
    written.as_ref().map_or(default, |written| written.0)
}

pub(super) fn rate(written: &Option<Spanned<As<BitRate>>>, problems: &mut Vec<Problem>) -> Option<BitRate> {
    let written = written.as_ref()?;
    problems.extend(rate_out_of(written.0, written.span()));
    Some(written.0)
}

pub(super) fn count(written: &Option<Spanned<u32>>, what: &'static str, problems: &mut Vec<Problem>) -> u32 {
    let Some(written) = written else { return 1 };
    problems.extend(count_out_of(**written, what, written.span()));
    **written
}

pub(in crate::check) fn message_out_of(
    range: &RangeInclusive<u64>,
    size: Bytes,
    place: Range<usize>,
) -> Option<Problem> {
    let problem = Problem::new(place, format!("a message of {size} is out of range"), "out of range");
    let help = format!("use {} to {} bytes", range.start(), range.end());
    (!range.contains(&size.0)).then(|| problem.help(help))
}

pub(in crate::check) const fn stream_messages(transport: Transport) -> RangeInclusive<u64> {
    match transport {
        Transport::Tcp => STREAM_MESSAGE,
        Transport::Udp => DATAGRAMS,
    }
}

pub(in crate::check) fn rate_out_of(rate: BitRate, place: Range<usize>) -> Option<Problem> {
    let problem = Problem::new(place, format!("a rate of {rate} is out of range"), "out of range");
    let out = rate.0 < SLOWEST.0 || rate.0 > FASTEST.0;
    out.then(|| problem.help(format!("use {SLOWEST} to {FASTEST}")))
}

pub(in crate::check) fn count_out_of(count: u32, what: &str, place: Range<usize>) -> Option<Problem> {
    let problem = Problem::new(place, format!("{count} {what} are out of range"), "out of range");
    let help = format!("use {} to {}", STREAMS.start(), STREAMS.end());
    (!STREAMS.contains(&count)).then(|| problem.help(help))
}
