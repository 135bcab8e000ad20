//! NKeys, which identify members and controllers to the server.

use std::sync::Arc;

use nkeys::{KeyPair, KeyPairType};
use thiserror::Error;

/// Characters.
const LENGTH: usize = 56;

/// `Debug` shows only the public half.
pub struct NKey(KeyPair);

#[derive(Debug, Error)]
pub enum NKeyError {
    #[error("not the seed of a user NKey ({0}); `plumb fleet add` creates one, which starts with SU")]
    Seed(String),
    #[error("not the public key of a user, e.g. `UB…` as `plumb fleet add` writes it")]
    Public,
}

impl NKey {
    #[must_use]
    pub fn generate() -> Self {
        Self(KeyPair::new_user())
    }

    /// Other lines, such as comments, are ignored.
    pub fn read(text: &str) -> Result<Self, NKeyError> {
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
        let seed = seed.ok_or_else(|| NKeyError::Seed("no line starts with SU".to_owned()))?;
        KeyPair::from_seed(seed).map(Self).map_err(|error| NKeyError::Seed(error.to_string()))
    }

    #[must_use]
    pub fn seed(&self) -> String {
        self.0.seed().expect("a key pair")
    }

    pub(crate) fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.0.sign(text).expect("a key pair")
    }

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

#[derive(Clone)]
pub struct PublicKey(Arc<KeyPair>);

impl PublicKey {
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
    fn verifies_signatures_of_its_key_only() {
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
