//! Memory with known contents, verified while other memory moves.

use units::Bytes;

const SIZE: u64 = 16 << 20;

pub(super) struct Guard(Vec<u64>);

impl Guard {
    pub(super) const SIZE: Bytes = Bytes(SIZE);

    pub(super) fn fill() -> Self {
        Self((1..=SIZE / 8).map(word).collect())
    }

    pub(super) fn damaged(&self) -> Bytes {
        let differs = self.0.iter().zip(1..).filter(|(is, place)| **is != word(*place)).count();
        Bytes(differs as u64 * 8)
    }
}

/// The finalizer of MurmurHash3.
const fn word(place: u64) -> u64 {
    let mixed = (place ^ (place >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_damaged_words() {
        let mut guard = Guard::fill();
        assert_eq!(guard.damaged(), Bytes(0));
        guard.0[..3].fill(0);
        assert_eq!(guard.damaged(), Bytes(24));
    }
}
