//! NKeys: the key by which a member or a controller is known to the server. Must not know where it is kept.

use std::sync::Arc;

use nkeys::{KeyPair, KeyPairType};
use thiserror::Error;

/// Characters of a public key.
const LENGTH: usize = 56;

/// A key of a user, both halves. What is shown of it is the public one.
pub struct NKey(KeyPair);

/// Why a text is no key.
#[derive(Debug, Error)]
pub enum NKeyError {
    #[error("it is no seed of an NKey of a user ({0}); `plumb fleet add` makes one, which begins with SU")]
    Seed(String),
    #[error("not the public key of a user, e.g. `UB…` as `plumb fleet add` writes it")]
    Public,
}

impl NKey {
    /// A new one.
    #[must_use]
    pub fn generate() -> Self {
        Self(KeyPair::new_user())
    }

    /// The one that a file keeps: a line that is a seed; others, such as comments, do not count.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(text: &str) -> Result<Self, NKeyError> {
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
        let seed = seed.ok_or_else(|| NKeyError::Seed("no line begins with SU".to_owned()))?;
        KeyPair::from_seed(seed).map(Self).map_err(|error| NKeyError::Seed(error.to_string()))
    }

    /// What only its owner knows.
    #[must_use]
    pub fn seed(&self) -> String {
        self.0.seed().expect("it has both halves")
    }

    /// Signs a text.
    pub(crate) fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.0.sign(text).expect("it has both halves")
    }

    /// What the server knows.
    #[must_use]
    pub fn public(&self) -> String {
        self.0.public_key()
    }
}

impl std::fmt::Debug for NKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.public())
    }
}

/// The public half of a user's NKey, which verifies its signatures.
#[derive(Clone)]
pub struct PublicKey(Arc<KeyPair>);

impl PublicKey {
    /// Reads a key as `plumb fleet add` writes it.
    ///
    /// # Errors
    /// When it is not the public key of a user.
    pub fn read(text: &str) -> Result<Self, NKeyError> {
        let is_user = |pair: &KeyPair| pair.key_pair_type() == KeyPairType::User;
        // `nkeys` panics on shorter texts.
        let pair = Some(text).filter(|text| text.len() == LENGTH && text.is_ascii());
        let pair = pair.and_then(|text| KeyPair::from_public_key(text).ok()).filter(is_user);
        pair.map(|pair| Self(Arc::new(pair))).ok_or(NKeyError::Public)
    }

    pub(crate) fn verifies(&self, text: &[u8], signature: &[u8]) -> bool {
        self.0.verify(text, signature).is_ok()
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.public_key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_again_from_what_was_kept_and_shown_without_its_seed() {
        let key = NKey::generate();
        let kept = format!("# rack-1\n{}\n", key.seed());
        assert_eq!(NKey::read(&kept).expect("a seed").public(), key.public());
        assert!(key.public().starts_with('U') && format!("{key:?}") == key.public());
        for wrong in ["", "SUAB", &key.public()] {
            assert!(NKey::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_public_key_verifies_signatures_of_its_key_only() {
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
