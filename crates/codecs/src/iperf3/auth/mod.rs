//! User authentication. The client encrypts its credentials and the time with the server's public key
//! (iperf_auth.c).
//!
//! The reply to an invalid token must not reveal which step failed. Invalid PKCS #1 v1.5 padding is therefore rejected
//! implicitly (draft-irtf-cfrg-rsa-guidance, section 7.2), decryption is blinded, and the credentials are compared with
//! those of all users. Even so, decryption might not take constant time (RUSTSEC-2023-0071). A recorded token can be
//! replayed until it expires, so a server must remember accepted tokens.

mod keys;
mod users;

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use thiserror::Error;

pub use keys::{KeyError, PrivateKey, PublicKey};
pub use users::Users;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// The default up to iperf3 3.16. Later versions need `--use-pkcs1-padding`.
    Pkcs1v15,
    /// OAEP with SHA-1, the default since version 3.17.
    Oaep,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub user: String,
    pub password: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub credentials: Credentials,
    pub at: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LoginDenial {
    #[error("the client sent no credentials")]
    Absent,
    #[error("the client's token was encrypted for another key or with another padding")]
    Unreadable,
    #[error("the client's token is {seconds} s off; at most {allowed} s are allowed")]
    Skewed {
        /// The server's time minus the client's.
        seconds: i64,
        allowed: i64,
    },
    #[error("the client's token was used before")]
    Replayed,
    #[error("no user has this name and password")]
    Unknown,
}

/// A cryptographically secure source of random bytes.
pub type Entropy<'a> = &'a mut dyn FnMut(&mut [u8]);

impl Credentials {
    /// `now` is in seconds since 1970. Fails if user name and password are too long for the key.
    pub fn token(
        &self,
        key: &PublicKey,
        padding: Padding,
        now: i64,
        entropy: Entropy<'_>,
    ) -> Result<String, KeyError> {
        let text = format!("user: {}\npwd:  {}\nts:   {now}", self.user, self.password);
        key.encrypt(padding, text.as_bytes(), entropy).map(|secret| STANDARD.encode(secret))
    }
}

impl Claim {
    pub fn open(
        token: &str,
        key: &PrivateKey,
        padding: Padding,
        entropy: Entropy<'_>,
    ) -> Result<Self, LoginDenial> {
        let secret = STANDARD.decode(token).map_err(|_| LoginDenial::Unreadable)?;
        let text = key.decrypt(padding, &secret, entropy).ok_or(LoginDenial::Unreadable)?;
        Self::parse(&text).ok_or(LoginDenial::Unreadable)
    }

    #[must_use]
    pub fn may_open(token: &str, key: &PrivateKey) -> bool {
        STANDARD.decode(token).is_ok_and(|secret| secret.len() == key.size())
    }

    /// `now` is in seconds since 1970, `skew` in seconds.
    pub fn judge(&self, users: &Users, now: i64, skew: i64) -> Result<(), LoginDenial> {
        let known = users.contains(&self.credentials);
        let seconds = now.saturating_sub(self.at);
        if seconds.unsigned_abs() > skew.unsigned_abs() {
            return Err(LoginDenial::Skewed { seconds, allowed: skew });
        }
        if known { Ok(()) } else { Err(LoginDenial::Unknown) }
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(text).ok()?.split('\n');
        let mut field = |name: &str| Some(lines.next()?.strip_prefix(name)?.trim().to_owned());
        let (user, password, at) = (field("user:")?, field("pwd:")?, field("ts:")?);
        Some(Self { credentials: Credentials { user, password }, at: at.parse().ok()? })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}
