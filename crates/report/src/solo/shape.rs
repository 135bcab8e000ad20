//! The shape of a distribution of times, drawn, and its percentiles. Must not know rates.

use findings::{Bucket, Distribution, Solo, SoloOutcome};
use units::Share;

use crate::{
    page::{Bar, Bars, Block, Section, section},
    sections::{connections, latency, percentiles},
    text::{Text, Tone},
};

pub(super) fn build(solo: &Solo) -> Option<Section> {
    let named = match solo.outcome.as_ref()? {
        SoloOutcome::Stream(_) => return None,
        SoloOutcome::PingPong(answered) => latency::distributions("Round trip".to_owned(), answered),
        SoloOutcome::Connect(connect) => connections::distributions("Time", &connect.times).to_vec(),
    };
    // Of an open loop the first is from the intended times, of connections the last is the whole exchange.
    let drawn = match &solo.outcome {
        Some(SoloOutcome::Connect(connect)) => &connect.times.exchanges,
        _ => named.first()?.1,
    };
    let mut blocks = vec![Block::Bars(bars(drawn)), Block::Heading("Percentiles".into())];
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
            count => Text::from(format!("{count} ")).and(Tone::Faint, Share(bucket.share).to_string()),
        },
        note: None,
    };
    Bars { rows: times.buckets.iter().map(bar).collect() }
}
