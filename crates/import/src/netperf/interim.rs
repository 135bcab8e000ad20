//! Reads interim results (`-D`): `4346.81 10^6bits/s over 0.222 seconds ending at 1795284168.265`.

use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Flow, Interval, Measurement, Quantity, StreamData};

use crate::{
    format::{Line, Out},
    quantity::leading_number,
    series::Series,
    unit::unit,
};

#[derive(Debug, Default)]
pub(super) struct Interim {
    series: Series,
    end: u64,
    warned: bool,
}

impl Interim {
    pub(super) fn line(&mut self, text: &str, line: &Line<'_>, out: &mut Out) {
        match interim(text).filter(|_| line.whole) {
            Some((bits, seconds)) => self.push(bits, seconds),
            None if text.contains("Trans/s") => {}
            None if self.warned => {}
            None => {
                self.warned = true;
                out.note(format!("netperf: skipped an invalid interim result in line {}.", line.number));
            }
        }
    }

    pub(super) fn take(&mut self) -> Option<Self> {
        (self.series.len() > 0).then(|| std::mem::take(self))
    }

    pub(super) fn measurement(self, direction: Direction, received: f64, seconds: f64) -> Measurement {
        let printed = EndSeries { intervals: self.series.into_intervals(), ..EndSeries::default() };
        let whole = interval(0, seconds, received);
        let flow = if direction == Direction::Reverse {
            Flow { id: 0, direction, sender: EndSeries::default(), receiver: printed }
        } else {
            let receiver = EndSeries { intervals: vec![whole], ..EndSeries::default() };
            Flow { id: 0, direction, sender: printed, receiver }
        };
        Measurement::Stream(StreamData { flows: vec![flow] })
    }

    fn push(&mut self, bits: f64, seconds: f64) {
        let interval = interval(self.end, seconds, bits);
        self.end = interval.end.0;
        self.series.push(interval);
        if self.series.len() > crate::series::MOST {
            self.series.halve();
        }
    }
}

fn interval(start: u64, seconds: f64, bits: f64) -> Interval {
    Interval {
        start: Nanos(start),
        end: Nanos(start.saturating_add((seconds * 1e9).round() as u64)),
        bytes: Bytes((bits * seconds / 8.0).round() as u64),
        warmup: false,
        tcp: None,
        datagrams: None,
    }
}

/// Returns bits per second, and the duration in seconds.
fn interim(text: &str) -> Option<(f64, f64)> {
    let (rate, rest) = text.split_once(" over ")?;
    let (seconds, _) = rest.split_once(" seconds")?;
    let (number, written) = leading_number(rate)?;
    let unit = unit(written).filter(|unit| unit.quantity == Quantity::BitRate)?;
    let (seconds, rest) = leading_number(seconds)?;
    let bits = number * unit.factor;
    let plausible = (0.0..1e16).contains(&bits) && (1e-6..1e6).contains(&seconds) && rest.is_empty();
    plausible.then_some((bits, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_interim_results() {
        assert_eq!(
            interim("4346.81 10^6bits/s over 0.222 seconds ending at 1795284168.265"),
            Some((4_346.81e6, 0.222))
        );
        for text in [
            "4346.81 Trans/s over 0.222 seconds ending at 1",
            "nan 10^6bits/s over 0.222 seconds ending at 1",
            "1.0 10^6bits/s over -1 seconds ending at 1",
            "1e300 10^6bits/s over 1 seconds ending at 1",
            "1.0 10^6bits/s over",
        ] {
            assert_eq!(interim(text), None, "{text}");
        }
    }
}
