//! The factors' knees and curves. A knee is the level at which the metric stops growing with the factor.

use findings::{Answer, Knee};
use units::Confidence;
use workload::Metric;

use super::Source;
use crate::{
    chart::Chart,
    page::{Bar, Bars, *},
    phrases,
    pictures::sweep,
    quantity::Scale,
};

pub(super) fn blocks(source: &Source<'_>, answer: &Answer, knee: &Knee) -> Vec<Block> {
    let metric = answer.metric;
    let rows = knee.curve.iter().map(|(level, value)| bar(metric, knee, level, *value)).collect();
    let plain = Some(Bars { rows });
    let chart =
        sweep::chart(source, answer, knee).map(|chart| Block::Chart(Box::new(Chart { plain, ..chart })));
    [Block::Heading(phrase(metric, knee))].into_iter().chain(chart).collect()
}

fn phrase(metric: Metric, knee: &Knee) -> Text {
    let Knee { factor, level, plausible, .. } = knee;
    let last = knee.curve.last().is_some_and(|(label, _)| label == level);
    let factor = Text::strong(format!("{factor}: "));
    if last && plausible.len() <= 1 {
        let grows = format!("still improving at the last level, {level}");
        return factor.and_plain(grows);
    }
    let allow = match plausible.as_slice() {
        [first, .., last] => format!(" (the data allow {first} to {last})"),
        _ => String::new(),
    };
    let falls = knee.falls_at.as_ref().map_or_else(String::new, |at| format!("; worse again from {at}"));
    factor.and_plain(format!("plateau from {level} on{allow}: {}{falls}", plateau(metric, knee)))
}

fn plateau(metric: Metric, knee: &Knee) -> String {
    let scale = Scale::of(metric, knee.plateau);
    let value = glued(&scale.quantity(knee.plateau));
    let range = |interval: &findings::Interval| {
        let confidence = Confidence(interval.confidence);
        format!(" {}", glued(&format!("({}, {confidence})", scale.range(interval))))
    };
    value + &knee.plateau_interval.as_ref().map_or_else(String::new, range)
}

fn bar(metric: Metric, knee: &Knee, level: &str, value: f64) -> Bar {
    let text = Text::from(phrases::value(metric, value));
    let text = match level {
        _ if level == knee.level => text.and_good(" ◀"),
        _ if knee.plausible.iter().any(|plausible| plausible == level) => text.and_faint(" ◁"),
        _ => text,
    };
    Bar { label: level.into(), value, range: None, text, note: None }
}
