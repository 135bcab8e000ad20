//! A chart and the percentiles of a distribution of times.

use findings::{Bucket, Distribution, SingleMeasurement};
use units::Share;

use crate::{
    chart::Chart,
    kind,
    page::{Bar, Bars, *},
    pictures::histogram,
    sections::percentiles,
};

pub(super) fn build(single: &SingleMeasurement) -> Option<Section> {
    let (named, drawn) = kind::alone(single.outcome.as_ref()?).shape()?;
    let plain = Some(bars(drawn));
    let chart =
        histogram::of_times("Distribution".to_owned(), None, &(single.words.clone(), drawn), &[0.5, 0.99]);
    let chart = chart.map(|chart| Block::Chart(Box::new(Chart { plain, ..chart })));
    let mut blocks: Vec<Block> = chart.into_iter().chain([Block::Heading("Percentiles".into())]).collect();
    blocks.extend(percentiles::tables(&named));
    Some(section("Distribution", blocks))
}

fn bars(times: &Distribution) -> Bars {
    let bar = |bucket: &Bucket| Bar {
        label: format!("{} - {}", bucket.from, bucket.to).into(),
        value: bucket.share,
        range: None,
        text: match bucket.count {
            0 => Text::default(),
            count => Text::from(format!("{count} ")).and_faint(Share(bucket.share).to_string()),
        },
        note: None,
    };
    Bars { rows: times.buckets.iter().map(bar).collect() }
}
