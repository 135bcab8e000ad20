//! User authentication: the client encrypts who it is, and when, with the server's public key (iperf_auth.c).
//!
//! The server's answer to a wrong token must not tell how far it got: PKCS #1 v1.5 padding is rejected implicitly
//! (draft-irtf-cfrg-rsa-guidance, section 7.2), decryption is blinded, every user is visited, and whatever is wrong
//! is one refusal. That decryption takes the same time for every token is not promised: its crate, `rsa`, was open to
//! timing in 0.9 (RUSTSEC-2023-0071) and has been rewritten since, without a final release. A token that is overheard could
//! be used again until it is too old: a server has to remember those that it has let in.

mod keys;
mod users;

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use thiserror::Error;

pub use keys::{KeyError, PrivateKey, PublicKey};
pub use users::Users;

/// The clocks of both ends may differ by this many seconds unless the server was told otherwise.
pub const DEFAULT_SKEW: i64 = 10;

/// How the secret is padded; both ends must have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// Until 3.16, and from 3.17 on with `--use-pkcs1-padding`.
    Pkcs1v15,
    /// OAEP with SHA-1, since 3.17.
    Oaep,
}

/// Who a client is.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user's name.
    pub user: String,
    /// The user's password.
    pub password: String,
}

/// Who a client says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Name and password.
    pub credentials: Credentials,
    /// When it said so, in seconds since 1970 by its clock.
    pub at: i64,
}

/// Why a client may not run its test. It is told nothing of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LoginDenial {
    /// It sent no token.
    #[error("the client said nothing of who it is")]
    Absent,
    /// Its token cannot be read with this key and padding.
    #[error("the client's token is not for this server's key, or is padded otherwise")]
    Unreadable,
    /// Its clock and the server's differ by too much, or its token is an old one.
    #[error("the client's token is {seconds} s off; at most {allowed} s are allowed")]
    Skewed {
        /// The server's clock less the client's.
        seconds: i64,
        /// The server's threshold.
        allowed: i64,
    },
    /// It has logged in somebody already: whoever overheard it may be using it again.
    #[error("the client's token was used before")]
    Replayed,
    /// Nobody has this name and password.
    #[error("no user has this name and password")]
    Unknown,
}

/// Fills a slice with random bytes that nobody can foresee.
pub type Entropy<'a> = &'a mut dyn FnMut(&mut [u8]);

impl Credentials {
    /// The token that says who the client is, at this time (seconds since 1970).
    ///
    /// # Errors
    /// When name and password are too long for the key.
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
    /// What a token says.
    ///
    /// # Errors
    /// When it says nothing.
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

    /// Whether a token may be one for this key, by its length: all that can be said without work.
    #[must_use]
    pub fn may_open(token: &str, key: &PrivateKey) -> bool {
        STANDARD.decode(token).is_ok_and(|secret| secret.len() == key.size())
    }

    /// Whether it may run a test, by the server's clock (seconds since 1970).
    ///
    /// # Errors
    /// When it may not.
    pub fn judge(&self, users: &Users, now: i64, skew: i64) -> Result<(), LoginDenial> {
        let known = users.know(&self.credentials);
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
