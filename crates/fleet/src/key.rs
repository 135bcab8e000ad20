//! NKeys, which identify members and controllers to the server.

use std::fmt;

use data_encoding::BASE32_NOPAD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use thiserror::Error;

/// The first bytes of a user's seed and public key. 32 bytes and a checksum follow, all encoded in base32
/// (github.com/nats-io/nkeys).
const SEED: &[u8] = &[18 << 3 | 20 >> 2, 0];
const PUBLIC: &[u8] = &[20 << 3];

/// `Debug` shows only its public half.
pub struct NKey {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

#[derive(Debug, Error)]
pub enum NKeyError {
    #[error("not the seed of a user NKey ({0}); `plumb fleet add` creates one, which starts with SU")]
    Seed(&'static str),
    #[error("not the public key of a user, e.g. `UB…`; `plumb fleet add` writes one")]
    Public,
}

impl NKey {
    #[must_use]
    pub fn generate() -> Self {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the kernel has random numbers once it has booted");
        Self::of(seed)
    }

    pub fn read(text: &str) -> Result<Self, NKeyError> {
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
        let seed = seed.ok_or(NKeyError::Seed("no line starts with SU"))?;
        decode(SEED, seed).map(Self::of).ok_or(NKeyError::Seed("wrong length or checksum"))
    }

    fn of(seed: [u8; 32]) -> Self {
        Self { seed, pair: Ed25519KeyPair::from_seed_unchecked(&seed).expect("any 32 bytes are a seed") }
    }

    #[must_use]
    pub fn seed(&self) -> String {
        encode(SEED, &self.seed)
    }

    #[must_use]
    pub fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.pair.sign(text).as_ref().to_vec()
    }

    #[must_use]
    pub fn public(&self) -> String {
        encode(PUBLIC, self.pair.public_key().as_ref())
    }
}

impl fmt::Debug for NKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.public())
    }
}

#[derive(Clone)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    pub fn read(text: &str) -> Result<Self, NKeyError> {
        decode(PUBLIC, text).map(Self).ok_or(NKeyError::Public)
    }

    pub(crate) fn verifies(&self, text: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(text, signature).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(PUBLIC, &self.0))
    }
}

fn encode(prefix: &[u8], key: &[u8]) -> String {
    let body = [prefix, key].concat();
    BASE32_NOPAD.encode(&[&body[..], &checksum(&body)].concat())
}

fn decode(prefix: &[u8], text: &str) -> Option<[u8; 32]> {
    let bytes = BASE32_NOPAD.decode(text.as_bytes()).ok()?;
    let (body, sum) = bytes.split_last_chunk()?;
    let key = body.strip_prefix(prefix).filter(|_| checksum(body) == *sum)?;
    key.try_into().ok()
}

/// Computes the CRC-16/XMODEM, little-endian.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let shift = |sum: u16, _| if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 };
    let sum = bytes.iter().fold(0, |sum, byte| (0..8).fold(sum ^ u16::from(*byte) << 8, shift));
    sum.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_key_file_and_hides_seed() {
        let key = NKey::generate();
        let file = format!("# rack-1\n{}\n", key.seed());
        assert_eq!(NKey::read(&file).expect("a seed").public(), key.public());
        assert!(key.public().starts_with('U') && format!("{key:?}") == key.public());
        for wrong in ["", "SUAB", &key.public()] {
            assert!(NKey::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn computes_the_same_as_other_implementations() {
        const SEED: &str = "SUAGMJH5XLGZKQQWAWKRZJIGMOU4HPFUYLXJMXOO5NLFEO2OOQJ5LPRDPM";
        const PUBLIC: &str = "UBQRQBKW2LPUL5HZSFHZ2ZZ4NYHJB3PSZG5PLFMALMOII3GERMM6BRJT";
        let key = NKey::read(SEED).expect("a seed");
        assert_eq!((key.seed(), key.public()), (SEED.to_owned(), PUBLIC.to_owned()));
        let signature = key.sign(b"nonce").iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert!(signature.starts_with("094ad4747e8a2fe4c54fc633") && signature.ends_with("537213ff66805"));
        for at in 0..PUBLIC.len() {
            let mut damaged = PUBLIC.as_bytes().to_vec();
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            assert!(PublicKey::read(std::str::from_utf8(&damaged).expect("ASCII")).is_err(), "{at}");
        }
    }

    #[test]
    fn accepts_only_signatures_of_its_own_key() {
        let (key, other) = (NKey::generate(), NKey::generate());
        let public = PublicKey::read(&key.public()).expect("a public key");
        assert!(public.verifies(b"text", &key.sign(b"text")));
        for signature in
            [other.sign(b"text"), key.sign(b"texts"), key.sign(b"text")[..63].to_vec(), Vec::new()]
        {
            assert!(!public.verifies(b"text", &signature));
        }
        for wrong in [&key.seed(), "", "U", "ops", "ADQPBBJ3MOJNBCRLRRKTVDPVH5YDFRQO4NQSPZVFJPLJSGTB4GFXAYCN"]
        {
            assert!(PublicKey::read(wrong).is_err(), "{wrong}");
        }
    }
}
