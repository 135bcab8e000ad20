//! The cookie that identifies the connections of a test.

use std::fmt;

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const LETTERS: usize = Cookie::SIZE - 1;

/// 36 characters from `a` to `z` and `2` to `7`, then a null byte. Every TCP connection of a test starts with the
/// test's cookie.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cookie([u8; Cookie::SIZE]);

impl Cookie {
    pub const SIZE: usize = 37;

    #[must_use]
    pub fn from_entropy(entropy: [u8; LETTERS]) -> Self {
        let mut bytes = [0; Self::SIZE];
        for (letter, byte) in bytes.iter_mut().zip(entropy) {
            *letter = ALPHABET[usize::from(byte) % ALPHABET.len()];
        }
        Self(bytes)
    }

    #[must_use]
    pub fn parse(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        Self::may_begin(bytes).then_some(Self(*bytes))
    }

    #[must_use]
    pub fn may_begin(bytes: &[u8]) -> bool {
        let (letters, rest) = bytes.split_at(bytes.len().min(LETTERS));
        letters.iter().all(|letter| ALPHABET.contains(letter)) && rest.first().is_none_or(|end| *end == 0)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0[..LETTERS]).expect("a cookie is ASCII")
    }
}

impl fmt::Display for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cookie({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rejects_other_protocols() {
        let good = Cookie::from_entropy([31; 36]);
        assert_eq!(good.as_str(), "7".repeat(36));
        for (place, byte) in [(0, b'A'), (35, 0), (36, b'a'), (3, b'1')] {
            let mut bytes = *good.as_bytes();
            bytes[place] = byte;
            assert_eq!(Cookie::parse(&bytes), None, "{place}");
        }
        for (begin, may) in [(&b""[..], true), (b"abc", true), (b"GET ", false), (b"plumbtrf\0", false)] {
            assert_eq!(Cookie::may_begin(begin), may, "{begin:?}");
        }
    }

    proptest! {
        #[test]
        fn cookie_round_trips_for_any_entropy(entropy: [u8; 36]) {
            let cookie = Cookie::from_entropy(entropy);
            prop_assert_eq!(Cookie::parse(cookie.as_bytes()), Some(cookie));
            prop_assert!((0..37).all(|cut| Cookie::may_begin(&cookie.as_bytes()[..cut])));
        }
    }
}
