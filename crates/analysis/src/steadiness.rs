//! Uncertainty and level shifts of a rate, from one trial's intervals.

use findings::{LevelShift, Spread};
pub(crate) use stats::stationarity::Stationarity;
use stats::{levels::Level, stationarity};
use units::Nanos;

use crate::{
    compare::{self, CONFIDENCE},
    series::Series,
};

/// Returns `None` if there are too few intervals, if the rate jumped and thus has no single level, or if the interval
/// excludes `rate`, the rate of all data. The last happens if the series drops intervals with an unusual rate.
pub(crate) fn spread(series: &Series, rate: f64) -> Option<Spread> {
    let rates = &series.rates;
    if !shifts(series).is_empty() {
        return None;
    }
    // An interval that includes zero says nothing about a rate.
    let interval = stats::series::mean_estimate(rates, CONFIDENCE)?.interval.filter(|it| it.low > 0.0)?;
    if !(interval.low..=interval.high).contains(&rate) {
        return None;
    }
    Some(Spread {
        interval: compare::named(interval),
        end: series.of.to_owned(),
        intervals: u32::try_from(rates.len()).unwrap_or(u32::MAX),
        length: series.length,
        worth: rates.len() as f64 / stats::series::inflation(rates)?.max(1.0),
    })
}

pub(crate) fn stationarity(series: &Series) -> Stationarity {
    stationarity::stationarity(&series.rates).unwrap_or(Stationarity::Steady)
}

pub(crate) fn shifts(series: &Series) -> Vec<LevelShift> {
    let Stationarity::Levels(levels) = stationarity(series) else { return Vec::new() };
    let shift = |pair: &[Level]| LevelShift {
        at: Nanos(series.length.0 * pair[1].start as u64),
        before: pair[0].value,
        after: pair[1].value,
    };
    levels.windows(2).map(shift).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Nanos = Nanos::from_millis(100);

    fn of(rates: &[f64]) -> Series {
        Series { of: "receiver", length: TENTH, rates: rates.to_vec() }
    }

    fn about(level: f64, n: usize) -> Vec<f64> {
        (0..n).map(|index| level * if index % 2 == 0 { 0.99 } else { 1.01 }).collect()
    }

    #[test]
    fn steady_rate_has_interval_and_no_shift() {
        let steady = of(&about(10e9, 20));
        let spread = spread(&steady, 10e9).expect("twenty are enough");
        assert!(spread.interval.low > 9.8e9 && spread.interval.high < 10.2e9, "{spread:?}");
        assert_eq!((spread.intervals, spread.length, shifts(&steady)), (20, TENTH, Vec::new()));
        assert_eq!(super::spread(&steady, 12e9), None, "other data had another rate");
    }

    #[test]
    fn level_shift_gives_no_interval() {
        let jumped = of(&[about(12.6e9, 32), about(20e9, 30)].concat());
        let found = shifts(&jumped);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].at, Nanos::from_millis(3200));
        assert!(found[0].before < 13e9 && found[0].after > 19e9, "{found:?}");
        assert_eq!(spread(&jumped, 16e9), None);
    }

    #[test]
    fn too_few_intervals_give_no_result() {
        assert_eq!(spread(&of(&about(1e9, 5)), 1e9), None);
        assert_eq!(spread(&of(&[]), 0.0), None);
    }
}
