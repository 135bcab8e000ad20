//! The intervals of the document: as long as asked for, made of finer samples.

use load::Direction;
use samples::Interval as Sample;
use units::Nanos;
use wire::iperf3::output::{Interval, Measure};

use super::{Facts, Stream, measures};

/// Every interval of every stream, as this end saw it.
pub(super) fn intervals(facts: &Facts<'_>, streams: &[Stream<'_>]) -> Vec<Interval> {
    let measured: Vec<Vec<Measure>> = streams.iter().map(|stream| of(facts, stream)).collect();
    let longest = measured.iter().map(Vec::len).max().unwrap_or(0);
    let both = facts.load.direction == Direction::Both;
    let at = |place: usize| {
        let present = || streams.iter().zip(&measured).filter_map(move |(s, m)| Some((s, m.get(place)?)));
        let sum = |direction: Direction| {
            let of_it = present().filter(|(stream, _)| stream.direction == direction);
            measures::sum(&of_it.map(|(_, measure)| *measure).collect::<Vec<_>>())
        };
        let reverse = sum(Direction::Reverse);
        Interval {
            streams: present().map(|(_, measure)| *measure).collect(),
            sum: sum(Direction::Forward).or(reverse),
            sum_bidir_reverse: reverse.filter(|_| both),
        }
    };
    (0..longest).map(at).collect()
}

fn of(facts: &Facts<'_>, stream: &Stream<'_>) -> Vec<Measure> {
    let rows = together(&stream.here.intervals, facts.every, facts.load.interval);
    let measure = |row| measures::interval(row, stream.socket, stream.sends, facts.load.warmup);
    rows.iter().map(measure).collect()
}

/// Samples put together to intervals; what is left out of the result never with what is not. A rest shorter
/// than half a sample joins the last.
fn together(samples: &[Sample], every: Nanos, sample: Nanos) -> Vec<Sample> {
    let mut rows: Vec<Sample> = Vec::new();
    let mut open = false;
    for (place, next) in samples.iter().enumerate() {
        let rest = place + 1 == samples.len() && (next.end - next.start).0 < sample.0 / 2;
        match rows.last_mut().filter(|row| (open || rest) && row.warmup == next.warmup) {
            Some(row) => *row = row.and(next),
            None => rows.push(*next),
        }
        let row = rows.last().expect("one was pushed");
        // A sample ends a little early or late.
        let number = |at: Nanos| (at.0 + sample.0 / 2).checked_div(every.0).unwrap_or(0);
        open = number(row.start) == number(row.end);
    }
    rows
}
