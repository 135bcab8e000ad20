//! Round-trip times as a whole distribution: an HdrHistogram, so that trials are merged, never averaged.

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

/// The longest time that fits, one minute; longer ones are counted as this.
const LONGEST: u64 = 60_000_000_000;
/// Significant decimal digits that are kept.
const DIGITS: u8 = 3;
/// What the V2 encoding begins with (HdrHistogram's `V2EncodingCookieBase | 0x10`).
const COOKIE: u32 = 0x1c84_9313;
/// The length of its head: cookie, length of the counts, offset, digits (4 each); lowest and highest time, ratio
/// (8 each).
const HEAD: usize = 40;
/// More times than any run counts, so that sums of many histograms still fit.
const MOST: u64 = 1 << 50;

/// A distribution of times from 1 ns to one minute, to three significant digits.
///
/// It takes about 220 KB, or as little as it holds once it is [packed](Self::packed).
/// In JSON: HdrHistogram's V2 encoding (<https://github.com/HdrHistogram/HdrHistogram>) in base64.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub struct LatencyHistogram(#[schemars(with = "String")] Form);

#[derive(Debug, Clone)]
enum Form {
    /// Every counter in its place: counting costs nothing.
    Open(Histogram<u64>),
    /// The V2 encoding, which this type wrote or has read once.
    Packed(Box<[u8]>),
}

impl LatencyHistogram {
    /// An empty histogram, all its memory taken at once.
    #[must_use]
    pub fn new() -> Self {
        Self(Form::Open(empty()))
    }

    /// Counts one time. Does not allocate, unless it was packed.
    #[inline]
    pub fn record(&mut self, nanos: Nanos) {
        self.open().saturating_record(nanos.0);
    }

    /// Counts one time so often.
    pub fn record_many(&mut self, nanos: Nanos, times: u64) {
        self.open().saturating_record_n(nanos.0, times);
    }

    /// Forgets everything and keeps its memory, every page of which is there after this.
    pub fn clear(&mut self) {
        self.open().reset();
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        self.open().add(&*other.read()).expect("both have the same bounds");
    }

    /// The same in a few KB, for keeping many: each look at it costs some ten microseconds more.
    #[must_use]
    pub fn packed(&self) -> Self {
        match &self.0 {
            Form::Open(histogram) => Self(Form::Packed(encode(histogram).into())),
            Form::Packed(_) => self.clone(),
        }
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.read().len()
    }

    /// The time that a share of all (0 to 1) does not exceed; `None` when empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        self.unless_empty(|histogram| Nanos(histogram.value_at_quantile(share)))
    }

    /// The shortest time, to the histogram's resolution; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<Nanos> {
        self.unless_empty(|histogram| Nanos(histogram.min()))
    }

    /// The longest time, to the histogram's resolution; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        self.unless_empty(|histogram| Nanos(histogram.max()))
    }

    /// Every time that was counted, to the histogram's resolution, and how often; in order.
    #[must_use]
    pub fn counts(&self) -> Vec<(Nanos, u64)> {
        let recorded = |step: IterationValue<u64>| (Nanos(step.value_iterated_to()), step.count_at_value());
        self.read().iter_recorded().map(recorded).collect()
    }

    /// Mean in nanoseconds; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.unless_empty(Histogram::mean)
    }

    /// Standard deviation in nanoseconds; `None` when empty.
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
            Form::Packed(bytes) => Cow::Owned(decode(bytes).expect("it was packed or read here")),
        }
    }

    #[inline]
    fn open(&mut self) -> &mut Histogram<u64> {
        if let Form::Packed(bytes) = &self.0 {
            self.0 = Form::Open(decode(bytes).expect("it was packed or read here"));
        }
        match &mut self.0 {
            Form::Open(histogram) => histogram,
            Form::Packed(_) => unreachable!("it has just been opened"),
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

/// Reads a histogram of which many are kept; for `deserialize_with`.
pub(crate) fn read_packed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LatencyHistogram, D::Error> {
    LatencyHistogram::deserialize(deserializer).map(|histogram| histogram.packed())
}

/// The same of one that may be missing.
pub(crate) fn read_packed_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<LatencyHistogram>, D::Error> {
    let read = Option::<LatencyHistogram>::deserialize(deserializer)?;
    Ok(read.map(|histogram| histogram.packed()))
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("the bounds are valid constants")
}

fn encode(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a Vec takes every byte, and counts fit an i64");
    bytes
}

/// Reads what [`encode`] has written, and nothing that would take more memory: the reader allocates by the bounds
/// and the length in the head, which may be another machine's.
fn decode(mut bytes: &[u8]) -> Result<Histogram<u64>, String> {
    let counts = u32::try_from(bytes.len().saturating_sub(HEAD)).map_err(|_| "it is too long".to_owned())?;
    if !bytes.starts_with(&head(counts)) {
        return Err(format!("it is no HdrHistogram V2 of 1 to {LONGEST} ns with {DIGITS} digits"));
    }
    let read: Histogram<u64> =
        HdrDeserializer::new().deserialize(&mut bytes).map_err(|error| error.to_string())?;
    if read.iter_recorded().any(|step| step.count_at_value() > MOST) || read.len() > MOST {
        return Err(format!("it counts more than {MOST} times"));
    }
    Ok(read)
}

/// The head of a histogram as it is written here.
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
    fn merging_is_the_same_as_counting_together() {
        let mut merged = of(&[10_000, 20_000]);
        merged.merge(&of(&[30_000, 40_000_000]));
        assert_eq!(merged, of(&[10_000, 20_000, 30_000, 40_000_000]));
    }

    #[test]
    fn a_histogram_survives_json() {
        let histogram = of(&[1, 49_312, 49_313, 72_100, 59_000_000_000]);
        let json = serde_json::to_string(&histogram).expect("serialises");
        assert_eq!(serde_json::from_str::<LatencyHistogram>(&json).expect("reads"), histogram);
    }

    #[test]
    fn a_packed_histogram_is_the_same_in_a_hundredth_of_the_memory() {
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
    fn a_broken_histogram_is_an_error() {
        for text in ["\"\"", "\"AAAA\"", "\"!\"", "17"] {
            assert!(serde_json::from_str::<LatencyHistogram>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_and_lengths_that_others_wrote_take_no_memory() {
        let good = encode(&of(&[1, 5000, 70_000_000]).open().clone());
        assert!(decode(&good).is_ok());
        // The length of the counts, the digits, the lowest and the highest time, the ratio.
        for (place, value) in [(4, 0x7f), (15, 5), (15, 1), (23, 2), (24, 0x7f), (32, 0)] {
            let mut bad = good.clone();
            bad[place] = value;
            assert!(decode(&bad).is_err(), "byte {place} is {value}");
        }
        assert!(decode(&[&good[..], &[2]].concat()).is_err(), "something follows");
        assert!(decode(&good[..good.len() - 1]).is_err(), "something is missing");
        let most = [&head(9)[..], &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat();
        assert!(decode(&most).is_err(), "more than can be added up");
    }

    #[test]
    fn percentiles_are_true_to_three_digits() {
        let histogram = of(&(1..=1000).map(|n| n * 1000).collect::<Vec<_>>());
        let p99 = histogram.quantile(0.99).expect("not empty").0 as f64;
        assert!((p99 / 990_000.0 - 1.0).abs() < 0.002, "{p99}");
        assert_eq!(of(&[]).quantile(0.5), None);
    }

    #[test]
    fn a_time_longer_than_a_minute_is_counted_as_one() {
        assert_eq!(of(&[u64::MAX]).count(), 1);
    }
}
