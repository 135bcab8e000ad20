//! Determines the units of samples in files before version 4. flent stored these samples as its tools printed them, and
//! converted them only for results.

use serde_json::Value;

use super::series::{Kind, Sample, Series};

type Transform = fn(f64) -> f64;

/// flent's transforms: identity, transactions/s to ms, s to ms, bits/s to Mbit/s, and kbit/s to Mbit/s.
const TRANSFORMS: [Transform; 5] =
    [|value| value, |value| 1e3 / value, |value| value * 1e3, |value| value / 1e6, |value| value / 1e3];

/// Maximum ratio between the medians of samples and results.
const ALIKE: f64 = 1.5;

pub(super) fn apply(series: &mut Series, results: Option<&Vec<Value>>) {
    let usual: Transform = match series.kind {
        // netperf reports these as transactions per second.
        Kind::MeanRoundTrips if series.samples.iter().any(|sample| sample.lasts.is_some()) => TRANSFORMS[1],
        Kind::MeanRoundTrips => TRANSFORMS[2],
        _ => TRANSFORMS[0],
    };
    let computed = results.and_then(|results| median(results.iter().filter_map(Value::as_f64)));
    let off = |transform: &Transform| {
        let sampled = median(series.samples.iter().map(|sample| transform(sample.value)));
        let (sampled, computed) = sampled.zip(computed).filter(|(_, computed)| *computed > 0.0)?;
        Some((sampled / computed).ln().abs()).filter(|off| off.is_finite())
    };
    let is_alike = |off: f64| off < ALIKE.ln();
    let transform = match off(&usual) {
        Some(distance) if !is_alike(distance) => {
            let known = TRANSFORMS.iter().filter_map(|transform| Some((off(transform)?, *transform)));
            let nearest = known.min_by(|(one, _), (other, _)| one.total_cmp(other));
            nearest.filter(|(distance, _)| is_alike(*distance)).map_or(usual, |(_, transform)| transform)
        }
        _ => usual,
    };
    series.samples.retain_mut(|sample: &mut Sample| {
        sample.value = transform(sample.value);
        sample.value.is_finite()
    });
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(kind: Kind, sampled: f64, lasts: Option<f64>, computed: &Value) -> f64 {
        let samples = vec![Sample { at: 1.0, value: sampled, lasts }; 3];
        let mut series =
            Series { name: String::new(), kind, transport: None, congestion: None, received: None, samples };
        apply(&mut series, computed.as_array());
        series.samples[0].value
    }

    #[test]
    fn converts_samples_to_the_unit_of_the_results() {
        let (means, pings) = (Kind::MeanRoundTrips, Kind::RoundTrips);
        for (kind, sampled, lasts, computed, expected) in [
            (means, 20.0, Some(0.2), json!([50.0, null, 49.9]), 50.0),
            (means, 20.0, Some(0.2), json!([]), 50.0),
            (means, 20.0, Some(0.2), json!([20.1, 19.9]), 20.0),
            (means, 0.004, None, json!([4.1, 3.9]), 4.0),
            (pings, 49.7, None, json!([49.8]), 49.7),
            (pings, 0.0497, None, json!([49.8]), 49.7),
        ] {
            let value = converted(kind, sampled, lasts, &computed);
            assert!((value / expected - 1.0_f64).abs() < 1e-9, "{sampled}: {value}, not {expected}");
        }
    }
}
