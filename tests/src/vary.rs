//! Mutations of input bytes.

/// Exercises the sample unchanged, doubled, truncated at each position, and with each byte changed in several ways.
pub fn vary(sample: &[u8], exercise: impl Fn(&[u8])) {
    exercise(sample);
    exercise(&[sample, sample].concat());
    for place in 0..sample.len() {
        exercise(&sample[..place]);
        for change in [0x01, 0x10, 0x80, 0xff] {
            let mut bytes = sample.to_vec();
            bytes[place] ^= change;
            exercise(&bytes);
        }
    }
}
