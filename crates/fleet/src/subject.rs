//! The subjects of a fleet: which name stands where in them is what a server's permissions go by. Must not know what is sent.

/// The longest name, as that of a host in DNS.
const LONGEST: usize = 63;

/// Whether a member or a controller can be called so: a token of a subject, of letters, digits, `-` and `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(sign)
}

/// Whoever is there is asked for by `user`.
pub(crate) fn roll(user: &str) -> String {
    format!("plumb.roll.{user}")
}

/// What a member is ordered by a controller.
pub(crate) fn order(member: &str, controller: &str) -> String {
    format!("plumb.order.{member}.{controller}")
}

/// The controller that an order came from, which the server lets use no other name.
pub(crate) fn ordering(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}

/// Both ways of a session: to the member, and from it.
pub(crate) fn session(member: &str, controller: &str, id: &str) -> [String; 2] {
    ["to", "from"].map(|way| format!("plumb.session.{member}.{controller}.{id}.{way}"))
}

/// What the answers to a user's questions come to.
pub(crate) fn inbox(user: &str) -> String {
    format!("_INBOX.{user}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_token_of_a_subject() {
        for name in ["a", "rack-1", "node_7", "A9"] {
            assert!(is_name(name), "{name}");
            assert_eq!(ordering(&order("m", name)), name);
        }
        for name in ["", "a.b", "*", ">", "a b", "ä", &"x".repeat(64)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
