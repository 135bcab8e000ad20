//! The devices between the two endpoints, as a table.

use std::{collections::BTreeSet, fmt};

use ::scenario::{DeviceRef, HostName};
use machine::{Attached, visible_namespaces};
use samples::DeviceState;
use topology::{Hop, Hops, NamedNamespace, Topology, hops_between};

use super::ends::{Ends, LOCAL, Opened};

/// The name in reports of the namespace in which plumb runs.
const NODE: &str = "node";

pub(super) struct PathShown {
    title: String,
    known: Vec<NamedNamespace>,
    hops: Hops,
    states: Vec<DeviceState>,
}

impl PathShown {
    pub(super) fn find(ends: &Ends, opened: &Opened) -> anyhow::Result<Self> {
        let named = |name: &str, at: &Attached| {
            anyhow::Ok(NamedNamespace { name: HostName::new(name), namespace: at.namespace().try_clone()? })
        };
        let Opened { from, to, .. } = opened;
        let mut known = vec![named(&ends.from.host, from)?, named(&ends.to.host, to)?];
        let own = Attached::own()?;
        let taken_by_ends = [ends.from.host.as_str(), ends.to.host.as_str()];
        let mut taken = BTreeSet::from(taken_by_ends.map(str::to_owned));
        if !own.shares_network_with(from) && !own.shares_network_with(to) {
            known.push(named(NODE, &own)?);
        }
        taken.insert(NODE.to_owned());
        for (name, namespace) in visible_namespaces(&[from.namespace(), to.namespace(), own.namespace()]) {
            let name = if taken.insert(name.clone()) { name } else { format!("{name}-2") };
            known.push(NamedNamespace { name: HostName::new(name), namespace });
        }
        let mut hops = hops_between(&known, opened.addresses[1])?;
        let end =
            if hops.unseen.is_none() { hops.devices.len().saturating_sub(1) } else { hops.devices.len() };
        // The ends are read by their agents, so that reports need another name for further devices in an end's namespace.
        let between = |host: &HostName| match host.as_str() {
            LOCAL => HostName::new(NODE),
            name if taken_by_ends.contains(&name) => HostName::new(format!("{name}-path")),
            _ => host.clone(),
        };
        let others = hops.devices.iter_mut().enumerate().filter(|(place, _)| *place > 0 && *place != end);
        others.for_each(|(_, hop)| hop.at.host = between(&hop.at.host));
        for place in 0..2 {
            let (name, namespace) = (between(&known[place].name), known[place].namespace.try_clone()?);
            known.push(NamedNamespace { name, namespace });
        }
        let title = format!("Path from {} to {}", ends.from.text, ends.to.text);
        let devices: Vec<DeviceRef> = hops.devices.iter().map(|hop| hop.at.clone()).collect();
        let states = Topology::of_hops(&known, &hops.devices)?.device_states(&devices)?;
        Ok(Self { title, known, hops, states })
    }

    pub(super) fn hints(&self) -> Vec<String> {
        let offloads = self.states.iter().filter_map(analysis::offloads_off).map(|hint| {
            let commands = hint.remedy.as_ref().map(|remedy| remedy.commands.join("; ")).unwrap_or_default();
            format!("{} Enable them: {commands}", hint.claim())
        });
        let mtu = self.hops.devices.first().map_or(0, |hop| hop.mtu);
        let small = self.hops.devices.iter().filter(|hop| hop.mtu < mtu);
        let mtus = small.map(|hop| {
            format!(
                "{} has an MTU of {}, but {} sends packets of up to {mtu} bytes, which are lost or fragmented there. \
                 Raise it: ip link set {} mtu {mtu}  # in {}",
                hop.at, hop.mtu, self.known[0].name, hop.at.device, hop.at.host
            )
        });
        offloads.chain(mtus).collect()
    }

    /// The namespaces on the path, with the command that shows their rules.
    pub(super) fn firewalls(&self) -> String {
        let hosts: BTreeSet<&str> = self.hops.devices.iter().map(|hop| hop.at.host.as_str()).collect();
        format!("`nft list ruleset` in {}", hosts.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// The two ends' own devices are omitted.
    pub(super) fn devices_between(&self) -> anyhow::Result<(Vec<DeviceRef>, Option<Topology>)> {
        let ends: [&HostName; 2] = [&self.known[0].name, &self.known[1].name];
        let hops: Vec<Hop> =
            self.hops.devices.iter().filter(|hop| !ends.contains(&&hop.at.host)).cloned().collect();
        let reader = Topology::of_hops(&self.known, &hops)?;
        Ok((hops.into_iter().map(|hop| hop.at).collect(), Some(reader)))
    }
}

impl fmt::Display for PathShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let rows: Vec<[String; 6]> = self.hops.devices.iter().zip(&self.states).map(row).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(column, cell)| format!("{cell:width$}", width = width(column)))
                .collect();
            writeln!(f, "  {}", cells.join("  ").trim_end())?;
        }
        if let Some(unseen) = &self.hops.unseen {
            writeln!(f, "  not visible: {unseen}")?;
        }
        writeln!(f)
    }
}

fn row((hop, state): (&Hop, &DeviceState)) -> [String; 6] {
    let kind = if hop.kernel_kind.is_empty() { "device" } else { &hop.kernel_kind };
    let port_of = hop.port_of.as_ref().map(|bridge| format!(", port of {bridge}")).unwrap_or_default();
    let [rx, tx] = state.queues.map_or(hop.queues, |queues| [queues.rx, queues.tx]);
    let off = analysis::offloads_off(state).and_then(|hint| hint.evidence.into_iter().next());
    [
        hop.at.to_string(),
        format!("{kind}{port_of}"),
        format!("MTU {}", hop.mtu),
        format!("{rx}/{tx} rx/tx queues"),
        format!("qdisc {}", hop.qdisc),
        off.map(|evidence| format!("off: {}", evidence.value)).unwrap_or_default(),
    ]
}
