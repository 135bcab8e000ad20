//! The access token for readers. Hashes are compared in constant time.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;

const SHORTEST: usize = 16;
const CHANCE: usize = 24;

pub struct Token([u8; 32]);

#[derive(Debug, Error, PartialEq, Eq)]
pub enum TokenError {
    #[error("it has {length} characters; the minimum is {SHORTEST}")]
    Short { length: usize },
    #[error("it contains a space or a control character")]
    Space,
    #[error("the kernel has no random numbers: {0}")]
    Chance(String),
}

impl Token {
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let length = text.chars().count();
        if length < SHORTEST {
            return Err(TokenError::Short { length });
        }
        if text.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
            return Err(TokenError::Space);
        }
        Ok(Self(digest(text)))
    }

    pub fn generate() -> Result<(Self, String), TokenError> {
        let text = BASE64_URL_SAFE_NO_PAD.encode(random::<CHANCE>()?);
        Ok((Self::new(&text)?, text))
    }

    pub(crate) fn is(&self, shown: &str) -> bool {
        digest(shown.trim()).ct_eq(&self.0).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

pub(crate) fn random<const BYTES: usize>() -> Result<[u8; BYTES], TokenError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::Chance(error.to_string()))?;
    Ok(bytes)
}

pub(crate) fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_its_own_format() {
        let (token, text) = Token::generate().expect("the kernel has random numbers");
        assert!(token.is(&text) && token.is(&format!(" {text}\n")) && text.len() >= SHORTEST);
        assert!(!token.is("") && !token.is(&text[1..]));
        let other = Token::generate().expect("again").1;
        assert!(!token.is(&other) && !format!("{token:?}").contains(&text));
    }

    #[test]
    fn refuses_short_tokens_and_spaces() {
        let refused = |text: &str| Token::new(text).expect_err("no token");
        assert_eq!(refused("  hunter2\n"), TokenError::Short { length: 7 });
        assert_eq!(refused(""), TokenError::Short { length: 0 });
        assert_eq!(refused("two words are no token"), TokenError::Space);
        assert!(
            Token::new("a-long-enough-token\n")
                .expect("a file ends with a line feed")
                .is("a-long-enough-token")
        );
    }
}
