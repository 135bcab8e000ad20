//! NKeys: the key by which a member or a controller is known to the server. Must not know where it is kept.

use nkeys::KeyPair;
use thiserror::Error;

/// A key of a user, both halves. What is shown of it is the public one.
pub struct NKey(KeyPair);

/// Why a text is no key.
#[derive(Debug, Error)]
#[error("it is no seed of an NKey of a user ({0}); `plumb fleet add` makes one, which begins with SU")]
pub struct NKeyError(String);

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
        let seed = seed.ok_or_else(|| NKeyError("no line begins with SU".to_owned()))?;
        KeyPair::from_seed(seed).map(Self).map_err(|error| NKeyError(error.to_string()))
    }

    /// What only its owner knows.
    #[must_use]
    pub fn seed(&self) -> String {
        self.0.seed().expect("it has both halves")
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
}
