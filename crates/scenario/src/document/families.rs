//! The address families of a lab. `family` converts the written addresses, so that one scenario covers both families.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{As, Document, spanned::Spanned};
use crate::{diagnosis::Problem, family::Family};

pub(crate) struct Converter {
    family: Family,
    pub(crate) problems: Vec<Problem>,
}

pub(crate) trait Convert: Copy + std::fmt::Display {
    fn convert(self, family: Family) -> Option<Self>;
}

impl Convert for IpAddr {
    fn convert(self, family: Family) -> Option<Self> {
        family.address(self)
    }
}

impl Convert for IpNet {
    fn convert(self, family: Family) -> Option<Self> {
        family.network(self)
    }
}

impl Converter {
    pub(crate) fn put<T: Convert>(&mut self, written: &mut Spanned<As<T>>) {
        let address = written.0;
        match address.convert(self.family) {
            Some(converted) => written.0 = converted,
            None => self.problems.push(self.without_counterpart(address, written.span())),
        }
    }

    pub(crate) fn put_optional<T: Convert>(&mut self, written: &mut Spanned<As<Option<T>>>) {
        let Some(address) = written.0 else { return };
        match address.convert(self.family) {
            Some(converted) => written.0 = Some(converted),
            None => self.problems.push(self.without_counterpart(address, written.span())),
        }
    }

    fn without_counterpart<T: Convert>(&self, address: T, place: std::ops::Range<usize>) -> Problem {
        let family = self.family.word();
        let message = format!("`family` includes {family}, but {address} has no {family} counterpart");
        let help = "write the lab's addresses in IPv4; each then has an IPv6 counterpart, e.g. 2001:2::198.18.1.1 for \
                    198.18.1.1";
        Problem::new(place, message, "no counterpart").help(help)
    }
}

impl Document {
    /// The first family is the baseline. The list is empty if the addresses are used unchanged.
    pub(crate) fn families(&self) -> Vec<Family> {
        self.family.iter().flat_map(|all| all.get_ref()).map(|family| **family).collect()
    }

    /// Converts the lab's addresses to the first family, except those of existing hosts.
    pub(crate) fn convert_addresses(&mut self) -> Vec<Problem> {
        let families = self.families();
        let mut problems: Vec<Problem> = invalid(self).into_iter().collect();
        let Some(&first) = families.first() else { return problems };
        // The second family is derived from the first, so every address must have a counterpart in both.
        for family in families.into_iter().skip(1).chain([first]) {
            let mut converter = Converter { family, problems: Vec::new() };
            self.links.convert(&mut converter);
            for gateway in &mut self.gateways.0 {
                converter.put(&mut gateway.table.pods);
                converter.put(&mut gateway.table.destinations);
                converter.put(&mut gateway.table.address);
            }
            for route in &mut self.routes {
                converter.put(&mut route.to);
                converter.put(&mut route.via);
            }
            problems.extend(converter.problems);
        }
        problems
    }
}

fn invalid(document: &Document) -> Option<Problem> {
    let all = document.family.as_ref()?;
    let mut seen = Vec::new();
    if all.is_empty() {
        let problem = Problem::new(all.span(), "`family` has no values", "empty");
        return Some(problem.help("write `family = [\"ipv4\", \"ipv6\"]`, or remove it"));
    }
    let repeated = all.iter().find(|family| {
        let is_known = seen.contains(&***family);
        seen.push(***family);
        is_known
    })?;
    let message = format!("duplicate value `{}`", repeated.word());
    Some(Problem::new(repeated.span(), message, "repeated here"))
}
