//! The users of a NATS server's configuration, with what each may: a member receives orders for its name and
//! replies under it, a controller sends orders under its own. Must not know where the file is.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::subject::{answer, order, roll, session};

/// What somebody is in a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Member,
    Controller,
}

/// Somebody whom the server lets in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    pub name: String,
    pub role: Role,
    /// The public half of the key.
    pub key: String,
}

impl User {
    /// The subjects to which it may publish, and those to which it may subscribe.
    fn subjects(&self) -> [Vec<String>; 2] {
        let (name, answers) = (&self.name, answer(&self.name, "*", "*"));
        match self.role {
            Role::Member => {
                let [to, from] = session(name, "*", "*");
                [
                    vec![roll(name), from, answer("*", name, "*")],
                    vec![roll("*"), order(name, "*"), to, answers],
                ]
            }
            Role::Controller => {
                let [to, from] = session("*", name, "*");
                [vec![roll(name), order("*", name), to], vec![from, answers]]
            }
        }
    }
}

/// The part of a server's configuration that lets these in, and nobody else.
#[must_use]
pub fn users(all: &[User]) -> String {
    let mut text =
        "# Written by `plumb fleet`: changes by hand are lost.\nauthorization {\n  users = [\n".to_owned();
    for user in all {
        let [publish, subscribe] =
            user.subjects().map(|subjects| format!("[\"{}\"]", subjects.join("\", \"")));
        let _ = writeln!(
            text,
            "    # {}\n    {{ nkey: {}, permissions: {{ publish: {publish}, subscribe: {subscribe} }} }}",
            user.name, user.key
        );
    }
    text + "  ]\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_may_what_has_its_name_and_no_more() {
        let user = |name: &str, role| User { name: name.to_owned(), role, key: format!("U{name}") };
        let text = users(&[user("rack-1", Role::Member), user("ops", Role::Controller)]);
        for line in [
            "{ nkey: Urack-1, permissions: { publish: [\"plumb.roll.rack-1\", \"plumb.session.rack-1.*.*.from\", \
             \"plumb.answer.*.rack-1.*\"], subscribe: [\"plumb.roll.*\", \"plumb.order.rack-1.*\", \
             \"plumb.session.rack-1.*.*.to\", \"plumb.answer.rack-1.*.*\"] } }",
            "{ nkey: Uops, permissions: { publish: [\"plumb.roll.ops\", \"plumb.order.*.ops\", \
             \"plumb.session.*.ops.*.to\"], subscribe: [\"plumb.session.*.ops.*.from\", \"plumb.answer.ops.*.*\"] } }",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
