//! The subjects of a fleet. The server's permissions depend on the position of names in subjects.

const LONGEST: usize = 253;
pub const NAME_RULE: &str = "up to 253 letters, digits, `-`, `_`, and dots in between";
/// Replaces dots in names, because dots separate the tokens of a subject.
const DOT: &str = "~";

/// Accepts letters, digits, `-` and `_`, with dots in between, as in the name of a cluster node.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.len() <= LONGEST && text.split('.').all(|part| !part.is_empty() && part.chars().all(sign))
}

fn token(name: &str) -> String {
    name.replace('.', DOT)
}

pub(crate) fn roll(user: &str) -> String {
    format!("plumb.roll.{}", token(user))
}

pub(crate) fn order(member: &str, controller: &str) -> String {
    format!("plumb.order.{}.{}", token(member), token(controller))
}

/// The server's permissions guarantee the controller's name in the subject.
pub(crate) fn ordering(subject: &str) -> String {
    subject.rsplit('.').next().unwrap_or_default().replace(DOT, ".")
}

pub(crate) fn session(member: &str, controller: &str, id: &str) -> [String; 2] {
    let [member, controller] = [member, controller].map(token);
    ["to", "from"].map(|way| format!("plumb.session.{member}.{controller}.{id}.{way}"))
}

pub(crate) fn answer(user: &str, member: &str, id: &str) -> String {
    format!("plumb.answer.{}.{}.{id}", token(user), token(member))
}

/// The server's permissions guarantee the member's name in the subject.
pub(crate) fn answering(subject: &str) -> String {
    subject.split('.').nth(3).unwrap_or_default().replace(DOT, ".")
}

pub(crate) fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_name_as_one_token() {
        for name in ["a", "rack-1", "node_7", "A9", "ip-10-0-0-1.eu-west-1.compute.internal"] {
            assert!(is_name(name), "{name}");
            assert_eq!(ordering(&order("m", name)), name);
            assert_eq!(order(name, "ops").split('.').count(), 4);
            assert_eq!(answering(&answer("ops", name, "0f")), name);
        }
        for name in ["", ".", "a.", "a..b", "a~b", "*", ">", "a b", "ä", &"x".repeat(254)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
