//! Checks that socket options apply to their workload and are in range.

use std::ops::{Range, RangeInclusive};

use units::{Bytes, Nanos};
use workload::{SocketSettings, Transport};

use super::{limits, refuse};
use crate::{
    diagnosis::Problem,
    document::{Spanned, WorkloadTable},
    factor,
};

const CONGESTION_DEFAULT: &str = "cubic";
/// The range accepted by TCP_MAXSEG: `TCP_MIN_MSS` to `MAX_TCP_WINDOW` (include/net/tcp.h).
const MSS: RangeInclusive<u32> = 88..=32_767;
/// The range of buffer sizes that kernels grant, about 2 KiB to 1 GiB.
const WINDOW: RangeInclusive<u64> = 2 << 10..=1 << 30;
const DSCP: RangeInclusive<u8> = 0..=63;
const BUSY_POLL: RangeInclusive<u64> = 1000..=1_000_000_000;

pub(super) fn settings(
    table: &WorkloadTable,
    transport: Transport,
    problems: &mut Vec<Problem>,
) -> SocketSettings {
    problems.extend(number_out_of(&table.mss, "segment", &MSS));
    problems.extend(number_out_of(&table.dscp, "code point", &DSCP));
    problems.extend(number_out_of(&table.source_port, "port", &(1..=u16::MAX)));
    SocketSettings {
        congestion: congestion(table, transport, problems),
        mss: table.mss.as_deref().copied(),
        window: table.window.as_ref().map(|_| window(table, problems)),
        dscp: table.dscp.as_deref().copied(),
        nodelay: table.nodelay.as_deref().copied(),
        source_port: table.source_port.as_deref().copied(),
        server_port: None,
        busy_poll: busy_poll(table, problems),
    }
}

pub(in crate::check) fn not_congestion(word: &str, place: Range<usize>) -> Option<Problem> {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let valid = !word.is_empty() && word.len() < 16 && word.chars().all(part);
    let message = format!("`{word}` is not a valid congestion control name");
    (!valid).then(|| Problem::new(place, message, "invalid name").help("write e.g. `cubic`, `bbr` or `reno`"))
}

fn congestion(table: &WorkloadTable, transport: Transport, problems: &mut Vec<Problem>) -> Option<String> {
    if transport == Transport::Udp {
        refuse(&table.congestion, "congestion", "UDP has no congestion control", problems);
        refuse(&table.mss, "mss", "UDP has no segments; `message` sets the datagram size", problems);
        refuse(&table.nodelay, "nodelay", "UDP does not delay packets", problems);
        return None;
    }
    let Some(written) = &table.congestion else { return Some(CONGESTION_DEFAULT.to_owned()) };
    problems.extend(not_congestion(written, written.span()));
    factor::congestion(written)
}

fn window(table: &WorkloadTable, problems: &mut Vec<Problem>) -> Bytes {
    let size = limits::size_or(&table.window, Bytes(0));
    if let Some(written) = table.window.as_ref().filter(|_| !WINDOW.contains(&size.0)) {
        let problem =
            Problem::new(written.span(), format!("a buffer of {size} is out of range"), "out of range");
        problems.push(problem.help("use 2KiB to 1GiB"));
    }
    size
}

fn busy_poll(table: &WorkloadTable, problems: &mut Vec<Problem>) -> Option<Nanos> {
    let written = table.busy_poll.as_ref()?;
    let time = written.0;
    if !BUSY_POLL.contains(&time.0) || time.0 % 1000 != 0 {
        let message = format!("a busy poll of {time} is not valid");
        let problem = Problem::new(written.span(), message, "not valid");
        problems.push(problem.help("use whole microseconds, from 1us to 1s"));
    }
    Some(time)
}

fn number_out_of<T: PartialOrd + std::fmt::Display>(
    written: &Option<Spanned<T>>,
    what: &str,
    range: &RangeInclusive<T>,
) -> Option<Problem> {
    let written = written.as_ref().filter(|written| !range.contains(written))?;
    let message = format!("a {what} of {written} is out of range");
    let help = format!("use {} to {}", range.start(), range.end());
    Some(Problem::new(written.span(), message, "out of range").help(help))
}
