//! Tokens that have logged somebody in, as long as they could be used again. Time is handed in, in seconds since 1970.

use std::collections::HashMap;

/// So many are remembered: no server decrypts as many within the time that one lives. The one is forgotten that would be
/// forgotten first.
const KEPT: usize = 65_536;

/// Each with the second in which it becomes too old.
#[derive(Debug, Default)]
pub(super) struct SeenTokens(HashMap<Box<str>, i64>);

impl SeenTokens {
    /// Whether a token comes for the first time; it is remembered until `until`.
    pub(super) fn is_new(&mut self, token: &str, until: i64, now: i64) -> bool {
        if self.0.len() >= KEPT {
            self.0.retain(|_, until| *until >= now);
        }
        if self.0.len() >= KEPT {
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
    fn a_token_is_new_once_until_it_is_too_old() {
        let mut seen = SeenTokens::default();
        assert!(seen.is_new("a", 20, 10) && seen.is_new("b", 20, 10));
        assert!(!seen.is_new("a", 20, 15) && !seen.is_new("a", 20, 20));
        assert!(seen.is_new("c", 30, 20));
    }

    #[test]
    fn tokens_take_no_more_memory_than_a_few() {
        let mut seen = SeenTokens::default();
        for number in 0..KEPT as i64 + 10 {
            assert!(seen.is_new(&number.to_string(), number, 0));
        }
        assert_eq!(seen.0.len(), KEPT);
        assert!(!seen.is_new("100", 100, 0), "only the oldest are forgotten");
    }
}
