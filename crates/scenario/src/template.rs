//! Commented scenario templates.

use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    pub name: &'static str,
    pub about: &'static str,
    text: &'static str,
}

pub const ALL: &[Template] = &[
    Template {
        name: "two-hosts",
        about: "Two hosts connected by a wire",
        text: include_str!("../templates/two-hosts.toml"),
    },
    Template {
        name: "two-guests",
        about: "Two guests on a bridge, compared with a wire",
        text: include_str!("../templates/two-guests.toml"),
    },
    Template {
        name: "overlay",
        about: "A VXLAN overlay between two hosts with a guest on each",
        text: include_str!("../templates/overlay.toml"),
    },
    Template {
        name: "vms",
        about: "Two virtual machines on a bridge, with one and two queues",
        text: include_str!("../templates/vms.toml"),
    },
    Template {
        name: "machines",
        about: "Three machines reached over SSH, all pairs",
        text: include_str!("../templates/machines.toml"),
    },
];

#[must_use]
pub fn of_members(name: &str, members: &[impl AsRef<str>]) -> String {
    let text = MEMBERS.named(name);
    let (before, from) = text.split_once(FIRST_HOST).expect("the template has a host");
    let (_, after) = from.split_once(FIRST_WORKLOAD).expect("the template lists a workload below the host");
    let mut taken = BTreeSet::new();
    let mut hosts = String::new();
    for member in members.iter().map(AsRef::as_ref) {
        let numbered = (2_u32..).map(|number| host_name(member, &format!("-{number}")));
        let mut names = [host_name(member, "")].into_iter().chain(numbered);
        let name = names.find(|name| taken.insert(name.clone())).expect("there are enough numbers");
        hosts += &format!("[hosts.\"{name}\"]\nat = \"member:{member}\"\n\n");
    }
    format!("{before}{hosts}{FIRST_WORKLOAD}{after}")
}

/// Shortens a node's name to fit a host name. Cuts the middle, because the end distinguishes nodes from pods.
fn host_name(member: &str, end: &str) -> String {
    let name = member.trim_start_matches(['-', '_']);
    let room = LONGEST - end.len();
    let cut = if name.len() > room {
        format!("{}-{}", &name[..room / 2], &name[name.len() - (room - room / 2 - 1)..])
    } else {
        name.to_owned()
    };
    format!("{cut}{end}")
}

const MEMBERS: Template = Template {
    name: "members",
    about: "Fleet members, all pairs",
    text: include_str!("../templates/members.toml"),
};
const FIRST_HOST: &str = "[hosts.a]\n";
const FIRST_WORKLOAD: &str = "[workloads.";
const LONGEST: usize = 48;

const OWN_NAME: &str = "mine";

impl Template {
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
    fn creates_one_host_per_member() {
        let node = "ip-192-168-123-123.ap-southeast-1.compute.internal";
        let (pod, long) = (format!("{node}.pod"), "x".repeat(60));
        let (other, third) = (format!("{long}y{long}"), format!("{long}z{long}"));
        let text = of_members("other", &["rack-1", "_a", node, &pod, &other, &third]);
        let scenario = Scenario::parse("template", &text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let hosts: Vec<&str> = scenario.lab.hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(hosts[..2], ["rack-1", "a"]);
        assert!(hosts[2].starts_with("ip-192-168-123-123.ap-so") && hosts[3].ends_with("internal.pod"));
        assert!(hosts[5].ends_with("xx-2") && hosts.iter().all(|host| host.len() <= LONGEST), "{hosts:?}");
        assert_eq!(scenario.paths.len(), 30);
    }

    #[test]
    fn instantiates_each_template_with_given_name() {
        for template in ALL {
            let text = template.named("other");
            let scenario = Scenario::parse("template", &text)
                .unwrap_or_else(|error| panic!("{}: {error:?}", template.name));
            assert_eq!(scenario.name, "other");
            assert!(!text.contains(OWN_NAME), "{text}");
        }
    }
}
