//! Signs a controller's messages, so that members do not have to trust the NATS server.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use crate::{
    dial::ServerAccess,
    key::{NKey, PublicKey},
};

/// The prefix of orders. The same key also signs servers' nonces, which contain no spaces.
const ORDER: &[u8] = b"plumb order\n";
const SESSION: &[u8] = b"plumb session\n";
/// The size of an Ed25519 signature.
const SIGNATURE: usize = 64;
const NUMBER: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Signed {
    pub(crate) order: String,
    pub(crate) signature: String,
}

impl Signed {
    pub(crate) fn order(order: String, key: &NKey) -> Self {
        let signature = STANDARD.encode(key.sign(&[ORDER, order.as_bytes()].concat()));
        Self { order, signature }
    }

    pub(crate) fn is_by(&self, key: &PublicKey) -> bool {
        let signature = STANDARD.decode(&self.signature).unwrap_or_default();
        key.verifies(&[ORDER, self.order.as_bytes()].concat(), &signature)
    }
}

#[derive(Debug)]
pub(crate) enum Seal {
    None,
    Signed { access: Arc<ServerAccess>, subject: String, number: u64 },
}

impl Seal {
    pub(crate) fn seal(&mut self, frame: Vec<u8>) -> Vec<u8> {
        let Self::Signed { access, subject, number } = self else { return frame };
        *number += 1;
        let number = number.to_be_bytes();
        let key = access.key.as_ref().expect("a controller has a key");
        let signature = key.sign(&session_text(subject, &number, &frame));
        [&number, &frame[..], &signature].concat()
    }
}

#[derive(Debug)]
pub(crate) enum Opener {
    None,
    /// Message numbers must increase.
    Verified {
        key: PublicKey,
        subject: String,
        number: u64,
    },
}

impl Opener {
    pub(crate) fn open<'a>(&mut self, message: &'a [u8]) -> Option<&'a [u8]> {
        let Self::Verified { key, subject, number } = self else { return Some(message) };
        let (head, rest) = message.split_first_chunk::<NUMBER>()?;
        let (frame, signature) = rest.split_last_chunk::<SIGNATURE>()?;
        let received = u64::from_be_bytes(*head);
        if received <= *number || !key.verifies(&session_text(subject, head, frame), signature) {
            return None;
        }
        *number = received;
        Some(frame)
    }
}

fn session_text(subject: &str, number: &[u8; NUMBER], frame: &[u8]) -> Vec<u8> {
    [SESSION, subject.as_bytes(), b"\n", number, frame].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(subject: &str) -> (Seal, PublicKey) {
        let key = NKey::generate();
        let public = PublicKey::read(&key.public()).expect("a public key");
        let (server, name) = ("nats://a".to_owned(), "ops".to_owned());
        let access = Arc::new(ServerAccess { server, name, key: Some(key), ca: None });
        (Seal::Signed { access, subject: subject.to_owned(), number: 0 }, public)
    }

    fn opener(key: &PublicKey, subject: &str) -> Opener {
        Opener::Verified { key: key.clone(), subject: subject.to_owned(), number: 0 }
    }

    #[test]
    fn decrypts_messages_of_its_controller_in_order() {
        let (mut seal, key) = signer("a");
        let messages: Vec<_> = (0..3).map(|n: u8| seal.seal(vec![n])).collect();
        let mut to = opener(&key, "a");
        assert_eq!(to.open(&messages[0]), Some(&[0][..]));
        assert_eq!(to.open(&messages[2]), Some(&[2][..]));
    }

    #[test]
    fn refuses_messages_that_are_repeated_reordered_forged_or_of_another_session() {
        let (mut seal, key) = signer("a");
        let (one, two) = (seal.seal(b"one".to_vec()), seal.seal(b"two".to_vec()));
        let mut to = opener(&key, "a");
        assert!(to.open(&two).is_some());
        assert!(to.open(&two).is_none() && to.open(&one).is_none());
        assert!(opener(&key, "b").open(&one).is_none());
        let (mut stranger, _) = signer("a");
        assert!(opener(&key, "a").open(&stranger.seal(b"one".to_vec())).is_none());
        for at in 0..one.len() {
            let mut forged = one.clone();
            forged[at] ^= 1;
            assert!(opener(&key, "a").open(&forged).is_none(), "byte {at}");
            assert!(opener(&key, "a").open(&one[..at]).is_none(), "{at} bytes");
        }
    }
}
