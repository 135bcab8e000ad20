//! Workloads: settings of the right kind and in range, and every default.

use std::ops::{Range, RangeInclusive};

use load::{Direction, Load, PingPongLoad, Placement, SocketSettings, StreamLoad, Transport, Until};
use toml::Spanned;
use units::{Bytes, Nanos};

use crate::{
    diagnosis::Problem,
    document::{DirectionWord, Document, Entry, KindWord, PlacementWord, TransportWord, WorkloadTable},
    names::{PathName, WorkloadName},
    workload::Workload,
};

/// What a stream may have of parallel connections.
pub(super) const STREAMS: RangeInclusive<u32> = 1..=1024;
/// What one write or read of a stream may have.
pub(super) const STREAM_MESSAGE: RangeInclusive<u64> = 1..=16 << 20;
/// What a ping-pong's message may have: enough for a sequence number, and no more than a datagram (65535 bytes less
/// the headers of IPv4 and UDP).
pub(super) const PING_PONG_MESSAGE: RangeInclusive<u64> = 16..=65_507;

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);
const INTERVAL: Nanos = Nanos::from_millis(100);
const STREAM_MESSAGE_DEFAULT: Bytes = Bytes(128 << 10);
const PING_PONG_MESSAGE_DEFAULT: Bytes = Bytes(64);
const CONGESTION_DEFAULT: &str = "cubic";
const LONGEST: Nanos = Nanos::from_secs(3600);
const LEAST_INTERVAL: Nanos = Nanos::from_millis(10);

/// The workloads of the document.
pub(crate) fn workloads(document: &Document) -> Result<Vec<Workload>, Vec<Problem>> {
    let mut problems = Vec::new();
    let workloads = document.workloads.iter().map(|entry| workload(document, entry, &mut problems)).collect();
    if problems.is_empty() { Ok(workloads) } else { Err(problems) }
}

fn workload(document: &Document, entry: &Entry<WorkloadTable>, problems: &mut Vec<Problem>) -> Workload {
    let table = &entry.table;
    times(table, problems);
    problems.extend(without_baseline(document, entry));
    let load = match table.kind.get_ref() {
        KindWord::Stream => Load::Stream(stream(table, problems)),
        KindWord::PingPong => Load::PingPong(ping_pong(table, problems)),
    };
    Workload {
        name: WorkloadName::new(entry.name()),
        load,
        placement: table.placement.map_or(Placement::Free, Placement::from),
        paths: paths(document, table),
    }
}

/// The paths that it runs on, in the order of the document.
fn paths(document: &Document, table: &WorkloadTable) -> Vec<PathName> {
    let wanted =
        |name: &&str| table.paths.is_empty() || table.paths.iter().any(|path| path.get_ref() == name);
    document.paths.names().filter(wanted).map(PathName::new).collect()
}

fn without_baseline(document: &Document, entry: &Entry<WorkloadTable>) -> Option<Problem> {
    let is_baseline = |mark: &Option<Spanned<bool>>| mark.as_ref().is_some_and(|mark| *mark.get_ref());
    let baseline = document.paths.iter().find(|path| is_baseline(&path.table.baseline))?.name();
    let listed = &entry.table.paths;
    let place = listed.first()?.span().start..listed.last()?.span().end;
    let message = format!("`{}` does not run on the baseline path `{baseline}`", entry.name());
    let help = format!("add `{baseline}`: results are shown as a share of it");
    let missing = listed.iter().all(|path| path.get_ref() != baseline);
    missing.then(|| Problem::new(place, message, "without the baseline").help(help))
}

fn stream(table: &WorkloadTable, problems: &mut Vec<Problem>) -> StreamLoad {
    refuse(&table.transport, "transport", "a stream is always TCP", problems);
    let streams = table.streams.as_ref().map_or(1, |streams| *streams.get_ref());
    if let Some(streams) = table.streams.as_ref().filter(|streams| !STREAMS.contains(streams.get_ref())) {
        problems.push(streams_out_of_range(*streams.get_ref(), streams.span()));
    }
    let until = match (&table.bytes, &table.duration) {
        (Some(bytes), Some(_)) => {
            let message = "a stream ends after a duration or after a number of bytes, not both";
            problems
                .push(Problem::new(bytes.span(), message, "one too many").help("take one of the two out"));
            Until::Elapsed(DURATION)
        }
        (Some(bytes), None) => Until::Sent(some_bytes(bytes.get_ref().0, bytes.span(), problems)),
        (None, duration) => Until::Elapsed(duration.as_ref().map_or(DURATION, |time| time.get_ref().0)),
    };
    if table.bytes.is_some() {
        refuse(&table.warmup, "warmup", "a stream of so many bytes has no warm-up", problems);
    }
    let warmup = match until {
        Until::Elapsed(_) => table.warmup.as_ref().map_or(WARMUP, |time| time.get_ref().0),
        Until::Sent(_) => Nanos(0),
    };
    StreamLoad {
        streams,
        direction: table
            .direction
            .as_ref()
            .map_or(Direction::Forward, |word| Direction::from(*word.get_ref())),
        warmup,
        message: message(table, STREAM_MESSAGE_DEFAULT, STREAM_MESSAGE, problems),
        socket: SocketSettings { congestion: congestion(table, problems), ..SocketSettings::kernel() },
        interval: table.interval.as_ref().map_or(INTERVAL, |time| time.get_ref().0),
        ..StreamLoad::new(until)
    }
}

fn ping_pong(table: &WorkloadTable, problems: &mut Vec<Problem>) -> PingPongLoad {
    let why = "it is a setting of a stream, and this is a ping-pong";
    refuse(&table.streams, "streams", why, problems);
    refuse(&table.direction, "direction", why, problems);
    refuse(&table.bytes, "bytes", why, problems);
    refuse(&table.interval, "interval", why, problems);
    let transport = table.transport.as_ref().map_or(Transport::Udp, |word| Transport::from(*word.get_ref()));
    let congestion = match transport {
        Transport::Tcp => congestion(table, problems),
        Transport::Udp => {
            refuse(&table.congestion, "congestion", "UDP has no congestion control", problems);
            None
        }
    };
    let duration = table.duration.as_ref().map_or(DURATION, |time| time.get_ref().0);
    PingPongLoad {
        transport,
        message: message(table, PING_PONG_MESSAGE_DEFAULT, PING_PONG_MESSAGE, problems),
        warmup: table.warmup.as_ref().map_or(WARMUP, |time| time.get_ref().0),
        socket: SocketSettings { congestion, ..SocketSettings::kernel() },
        ..PingPongLoad::new(duration)
    }
}

fn refuse<T>(setting: &Option<Spanned<T>>, name: &str, why: &str, problems: &mut Vec<Problem>) {
    if let Some(setting) = setting {
        let message = format!("`{name}` has no effect here: {why}");
        problems.push(Problem::new(setting.span(), message, "no effect").help("take it out"));
    }
}

fn times(table: &WorkloadTable, problems: &mut Vec<Problem>) {
    let mut range = |time: &Option<Spanned<crate::document::As<Nanos>>>, least: Nanos, most: Nanos| {
        let Some(time) = time else { return };
        let value = time.get_ref().0;
        if value < least || value > most {
            let message = format!("a time of {value} is out of range");
            let help = format!("take one from {least} to {most}");
            problems.push(Problem::new(time.span(), message, "out of range").help(help));
        }
    };
    range(&table.duration, LEAST_INTERVAL, LONGEST);
    range(&table.warmup, Nanos(0), LONGEST);
    let duration = table.duration.as_ref().map_or(DURATION, |duration| duration.get_ref().0);
    range(&table.interval, LEAST_INTERVAL, duration.max(LEAST_INTERVAL));
}

fn some_bytes(bytes: Bytes, place: Range<usize>, problems: &mut Vec<Problem>) -> Bytes {
    if bytes.0 == 0 {
        problems.push(
            Problem::new(place, "a stream of 0 bytes measures nothing", "zero").help("write as in `10GB`"),
        );
    }
    bytes
}

fn message(
    table: &WorkloadTable,
    default: Bytes,
    range: RangeInclusive<u64>,
    problems: &mut Vec<Problem>,
) -> Bytes {
    let Some(message) = &table.message else { return default };
    problems.extend(message_out_of(&range, message.get_ref().0, message.span()));
    message.get_ref().0
}

/// What is wrong with a message of that size.
pub(super) fn message_out_of(
    range: &RangeInclusive<u64>,
    size: Bytes,
    place: Range<usize>,
) -> Option<Problem> {
    let problem = Problem::new(place, format!("a message of {size} is out of range"), "out of range");
    let help = format!("take one from {} to {} bytes", range.start(), range.end());
    (!range.contains(&size.0)).then(|| problem.help(help))
}

/// What is said of a number of streams outside [`STREAMS`].
pub(super) fn streams_out_of_range(streams: u32, place: Range<usize>) -> Problem {
    let problem = Problem::new(place, format!("{streams} streams are out of range"), "out of range");
    problem.help(format!("take {} to {}", STREAMS.start(), STREAMS.end()))
}

fn congestion(table: &WorkloadTable, problems: &mut Vec<Problem>) -> Option<String> {
    let Some(written) = &table.congestion else { return Some(CONGESTION_DEFAULT.to_owned()) };
    problems.extend(not_congestion(written.get_ref(), written.span()));
    crate::expand::congestion(written.get_ref())
}

/// What is wrong with a name of a congestion control (`TCP_CA_NAME_MAX` is 16, with the closing zero).
pub(super) fn not_congestion(word: &str, place: Range<usize>) -> Option<Problem> {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let valid = !word.is_empty() && word.len() < 16 && word.chars().all(part);
    let message = format!("`{word}` cannot be the name of a congestion control");
    (!valid).then(|| Problem::new(place, message, "this name").help("write as in `cubic`, `bbr` or `reno`"))
}

impl From<DirectionWord> for Direction {
    fn from(word: DirectionWord) -> Self {
        match word {
            DirectionWord::Forward => Self::Forward,
            DirectionWord::Reverse => Self::Reverse,
            DirectionWord::Both => Self::Both,
        }
    }
}

impl From<TransportWord> for Transport {
    fn from(word: TransportWord) -> Self {
        match word {
            TransportWord::Tcp => Self::Tcp,
            TransportWord::Udp => Self::Udp,
        }
    }
}

impl From<PlacementWord> for Placement {
    fn from(word: PlacementWord) -> Self {
        match word {
            PlacementWord::Free => Self::Free,
            PlacementWord::SameCpu => Self::SameCpu,
            PlacementWord::CrossCpu => Self::CrossCpu,
        }
    }
}
