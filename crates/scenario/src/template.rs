//! Commented scenarios to begin one's own with. Knows nothing of what they mean.

/// A scenario to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// What it is asked for by.
    pub name: &'static str,
    /// What is in it.
    pub about: &'static str,
    text: &'static str,
}

/// Every template, the smallest first.
pub const ALL: &[Template] = &[
    Template {
        name: "two-hosts",
        about: "Two hosts on one wire",
        text: include_str!("../templates/two-hosts.toml"),
    },
    Template {
        name: "two-guests",
        about: "Two guests on one bridge, beside a wire",
        text: include_str!("../templates/two-guests.toml"),
    },
    Template {
        name: "overlay",
        about: "A VXLAN overlay between two hosts with a guest on each",
        text: include_str!("../templates/overlay.toml"),
    },
    Template {
        name: "vms",
        about: "Two virtual machines on one bridge, with one queue and two",
        text: include_str!("../templates/vms.toml"),
    },
    Template {
        name: "machines",
        about: "Three machines that SSH reaches, each to each other",
        text: include_str!("../templates/machines.toml"),
    },
];

/// Each of these members of a fleet to each other. Where the template has one host, each has its own.
#[must_use]
pub fn of_members(name: &str, members: &[impl AsRef<str>]) -> String {
    let text = MEMBERS.named(name);
    let (before, from) = text.split_once(FIRST_HOST).expect("the template has a host");
    let (_, after) = from.split_once(FIRST_WORKLOAD).expect("and workloads behind it");
    let host = |member: &str| {
        // A node of a cluster may have a long one.
        let called = if member.len() > LONGEST { member.split('.').next().unwrap_or(member) } else { member };
        let called = if called.contains('.') { format!("\"{called}\"") } else { called.to_owned() };
        format!("[hosts.{called}]\nmember = \"{member}\"\n\n")
    };
    let hosts: String = members.iter().map(|member| host(member.as_ref())).collect();
    format!("{before}{hosts}{FIRST_WORKLOAD}{after}")
}

const MEMBERS: Template = Template {
    name: "members",
    about: "Members of a fleet, each to each other",
    text: include_str!("../templates/members.toml"),
};
const FIRST_HOST: &str = "[hosts.a]\n";
const FIRST_WORKLOAD: &str = "[workloads.";
/// The longest name of a host.
const LONGEST: usize = 48;

/// What the templates call themselves.
const OWN_NAME: &str = "mine";

impl Template {
    /// Its document, for a scenario of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> String {
        let named = self.text.replace(&format!("name = \"{OWN_NAME}\""), &format!("name = \"{name}\""));
        named.replace(&format!("./{OWN_NAME}.toml"), &format!("./{name}.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn members_are_a_host_each() {
        let long = format!("{}.compute.internal", "x".repeat(40));
        let text = of_members("other", &["rack-1", "node.2", &long]);
        let scenario = Scenario::parse("template", &text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let hosts: Vec<&str> = scenario.lab.hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(hosts, ["rack-1", "node.2", &"x".repeat(40)]);
        assert_eq!(scenario.paths.len(), 6);
    }

    #[test]
    fn every_template_is_a_scenario_of_the_name_that_was_asked_for() {
        for template in ALL {
            let text = template.named("other");
            let scenario = Scenario::parse("template", &text)
                .unwrap_or_else(|error| panic!("{}: {error:?}", template.name));
            assert_eq!(scenario.name, "other");
            assert!(!text.contains(OWN_NAME), "{text}");
        }
    }
}
