//! Remembers used login tokens until they expire, to prevent replay. Times are in seconds since 1970.

use std::collections::HashMap;

/// More tokens than the server can decrypt during a token's lifetime. If the table is full, the token that expires
/// first is removed.
const CAPACITY: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct SeenTokens(HashMap<Box<str>, i64>);

impl SeenTokens {
    pub(super) fn is_new(&mut self, token: &str, until: i64, now: i64) -> bool {
        if self.0.len() >= CAPACITY {
            self.0.retain(|_, until| *until >= now);
        }
        if self.0.len() >= CAPACITY {
            let first = self.0.iter().min_by_key(|(_, until)| **until).map(|(token, _)| token.clone());
            first.and_then(|token| self.0.remove(&token));
        }
        self.0.insert(token.into(), until).is_none_or(|until| until < now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_new_once_before_expiry() {
        let mut tokens = SeenTokens::default();
        assert!(tokens.is_new("a", 20, 10) && tokens.is_new("b", 20, 10));
        assert!(!tokens.is_new("a", 20, 15) && !tokens.is_new("a", 20, 20));
        assert!(tokens.is_new("c", 30, 20));
    }

    #[test]
    fn limits_number_of_tokens() {
        let mut tokens = SeenTokens::default();
        for number in 0..CAPACITY as i64 + 10 {
            assert!(tokens.is_new(&number.to_string(), number, 0));
        }
        assert_eq!(tokens.0.len(), CAPACITY);
        assert!(!tokens.is_new("100", 100, 0), "only the oldest are removed");
    }
}
