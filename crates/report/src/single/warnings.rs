//! Reasons to distrust the values.

use findings::{LevelShift, SingleLevels, SingleMeasurement};
use units::Share;

use crate::{page::*, phrases};

pub(super) fn build(single: &SingleMeasurement, most: usize) -> Option<Section> {
    let items: Vec<Text> = all(single).into_iter().take(most).collect();
    (!items.is_empty()).then(|| section("Warnings", vec![Block::List(items)]))
}

pub(super) fn all(single: &SingleMeasurement) -> Vec<Text> {
    let shifts = single.shifts.iter().map(|shift| self::shift(single, shift));
    let levels = single.bimodal.iter().map(|levels| bimodal(single, levels));
    let warnings = single.warnings.iter().map(|warning| Text::doubtful(phrases::warning(warning)));
    shifts.chain(levels).chain(warnings).collect()
}

fn shift(single: &SingleMeasurement, shift: &LevelShift) -> Text {
    let value = |value| phrases::value(single.verdict.metric, value);
    let phrase = format!(
        "level shift after {}, from {} to {}: the mean mixes two levels",
        shift.at,
        value(shift.before),
        value(shift.after)
    );
    Text::doubtful(phrase)
}

fn bimodal(single: &SingleMeasurement, levels: &SingleLevels) -> Text {
    let value = |value| phrases::value(single.verdict.metric, value);
    let phrase = format!(
        "the {} are bimodal, {} and {} ({} at the upper level): no single value describes both",
        levels.quantity,
        value(levels.low),
        value(levels.high),
        Share(levels.share_high)
    );
    let unpinned = "; unpinned threads are the usual cause: pin them and measure again";
    Text::doubtful(if levels.unpinned { phrase + unpinned } else { phrase })
}
