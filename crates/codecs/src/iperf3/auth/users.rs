//! The server's users. Each line of the file is `user,sha256hex("{user}password")`.

use std::fmt;

use sha2::{Digest, Sha256};

use super::Credentials;

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Users(Vec<(String, String)>);

impl Users {
    /// Skips lines that start with `#` or contain no comma, like iperf3.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let fields = lines.filter_map(|line| line.split_once(','));
        Self(fields.map(|(user, rest)| (user.to_owned(), first_field(rest).to_owned())).collect())
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, credentials: &Credentials) -> bool {
        let digest = Sha256::digest(format!("{{{}}}{}", credentials.user, credentials.password));
        let hash = digest.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let is = |(user, known): &(String, String)| {
            same(user.as_bytes(), credentials.user.as_bytes()) & same(known.as_bytes(), hash.as_bytes())
        };
        self.0.iter().fold(false, |found, user| found | is(user))
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.count())
    }
}

fn first_field(rest: &str) -> &str {
    rest.split(',').next().unwrap_or_default().trim_end()
}

fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
