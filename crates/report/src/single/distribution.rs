//! The shape of a distribution of times, drawn, and its percentiles. Must not know rates.

use findings::{Bucket, Distribution, SingleMeasurement};
use units::Share;

use crate::{
    kind,
    page::{Bar, Bars, Block, Section, section},
    sections::percentiles,
    text::{Text, Tone},
};

pub(super) fn build(solo: &SingleMeasurement) -> Option<Section> {
    let (named, drawn) = kind::alone(solo.outcome.as_ref()?).shape()?;
    let mut blocks = vec![Block::Bars(bars(drawn)), Block::Heading("Percentiles".into())];
    blocks.extend(percentiles::tables(&named));
    Some(section("Distribution", blocks))
}

fn bars(times: &Distribution) -> Bars {
    let bar = |bucket: &Bucket| Bar {
        label: format!("{} - {}", bucket.from, bucket.to).into(),
        value: bucket.share,
        range: None,
        points: Vec::new(),
        text: match bucket.count {
            0 => Text::default(),
            count => Text::from(format!("{count} ")).and(Tone::Faint, Share(bucket.share).to_string()),
        },
        note: None,
    };
    Bars { rows: times.buckets.iter().map(bar).collect() }
}
