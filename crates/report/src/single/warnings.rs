//! Reasons to distrust the numbers.

use findings::{LevelShift, SingleLevels, SingleMeasurement};
use units::Share;
use workload::Metric;

use crate::{
    kind,
    page::{Block, Section, section},
    phrases,
    text::{Text, Tone},
};

pub(super) fn build(solo: &SingleMeasurement) -> Option<Section> {
    let items = all(solo);
    (!items.is_empty()).then(|| section("Warnings", vec![Block::List(items)]))
}

/// Each as a clause.
pub(super) fn all(solo: &SingleMeasurement) -> Vec<Text> {
    let shifts = solo.shifts.iter().map(|shift| self::shift(solo, shift));
    let levels = solo.two_levels.iter().map(|levels| two_levels(solo, levels));
    let doubts = solo.doubts.iter().map(|doubt| Text::of(Tone::Doubtful, phrases::warning(doubt)));
    shifts.chain(levels).chain(doubts).collect()
}

fn metric(solo: &SingleMeasurement) -> Metric {
    solo.outcome.as_ref().map_or(Metric::Throughput, |outcome| kind::alone(outcome).metric())
}

fn shift(solo: &SingleMeasurement, shift: &LevelShift) -> Text {
    let value = |value| phrases::value(metric(solo), value);
    let phrase = format!(
        "level shift after {}, from {} to {}: the mean mixes two levels",
        shift.at,
        value(shift.before),
        value(shift.after)
    );
    Text::of(Tone::Doubtful, phrase)
}

fn two_levels(solo: &SingleMeasurement, levels: &SingleLevels) -> Text {
    let value = |value| phrases::value(metric(solo), value);
    let phrase = format!(
        "the {} are bimodal, {} and {} ({} at the upper level): their median is neither",
        levels.of,
        value(levels.low),
        value(levels.high),
        Share(levels.share_high)
    );
    let unpinned = "; unpinned threads are the usual cause: pin them and measure again";
    Text::of(Tone::Doubtful, if levels.unpinned { phrase + unpinned } else { phrase })
}
