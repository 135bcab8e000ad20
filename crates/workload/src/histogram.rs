//! Latency histograms (HdrHistogram). They are merged, because percentiles cannot be averaged.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram,
    iterators::IterationValue,
    serialization::{Deserializer as HdrDeserializer, Serializer as HdrSerializer, V2Serializer},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use units::Nanos;

/// One minute, in nanoseconds. Longer times are recorded as one minute.
const LONGEST: u64 = 60_000_000_000;
const DIGITS: u8 = 3;
/// Start of the V2 encoding (HdrHistogram's `V2EncodingCookieBase | 0x10`).
const COOKIE: u32 = 0x1c84_9313;
/// Header size: cookie, length of the counts, offset and digits (4 bytes each), lowest value, highest value and
/// ratio (8 bytes each).
const HEAD: usize = 40;
/// Keeps the sum of many histograms from overflowing.
const MAX_COUNT: u64 = 1 << 50;

/// A distribution of times from 1 ns to one minute, with three significant digits.
///
/// It takes about 220 KB, or less if it is [packed](Self::packed). The JSON form is HdrHistogram's V2 encoding
/// (<https://github.com/HdrHistogram/HdrHistogram>) in base64.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub struct LatencyHistogram(#[schemars(with = "String")] Form);

#[derive(Debug, Clone)]
enum Form {
    Open(Histogram<u64>),
    Packed(Box<[u8]>),
}

impl LatencyHistogram {
    #[must_use]
    pub fn new() -> Self {
        Self(Form::Open(empty()))
    }

    /// Allocates memory only if the histogram is packed.
    #[inline]
    pub fn record(&mut self, nanos: Nanos) {
        self.open().saturating_record(nanos.0);
    }

    pub fn record_many(&mut self, nanos: Nanos, times: u64) {
        self.open().saturating_record_n(nanos.0, times);
    }

    /// Removes all times, but keeps the memory mapped.
    pub fn clear(&mut self) {
        self.open().reset();
    }

    pub fn merge(&mut self, other: &Self) {
        self.open().add(&*other.read()).expect("both have the same bounds");
    }

    /// Returns a copy that takes only a few KB, but each access to it first unpacks it (about ten microseconds).
    #[must_use]
    pub fn packed(&self) -> Self {
        match &self.0 {
            Form::Open(histogram) => Self(Form::Packed(encode(histogram).into())),
            Form::Packed(_) => self.clone(),
        }
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.read().len()
    }

    /// `share` is from 0 to 1. Returns `None` if the histogram is empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        self.unless_empty(|histogram| Nanos(histogram.value_at_quantile(share)))
    }

    /// Counts the times up to each bound, within the histogram's resolution. Bounds are in ascending order.
    #[must_use]
    pub fn counts_up_to(&self, bounds: &[Nanos]) -> Vec<u64> {
        let mut counts = self.counts().into_iter().peekable();
        let mut below = 0;
        let mut up_to = |bound: &Nanos| {
            while let Some((_, count)) = counts.next_if(|(time, _)| time <= bound) {
                below += count;
            }
            below
        };
        bounds.iter().map(&mut up_to).collect()
    }

    /// Accurate to the histogram's resolution. `None` if empty.
    #[must_use]
    pub fn min(&self) -> Option<Nanos> {
        self.unless_empty(|histogram| Nanos(histogram.min()))
    }

    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        self.unless_empty(|histogram| Nanos(histogram.max()))
    }

    #[must_use]
    pub fn counts(&self) -> Vec<(Nanos, u64)> {
        let recorded = |step: IterationValue<u64>| (Nanos(step.value_iterated_to()), step.count_at_value());
        self.read().iter_recorded().map(recorded).collect()
    }

    /// In nanoseconds. `None` if empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.unless_empty(Histogram::mean)
    }

    /// In nanoseconds. `None` if empty.
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        self.unless_empty(Histogram::stdev)
    }

    fn unless_empty<T>(&self, look: impl FnOnce(&Histogram<u64>) -> T) -> Option<T> {
        let histogram = self.read();
        (!histogram.is_empty()).then(|| look(&histogram))
    }

    fn read(&self) -> Cow<'_, Histogram<u64>> {
        match &self.0 {
            Form::Open(histogram) => Cow::Borrowed(histogram),
            Form::Packed(bytes) => Cow::Owned(decode(bytes).expect("packed data is valid")),
        }
    }

    #[inline]
    fn open(&mut self) -> &mut Histogram<u64> {
        if let Form::Packed(bytes) = &self.0 {
            self.0 = Form::Open(decode(bytes).expect("packed data is valid"));
        }
        match &mut self.0 {
            Form::Open(histogram) => histogram,
            Form::Packed(_) => unreachable!("opened above"),
        }
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        *self.read() == *other.read()
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&match &self.0 {
            Form::Open(histogram) => STANDARD.encode(encode(histogram)),
            Form::Packed(bytes) => STANDARD.encode(bytes),
        })
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        decode(&bytes).map(|histogram| Self(Form::Open(histogram))).map_err(D::Error::custom)
    }
}

pub(crate) fn read_packed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LatencyHistogram, D::Error> {
    LatencyHistogram::deserialize(deserializer).map(|histogram| histogram.packed())
}

pub(crate) fn read_packed_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<LatencyHistogram>, D::Error> {
    let read = Option::<LatencyHistogram>::deserialize(deserializer)?;
    Ok(read.map(|histogram| histogram.packed()))
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("the constant bounds are valid")
}

fn encode(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to a Vec cannot fail, and counts fit an i64");
    bytes
}

/// Checks the header first, because decoding allocates as much memory as the header specifies, and the header may come
/// from another machine.
fn decode(mut bytes: &[u8]) -> Result<Histogram<u64>, String> {
    let counts = u32::try_from(bytes.len().saturating_sub(HEAD)).map_err(|_| "too long".to_owned())?;
    if !bytes.starts_with(&head(counts)) {
        return Err(format!("not an HdrHistogram V2 of 1 to {LONGEST} ns with {DIGITS} digits"));
    }
    let read: Histogram<u64> =
        HdrDeserializer::new().deserialize(&mut bytes).map_err(|error| error.to_string())?;
    if read.iter_recorded().any(|step| step.count_at_value() > MAX_COUNT) || read.len() > MAX_COUNT {
        return Err(format!("more than {MAX_COUNT} counts"));
    }
    Ok(read)
}

fn head(counts: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    for (place, word) in head[..16].chunks_exact_mut(4).zip([COOKIE, counts, 0, u32::from(DIGITS)]) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    for (place, word) in head[16..].chunks_exact_mut(8).zip([1, LONGEST, 1.0_f64.to_bits()]) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        nanos.iter().for_each(|&n| histogram.record(Nanos(n)));
        histogram
    }

    #[test]
    fn merging_equals_recording_together() {
        let mut merged = of(&[10_000, 20_000]);
        merged.merge(&of(&[30_000, 40_000_000]));
        assert_eq!(merged, of(&[10_000, 20_000, 30_000, 40_000_000]));
    }

    #[test]
    fn round_trips_through_json() {
        let histogram = of(&[1, 49_312, 49_313, 72_100, 59_000_000_000]);
        let json = serde_json::to_string(&histogram).expect("serialises");
        assert_eq!(serde_json::from_str::<LatencyHistogram>(&json).expect("reads"), histogram);
    }

    #[test]
    fn packed_histogram_is_equal_and_small() {
        let open = of(&(1..=5000).map(|n| 40_000 + n * 7).collect::<Vec<_>>());
        let mut packed = open.packed();
        assert!(matches!(&packed.0, Form::Packed(bytes) if bytes.len() < 2_200));
        assert_eq!(packed, open);
        assert_eq!(packed.count(), 5000);
        assert_eq!(packed.quantile(0.99), open.quantile(0.99));
        assert_eq!(
            serde_json::to_string(&packed).expect("text"),
            serde_json::to_string(&open).expect("text")
        );
        packed.record(Nanos(1));
        assert_eq!(packed.min(), Some(Nanos(1)));
        assert_eq!(of(&[]).packed(), of(&[]));
    }

    #[test]
    fn rejects_invalid_histogram() {
        for text in ["\"\"", "\"AAAA\"", "\"!\"", "17"] {
            assert!(serde_json::from_str::<LatencyHistogram>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rejects_foreign_bounds_and_lengths() {
        let good = encode(&of(&[1, 5000, 70_000_000]).open().clone());
        assert!(decode(&good).is_ok());
        for (place, value) in [(4, 0x7f), (15, 5), (15, 1), (23, 2), (24, 0x7f), (32, 0)] {
            let mut bad = good.clone();
            bad[place] = value;
            assert!(decode(&bad).is_err(), "byte {place} is {value}");
        }
        assert!(decode(&[&good[..], &[2]].concat()).is_err(), "trailing data");
        assert!(decode(&good[..good.len() - 1]).is_err(), "truncated data");
        let most = [&head(9)[..], &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat();
        assert!(decode(&most).is_err(), "overflowing counts");
    }

    #[test]
    fn percentiles_have_three_digits() {
        let histogram = of(&(1..=1000).map(|n| n * 1000).collect::<Vec<_>>());
        let p99 = histogram.quantile(0.99).expect("not empty").0 as f64;
        assert!((p99 / 990_000.0 - 1.0).abs() < 0.002, "{p99}");
        assert_eq!(of(&[]).quantile(0.5), None);
    }

    #[test]
    fn records_times_above_one_minute_as_one_minute() {
        assert_eq!(of(&[u64::MAX]).count(), 1);
    }
}
