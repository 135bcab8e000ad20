//! The subjects of a fleet: which name stands where in them is what a server's permissions go by. Must not know what is sent.

/// The longest name, as that of a host in DNS.
const LONGEST: usize = 253;
/// What [`is_name`] asks of a name, in words.
pub const NAME_RULE: &str = "letters, digits, `-`, `_`, and dots between them, 253 at most";
/// Stands for a dot of a name, which would end a subject's token.
const DOT: &str = "~";

/// Whether a member or a controller can be called so: letters, digits, `-` and `_`, and dots between them, as a node of a cluster.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.len() <= LONGEST && text.split('.').all(|part| !part.is_empty() && part.chars().all(sign))
}

fn token(name: &str) -> String {
    name.replace('.', DOT)
}

/// Whoever is there is asked for by `user`.
pub(crate) fn roll(user: &str) -> String {
    format!("plumb.roll.{}", token(user))
}

/// What a member is ordered by a controller.
pub(crate) fn order(member: &str, controller: &str) -> String {
    format!("plumb.order.{}.{}", token(member), token(controller))
}

/// The controller that an order came from, which the server lets use no other name.
pub(crate) fn ordering(subject: &str) -> String {
    subject.rsplit('.').next().unwrap_or_default().replace(DOT, ".")
}

/// Both ways of a session: to the member, and from it.
pub(crate) fn session(member: &str, controller: &str, id: &str) -> [String; 2] {
    let [member, controller] = [member, controller].map(token);
    ["to", "from"].map(|way| format!("plumb.session.{member}.{controller}.{id}.{way}"))
}

/// Replies of a member to the request `id` of a user.
pub(crate) fn answer(user: &str, member: &str, id: &str) -> String {
    format!("plumb.answer.{}.{}.{id}", token(user), token(member))
}

/// The member in the subject of a reply, which the server's permissions guarantee.
pub(crate) fn answering(subject: &str) -> String {
    subject.split('.').nth(3).unwrap_or_default().replace(DOT, ".")
}

/// Whether a text can be the last token of a subject: up to 64 hexadecimal digits.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_token_of_a_subject() {
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
