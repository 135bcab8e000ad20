//! Possible reasons for a failed connection: firewall rules and switches.

use std::collections::BTreeSet;

use machine::blocking_rules;
use topology::NamedNamespace;

use super::path::PathShown;

/// Limits the output, because a cluster node may have thousands of rules.
const MAX_RULES: usize = 8;

impl PathShown {
    pub(super) fn obstacles(&self) -> Vec<String> {
        // A namespace may have several names, so list each only once.
        let mut seen = BTreeSet::new();
        let on_path = self.known.iter().filter(|one| self.passes(one) && seen.insert(one.namespace.inode()));
        let mut lines: Vec<String> = on_path.flat_map(rules).collect();
        if lines.is_empty() {
            lines.push("note: no nftables rule on this path blocks or redirects connections".to_owned());
        } else {
            let note =
                "note: a firewall rule, a NetworkPolicy or a sidecar may block or redirect the connection:";
            lines.insert(0, note.to_owned());
        }
        lines.extend(self.checksums());
        lines
    }

    fn passes(&self, one: &NamedNamespace) -> bool {
        self.hops.devices.iter().any(|hop| hop.at.host == one.name)
    }

    fn checksums(&self) -> Option<String> {
        let devices = &self.hops.devices;
        let switch = devices.iter().find_map(|hop| hop.switch.as_ref())?;
        let ends = [devices.first()?, devices.last()?];
        let commands = ends.map(|hop| format!("`ethtool -K {} tx off` in {}", hop.at.device, hop.at.host));
        Some(format!(
            "note: if {switch} has a user-space datapath (`ovs-vsctl get bridge {switch} datapath_type` prints netdev), it \
             forwards packets without checksums, and the receiver drops them. In that case, run {}",
            commands.join(" and ")
        ))
    }
}

fn rules(one: &NamedNamespace) -> Vec<String> {
    let name = &one.name;
    match blocking_rules(&one.namespace) {
        Ok(rules) => {
            let more = rules.len().saturating_sub(MAX_RULES);
            let more = (more > 0).then(|| format!("  {name}: {more} more rules (`nft list ruleset`)"));
            rules.iter().take(MAX_RULES).map(|rule| format!("  {name}: {rule}")).chain(more).collect()
        }
        Err(reason) => vec![format!("  {name}: its rules cannot be read: {reason}")],
    }
}
