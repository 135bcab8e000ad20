//! An axis: a title with its unit, a scale and tick labels.

use workload::Metric;

use super::{
    lettering::{Style, width},
    scale::Scale,
    svg::{Anchor, Canvas, line_height},
};
use crate::quantity;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// The quantity and its unit, e.g. `throughput, Gbit/s`. Omits the unit if the tick labels have units.
    pub(crate) title: String,
    pub(crate) scale: Scale,
    pub(crate) ticks: Ticks,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ticks {
    In(f64),
    Quantity(Metric),
    Percent,
    Percentiles,
    Named(Vec<(f64, String)>),
}

impl Axis {
    pub(crate) fn of_metric(metric: Metric, scale: Scale, largest: f64) -> Self {
        Self::of_unit(metric.name(), quantity::Scale::of(metric, largest), scale)
    }

    pub(crate) fn of_unit(what: &str, unit: quantity::Scale, scale: Scale) -> Self {
        let title = if unit.unit.is_empty() { what.to_owned() } else { format!("{what}, {}", unit.unit) };
        Self { title, scale, ticks: Ticks::In(unit.divisor()) }
    }

    pub(crate) fn log(metric: Metric, what: &str, values: impl IntoIterator<Item = f64>) -> Self {
        Self { title: what.to_owned(), scale: Scale::log(values), ticks: Ticks::Quantity(metric) }
    }

    pub(super) fn labels(&self, about: usize) -> Vec<(f64, String)> {
        let labelled = |label: &dyn Fn(f64) -> String, ticks: Vec<f64>| {
            ticks.into_iter().map(|tick| (tick, label(tick))).collect()
        };
        match &self.ticks {
            Ticks::Named(named) => named.clone(),
            Ticks::In(divisor) => {
                let scaled = match self.scale {
                    Scale::Linear { low, high } => Scale::Linear { low: low / divisor, high: high / divisor },
                    other => other,
                };
                let ticks = scaled.ticks(about).into_iter().map(|tick| (tick * divisor, trimmed(tick)));
                ticks.collect()
            }
            Ticks::Quantity(metric) => labelled(&|tick| quantity(*metric, tick), self.scale.ticks(about)),
            Ticks::Percent => {
                labelled(&|tick| format!("{} %", trimmed(tick * 100.0)), self.scale.ticks(about))
            }
            Ticks::Percentiles => {
                labelled(&|tick| format!("p{}", trimmed(tick * 100.0)), self.scale.ticks(about))
            }
        }
    }

    pub(super) fn reading(&self, value: f64) -> String {
        match &self.ticks {
            Ticks::In(divisor) => quantity::with_minus(&units::significant(value / divisor, 4)),
            Ticks::Quantity(metric) => quantity(*metric, value),
            Ticks::Percent => format!("{} %", trimmed(value * 100.0)),
            Ticks::Percentiles => format!("p{}", trimmed(value * 100.0)),
            Ticks::Named(named) => {
                let name = named.iter().find(|(at, _)| *at == value).map(|(_, name)| name.clone());
                name.unwrap_or_else(|| trimmed(value))
            }
        }
    }

    pub(super) const fn ends(&self) -> Option<(f64, f64)> {
        match (&self.ticks, self.scale) {
            (Ticks::In(divisor), Scale::Linear { low, high }) => Some((low / *divisor, high / *divisor)),
            _ => None,
        }
    }

    pub(super) fn room(&self) -> f64 {
        let labels = self.labels(VERTICAL);
        labels.iter().map(|(_, label)| width(label, Style::Tick)).fold(0.0, f64::max)
    }

    pub(super) fn along(
        &self,
        canvas: &mut Canvas<'_>,
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
    ) -> f64 {
        let about = ((right - left) / 75.0).max(2.0) as usize;
        canvas.group(&[("ticks", String::new())], |canvas| {
            for (tick, label) in self.labels(about) {
                let x = left + self.scale.place(tick) * (right - left);
                canvas.path("grid", &format!("M{x:.1} {top:.1}V{bottom:.1}"));
                canvas.text_if_free((x, bottom + 13.0), Anchor::Middle, Style::Tick, &label);
            }
        });
        canvas.path("base", &format!("M{left:.1} {bottom:.1}H{right:.1}"));
        canvas.lines((left, bottom + 15.0), Style::Note, &self.title, right - left, 2)
    }

    pub(super) fn up(&self, canvas: &mut Canvas<'_>, (left, right): (f64, f64), (top, bottom): (f64, f64)) {
        for (tick, label) in self.labels(VERTICAL) {
            let y = bottom - self.scale.place(tick) * (bottom - top);
            canvas.path("grid", &format!("M{left:.1} {y:.1}H{right:.1}"));
            canvas.text_if_free((left - 5.0, y + 4.0), Anchor::End, Style::Tick, &label);
        }
    }

    pub(super) fn over(&self, canvas: &mut Canvas<'_>, x: f64, y: f64, room: f64) -> f64 {
        canvas.lines((x, y), Style::Note, &self.title, room, 2) + line_height(Style::Tick) / 2.0
    }
}

const VERTICAL: usize = 5;

pub(super) fn trimmed(value: f64) -> String {
    let digits = if value.abs() >= 1.0 { 3 } else { 6 };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    quantity::with_minus(text)
}

fn quantity(metric: Metric, value: f64) -> String {
    let unit = quantity::Scale::of(metric, value);
    format!("{} {}", trimmed(value / unit.divisor()), unit.unit).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_labels_have_no_redundant_digits() {
        for (value, text) in [(0.0, "0"), (10.0, "10"), (0.25, "0.25"), (-2.5, "−2.5"), (99.9, "99.9")] {
            assert_eq!(trimmed(value), text);
        }
        assert_eq!(quantity(Metric::RoundTrip, 200_000.0), "200 µs");
    }
}
