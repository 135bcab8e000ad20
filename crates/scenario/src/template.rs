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
