//! Maps values to positions on an axis and chooses round tick values.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear {
        low: f64,
        high: f64,
    },
    Log {
        low: f64,
        high: f64,
    },
    /// Fractions of all samples, starting at 0. Each additional nine has the same width on the axis. With three
    /// `nines`, the scale ends at 99.9 %.
    Tail {
        nines: f64,
    },
}

impl Scale {
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let high = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        Self::Linear { low: 0.0, high: if high > 0.0 { high * 1.02 } else { 1.0 } }
    }

    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values).unwrap_or((0.0, 1.0));
        let room = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.1 };
        Self::Linear { low: low - room, high: high + room }
    }

    pub(crate) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values.into_iter().filter(|value| *value > 0.0)).unwrap_or((1.0, 10.0));
        Self::Log { low: low / 1.15, high: high * 1.15 }
    }

    pub(crate) fn place(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, high } => (value.max(low) / low).ln() / (high / low).ln(),
            Self::Tail { nines } => -(1.0 - value).max(1e-12).log10() / nines,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    pub(crate) fn ticks(self, about: usize) -> Vec<f64> {
        match self {
            Self::Linear { low, high } => linear(low, high, about),
            Self::Log { low, high } => log(low, high, about),
            Self::Tail { nines } => {
                let ends = (1..=12).map(|nine| 1.0 - 10_f64.powi(-nine));
                [0.0, 0.5].into_iter().chain(ends).filter(|share| -(1.0 - share).log10() <= nines).collect()
            }
        }
    }
}

fn bounds(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |bounds, value| {
        let (low, high) = bounds.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

fn linear(low: f64, high: f64, about: usize) -> Vec<f64> {
    let step = round_step((high - low) / about.max(1) as f64);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).take(100).map(|tick| tick as f64 * step).collect()
}

fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = |factor: &&f64| **factor * power >= least * 0.999;
    power * factors.iter().find(fits).copied().unwrap_or(10.0)
}

fn log(low: f64, high: f64, about: usize) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let among = |factors: &[f64]| -> Vec<f64> {
        let ticks = decades.clone().flat_map(|decade| factors.iter().map(move |it| it * 10_f64.powi(decade)));
        ticks.filter(|tick| (low..=high).contains(tick)).collect()
    };
    let [fine, middle, coarse] = [among(&[1.0, 2.0, 5.0]), among(&[1.0, 3.0]), among(&[1.0])];
    if fine.len() < 2 {
        linear(low, high, about)
    } else if fine.len() <= about {
        fine
    } else if middle.len() <= about {
        middle
    } else {
        coarse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: Scale, value: f64, place: f64) {
        assert!((scale.place(value) - place).abs() < 1e-6, "{scale:?} {value}: {}", scale.place(value));
    }

    #[test]
    fn maps_values_to_axis_positions() {
        check(Scale::Linear { low: 0.0, high: 20.0 }, 5.0, 0.25);
        check(Scale::Log { low: 1.0, high: 10_000.0 }, 100.0, 0.5);
        check(Scale::Tail { nines: 3.0 }, 0.9, 1.0 / 3.0);
        check(Scale::Tail { nines: 3.0 }, 0.999, 1.0);
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let place = Scale::from_zero([1.0, none]).place(none);
            assert!((0.0..=1.0).contains(&place), "{none}");
        }
    }

    #[test]
    fn ticks_are_round_and_inside_the_axis() {
        assert_eq!(Scale::Linear { low: 0.0, high: 33.7 }.ticks(5), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(Scale::Linear { low: -3.0, high: 3.0 }.ticks(4), [-2.0, 0.0, 2.0]);
        assert_eq!(Scale::Log { low: 8.0, high: 2000.0 }.ticks(4), [10.0, 100.0, 1000.0]);
        assert_eq!(Scale::Log { low: 8.0, high: 60.0 }.ticks(4), [10.0, 20.0, 50.0]);
        assert_eq!(Scale::Log { low: 36.0, high: 44.0 }.ticks(4), [36.0, 38.0, 40.0, 42.0, 44.0]);
        let tail = Scale::Tail { nines: 3.01 }.ticks(9);
        assert_eq!(tail.len(), 5, "{tail:?}");
    }
}
