//! Platform-specific settings that remedy findings, from remedies.tsv.

use std::collections::BTreeSet;

use findings::{Change, Findings, ResultSummary};
use samples::{DeviceState, PathRecord};

/// Each row was checked against its source, at the row's version or commit.
const TABLE: &str = include_str!("remedies.tsv");
pub(crate) const LINUX: &str = "Linux";

struct Setting {
    name: &'static str,
    findings: &'static [&'static str],
    /// Whether to use the table's commands for plain Linux if the platform is unknown. For other settings, the rules
    /// contain commands with device names.
    on_linux: bool,
}

const SETTINGS: [Setting; 5] = [
    Setting { name: "multiqueue", findings: &["single-queue-bound", "too-many-queues"], on_linux: true },
    Setting { name: "vhost", findings: &["vhost-off"], on_linux: true },
    Setting {
        name: "packet-size",
        findings: &["mtu-mismatch", "black-hole", "fragmentation"],
        on_linux: false,
    },
    Setting { name: "checksums", findings: &["offload-off"], on_linux: false },
    Setting { name: "encapsulation", findings: &["tunnel-cost"], on_linux: false },
];

/// Device names of platforms. `#` stands for digits, `%` for at least ten hexadecimal digits, and `*` for the rest.
const DEVICES: [(&str, &[&str]); 8] = [
    ("libvirt", &["virbr#", "vnet#"]),
    ("Proxmox VE", &["vmbr#", "tap#i#", "veth#i#", "fwbr#i#", "fwpr#p#", "fwln#i#"]),
    ("KubeVirt", &["k6t-*"]),
    ("Cilium", &["cilium_*", "lxc_health", "lxc%"]),
    ("Calico", &["cali%", "vxlan.calico", "vxlan-v6.calico", "wireguard.cali"]),
    ("Antrea", &["antrea-gw#", "antrea-tun#"]),
    ("flannel", &["flannel.#", "flannel-v6.#"]),
    ("EgressGateway", &["egress.vxlan"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlatformSetting {
    pub platform: &'static str,
    pub setting: &'static str,
    command: &'static str,
    pub source: &'static str,
    pub version: &'static str,
}

impl PlatformSetting {
    fn all() -> impl Iterator<Item = Self> {
        TABLE.lines().skip(1).filter_map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [platform, setting, command, source, version] = cells[..] else { return None };
            Some(Self { platform, setting, command, source, version })
        })
    }

    pub fn of_finding(finding: &str) -> impl Iterator<Item = Self> {
        Self::all().filter(move |row| {
            SETTINGS.iter().any(|it| it.name == row.setting && it.findings.contains(&finding))
        })
    }

    /// Replaces each `{name}` with its value, or with `NAME` if the value is unknown.
    #[must_use]
    pub fn command(&self, values: &[(&str, &str)]) -> String {
        let known = |text: String, (name, value): &(&str, &str)| text.replace(&format!("{{{name}}}"), value);
        let text = values.iter().fold(self.command.to_owned(), known);
        let placeholder =
            |text: String, name: &&str| text.replace(&format!("{{{name}}}"), &name.to_uppercase());
        PLACEHOLDERS.iter().fold(text, placeholder)
    }

    fn labelled(&self, values: &[(&str, &str)]) -> String {
        let command = self.command(values);
        match command.split_once("  # ") {
            _ if self.platform == LINUX => command,
            Some((command, note)) => format!("{command}  # {}: {note}", self.platform),
            None => format!("{command}  # {}", self.platform),
        }
    }
}

const PLACEHOLDERS: [&str; 11] =
    ["broken", "bytes", "cidr", "device", "guest", "netdev", "number", "switch", "vectors", "vmid", "zone"];

/// Returns the platforms of paths between existing hosts. Labs have plain Linux devices.
pub(crate) fn platforms(results: &[ResultSummary]) -> BTreeSet<&'static str> {
    let existing = results.iter().filter(|result| PathRecord::exists(&result.layers));
    let devices = existing.flat_map(|result| &result.devices);
    let by_device = devices.filter_map(of_device);
    // In other tools' tables, the names of the machines may reveal the platform.
    let consumers = results.iter().flat_map(|result| &result.consumers);
    let by_consumer = consumers.filter_map(|cost| of_name(&cost.consumer));
    by_device.chain(by_consumer).collect()
}

fn of_device(DeviceState { device, kind, .. }: &DeviceState) -> Option<&'static str> {
    let name = device.rsplit_once(':').map_or(device.as_str(), |(_, name)| name);
    // libvirt's vnet devices are taps. A Proxmox SDN network may have such a name, too.
    if kind != "tap" && name.starts_with("vnet") {
        return None;
    }
    let found = DEVICES.iter().find(|(_, patterns)| patterns.iter().any(|pattern| is_like(name, pattern)));
    found.map(|(platform, _)| *platform)
}

fn of_name(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = |platform: &str| platform.split(' ').next().is_some_and(|first| words.contains(&first));
    DEVICES.iter().map(|(platform, _)| *platform).find(|platform| first(platform))
}

fn is_like(name: &str, pattern: &str) -> bool {
    let mut letters = pattern.chars();
    let Some(first) = letters.next() else { return name.is_empty() };
    let after = |is: fn(char) -> bool, least: usize| {
        let rest = name.trim_start_matches(is);
        (name.len() - rest.len() >= least).then_some(rest)
    };
    let rest = match first {
        '*' => return true,
        '#' => after(|letter| letter.is_ascii_digit(), 1),
        '%' => after(|letter| letter.is_ascii_hexdigit(), 10),
        letter => name.strip_prefix(letter),
    };
    rest.is_some_and(|rest| is_like(rest, letters.as_str()))
}

pub(crate) fn commands(platforms: &BTreeSet<&str>, setting: &str, values: &[(&str, &str)]) -> Vec<String> {
    let rows =
        PlatformSetting::all().filter(|row| row.setting == setting && platforms.contains(row.platform));
    rows.map(|row| row.labelled(values)).collect()
}

/// Adds commands for the record's platforms to the remedies.
pub(crate) fn complete(findings: &mut Findings) {
    let platforms = platforms(&findings.results);
    for finding in &mut findings.findings {
        let setting = SETTINGS.iter().find(|setting| setting.findings.contains(&finding.id.as_str()));
        let Some((setting, remedy)) = setting.zip(finding.remedy.as_mut()) else { continue };
        let mtu = match &remedy.change {
            Some(Change::Mtu { mtu, .. }) => Some(mtu.to_string()),
            _ => None,
        };
        let values: Vec<(&str, &str)> = mtu.iter().map(|mtu| ("bytes", mtu.as_str())).collect();
        let mut commands = commands(&platforms, setting.name, &values);
        if commands.is_empty() && setting.on_linux {
            commands = self::commands(&BTreeSet::from([LINUX]), setting.name, &values);
        }
        remedy.commands.splice(0..0, commands);
    }
}

#[cfg(test)]
mod tests;
