//! The scenarios that are shipped inside the program: their names and texts. Knows nothing of what they mean.

use crate::nearest;

/// A shipped scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, as in `plumb run NAME`.
    pub name: &'static str,
    /// Its document.
    pub text: &'static str,
}

const ALL: &[Builtin] = &[
    Builtin { name: "quick", text: include_str!("../../../scenarios/quick.toml") },
    Builtin { name: "engine-limits", text: include_str!("../../../scenarios/engine-limits.toml") },
    Builtin { name: "bridge-queues", text: include_str!("../../../scenarios/bridge-queues.toml") },
    Builtin { name: "bridge-multiqueue", text: include_str!("../../../scenarios/bridge-multiqueue.toml") },
    Builtin { name: "proxmox-vxlan", text: include_str!("../../../scenarios/proxmox-vxlan.toml") },
    Builtin { name: "egress-gateway", text: include_str!("../../../scenarios/egress-gateway.toml") },
    Builtin { name: "bridge-streams", text: include_str!("../../../scenarios/bridge-streams.toml") },
    Builtin { name: "balloon", text: include_str!("../../../scenarios/balloon.toml") },
    Builtin { name: "vhost", text: include_str!("../../../scenarios/vhost.toml") },
    Builtin {
        name: "four-configurations",
        text: include_str!("../../../scenarios/four-configurations.toml"),
    },
];

/// Every shipped scenario, the quickest first.
#[must_use]
pub fn all() -> &'static [Builtin] {
    ALL
}

/// The shipped scenario of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

/// The name of the shipped scenario that `name` was probably meant to be.
#[must_use]
pub fn suggest(name: &str) -> Option<&'static str> {
    nearest::word(name, ALL.iter().map(|builtin| builtin.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_builtin_that_was_meant() {
        for (typed, meant) in
            [("quik", Some("quick")), ("egress-gatway", Some("egress-gateway")), ("xyz", None)]
        {
            assert_eq!(suggest(typed), meant, "{typed}");
        }
    }

    #[test]
    fn a_builtin_is_found_by_the_name_that_its_document_gives() {
        for builtin in all() {
            let scenario =
                crate::Scenario::parse(builtin.name, builtin.text).expect("a shipped scenario parses");
            assert_eq!(scenario.name, builtin.name);
            assert_eq!(find(&scenario.name), Some(builtin));
        }
    }
}
