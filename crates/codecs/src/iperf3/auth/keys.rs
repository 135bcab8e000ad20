//! The server's RSA key pair, in PEM.

use std::{convert::Infallible, fmt};

use rsa::{
    Oaep, Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey,
    pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey},
    pkcs8::{DecodePrivateKey, DecodePublicKey},
    rand_core::{TryCryptoRng, TryRng},
    traits::PublicKeyParts,
};
use sha1::Sha1;
use thiserror::Error;

use super::{Entropy, Padding};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(RsaPublicKey);

#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKey(RsaPrivateKey);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    #[error("an unreadable RSA {kind} key ({reason})")]
    Unreadable { kind: &'static str, reason: String },
    #[error("too short for this user name and password")]
    TooLong,
}

impl PublicKey {
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        RsaPublicKey::from_public_key_pem(pem)
            .or_else(|spki| RsaPublicKey::from_pkcs1_pem(pem).map_err(|_| spki))
            .map(Self)
            .map_err(|error| KeyError::Unreadable { kind: "public", reason: error.to_string() })
    }

    pub(super) fn encrypt(
        &self,
        padding: Padding,
        text: &[u8],
        entropy: Entropy<'_>,
    ) -> Result<Vec<u8>, KeyError> {
        let random = &mut CallerRng(entropy);
        match padding {
            Padding::Pkcs1v15 => self.0.encrypt(random, Pkcs1v15Encrypt, text),
            Padding::Oaep => self.0.encrypt(random, Oaep::<Sha1>::new(), text),
        }
        .map_err(|_| KeyError::TooLong)
    }
}

impl PrivateKey {
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        RsaPrivateKey::from_pkcs8_pem(pem)
            .or_else(|pkcs8| RsaPrivateKey::from_pkcs1_pem(pem).map_err(|_| pkcs8))
            .map(Self)
            .map_err(|error| KeyError::Unreadable { kind: "private", reason: error.to_string() })
    }

    #[must_use]
    pub fn size(&self) -> usize {
        self.0.size()
    }

    /// Rejects a ciphertext of the wrong length without decrypting it.
    pub(super) fn decrypt(&self, padding: Padding, secret: &[u8], entropy: Entropy<'_>) -> Option<Vec<u8>> {
        if secret.len() != self.size() {
            return None;
        }
        let random = &mut CallerRng(entropy);
        match padding {
            Padding::Pkcs1v15 => self.0.decrypt_blinded(random, Pkcs1v15Encrypt, secret),
            Padding::Oaep => self.0.decrypt_blinded(random, Oaep::<Sha1>::new(), secret),
        }
        .ok()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

struct CallerRng<'a>(Entropy<'a>);

impl TryRng for CallerRng<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        (self.0)(&mut bytes);
        Ok(u32::from_ne_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        (self.0)(&mut bytes);
        Ok(u64::from_ne_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        (self.0)(bytes);
        Ok(())
    }
}

impl TryCryptoRng for CallerRng<'_> {}
