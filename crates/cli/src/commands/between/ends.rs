//! The two endpoints on the command line.

use std::{collections::BTreeMap, net::IpAddr};

use ::scenario::{Access, Endpoint, HostName};
use anyhow::Context;
use machine::Attached;
use topology::addresses_between;

use crate::failure::Misuse;

pub(super) const LOCAL: &str = "local";
/// The name of plumb's own namespace in reports.
pub(super) const NODE: &str = "node";
/// Maximum length of a host name. Path names contain two and must stay within 48 characters.
const LONGEST: usize = 20;

pub(super) struct Ends {
    pub(super) from: End,
    pub(super) to: End,
}

pub(super) struct End {
    pub(super) access: Access,
    pub(super) host: String,
    pub(super) text: String,
}

pub(super) struct Opened {
    pub(super) from: Attached,
    pub(super) to: Attached,
    pub(super) addresses: [IpAddr; 2],
}

impl Opened {
    pub(super) fn endpoints(self, ends: &Ends) -> BTreeMap<HostName, Attached> {
        let both = [(&ends.from, self.from), (&ends.to, self.to)].into_iter();
        let endpoints = both.filter(|(end, _)| end.endpoint().is_some());
        endpoints.map(|(end, attached)| (HostName::new(&end.host), attached)).collect()
    }
}

impl Ends {
    pub(super) fn parse(from: &str, to: &str) -> anyhow::Result<Self> {
        let (from, mut to) = (End::parse(from)?, End::parse(to)?);
        if from.host == to.host {
            to.host += "-2";
        }
        Ok(Self { from, to })
    }

    pub(super) fn open(&self) -> anyhow::Result<Opened> {
        let [from, to] = [self.from.open()?, self.to.open()?];
        if from.shares_network_with(&to) {
            let message = format!(
                "{} and {} are in the same network namespace, so there is no path between them",
                self.from.text, self.to.text
            );
            let hint = "containers of one pod share a namespace, and a container with host networking uses the \
                        node's; name another endpoint";
            return Err(Misuse::new(message).hint(hint).into());
        }
        for (end, attached) in [(&self.from, &from), (&self.to, &to)] {
            if let Some(endpoint) = end.endpoint() {
                attached.gain_rights(endpoint)?;
            }
        }
        let addresses = addresses_between(from.namespace(), to.namespace())
            .with_context(|| format!("cannot measure from {} to {}", self.from.text, self.to.text))?;
        Ok(Opened { from, to, addresses })
    }
}

impl End {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let access: Access = text.parse().map_err(|error| Misuse::new(format!("{error}")))?;
        let host = match &access {
            Access::Local => LOCAL.to_owned(),
            Access::Endpoint(endpoint) => host_name(&endpoint.short_name()),
            Access::Ssh { .. } | Access::Member { .. } => {
                let message =
                    format!("{text} is another machine, but plumb between only measures on this one");
                let hint =
                    "measure other machines with a scenario: `plumb scenario new NAME --with machines`";
                return Err(Misuse::new(message).hint(hint).into());
            }
        };
        Ok(Self { access, host, text: text.to_owned() })
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        match &self.access {
            Access::Endpoint(endpoint) => Some(endpoint),
            _ => None,
        }
    }

    fn open(&self) -> Result<Attached, machine::AttachError> {
        self.endpoint().map_or_else(Attached::own, Attached::open)
    }
}

fn host_name(short: &str) -> String {
    let name = plain(short.trim_start_matches(['-', '_', '.']));
    let cut = &name[name.len().saturating_sub(LONGEST)..];
    match cut.trim_start_matches(['-', '_', '.']) {
        "" => "endpoint".to_owned(),
        reserved @ (LOCAL | NODE) => format!("{reserved}-1"),
        cut => cut.to_owned(),
    }
}

pub(super) fn plain(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    name.chars().map(valid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_host_names_from_endpoints() {
        let names =
            |from, to| Ends::parse(from, to).map(|ends| (ends.from.host, ends.to.host)).expect("valid");
        let of = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(names("container:web", "local"), of("web", "local"));
        assert_eq!(names("container:node", "container:local"), of("node-1", "local-1"));
        assert_eq!(names("pod:a/web", "pod:b/web"), of("web", "web-2"));
        assert_eq!(names("netns:/run/netns/a b", "netns:/"), of("a-b", "endpoint"));
        assert_eq!(
            names("pod:a/shop-frontend-5d8f7c9b6-x2x9z", "pid:1"),
            of("tend-5d8f7c9b6-x2x9z", "pid-1")
        );
    }

    #[test]
    fn rejects_other_machines() {
        for text in ["ssh:root@rack-1", "member:rack-1"] {
            let error = Ends::parse("local", text).err().expect("another machine").to_string();
            assert!(error.contains(text) && error.contains("another machine"), "{error}");
        }
    }
}
