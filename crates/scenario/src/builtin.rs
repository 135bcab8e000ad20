//! The built-in scenarios.

use crate::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    pub name: &'static str,
    pub text: &'static str,
}

const ALL: &[Builtin] = &[
    Builtin { name: "quick", text: include_str!("../../../scenarios/quick.toml") },
    Builtin { name: "engine-limits", text: include_str!("../../../scenarios/engine-limits.toml") },
    Builtin { name: "bridge-queues", text: include_str!("../../../scenarios/bridge-queues.toml") },
    Builtin { name: "bridge-multiqueue", text: include_str!("../../../scenarios/bridge-multiqueue.toml") },
    Builtin { name: "tunnels", text: include_str!("../../../scenarios/tunnels.toml") },
    Builtin { name: "ovs-or-bridge", text: include_str!("../../../scenarios/ovs-or-bridge.toml") },
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

#[must_use]
pub fn all() -> &'static [Builtin] {
    ALL
}

#[must_use]
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

#[must_use]
pub fn suggest(name: &str) -> Option<&'static str> {
    nearest::word(name, ALL.iter().map(|builtin| builtin.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_builtin_for_misspelled_name() {
        for (typed, expected) in
            [("quik", Some("quick")), ("egress-gatway", Some("egress-gateway")), ("xyz", None)]
        {
            assert_eq!(suggest(typed), expected, "{typed}");
        }
    }

    #[test]
    fn finds_each_builtin_by_its_document_name() {
        for builtin in all() {
            let scenario =
                crate::Scenario::parse(builtin.name, builtin.text).expect("a built-in scenario parses");
            assert_eq!(scenario.name, builtin.name);
            assert_eq!(find(&scenario.name), Some(builtin));
        }
    }
}
