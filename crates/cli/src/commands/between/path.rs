//! The devices between the two endpoints, as a table.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use ::scenario::{DeviceRef, HostName};
use machine::{Attached, open_vswitch_bridges, visible_namespaces};
use samples::DeviceState;
use topology::{Hop, Hops, NamedNamespace, Topology, hops_between};

use super::ends::{self, Ends, LOCAL, NODE, Opened};

pub(super) struct PathShown {
    title: String,
    pub(super) known: Vec<NamedNamespace>,
    pub(super) hops: Hops,
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
        let ends_known = [0, 1].map(|place: usize| known[place].name.clone());
        let mut taken: BTreeSet<String> = ends_known.iter().map(ToString::to_string).collect();
        taken.insert(NODE.to_owned());
        let mut unused = |name: String| {
            let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
            let mut names = std::iter::once(name.clone()).chain(numbered);
            HostName::new(names.find(|name| taken.insert(name.clone())).unwrap_or(name.clone()))
        };
        if !own.shares_network_with(from) && !own.shares_network_with(to) {
            known.push(named(NODE, &own)?);
        }
        for (name, namespace) in visible_namespaces(&[from.namespace(), to.namespace(), own.namespace()]) {
            known.push(NamedNamespace { name: unused(ends::plain(&name)), namespace });
        }
        let (switches, unread) =
            open_vswitch_bridges().map_or_else(|reason| (BTreeMap::new(), Some(reason)), |it| (it, None));
        let mut hops = hops_between(&known, opened.addresses[1], &switches)?;
        if let (Some(unseen), Some(reason)) = (&mut hops.unseen, unread) {
            *unseen += &format!("; Open vSwitch cannot be read: {reason}");
        }
        let end =
            if hops.unseen.is_none() { hops.devices.len().saturating_sub(1) } else { hops.devices.len() };
        // Agents read only the two endpoint devices. In reports, the other devices in an endpoint's namespace belong
        // to a host with a different name.
        let aliases = ends_known.each_ref().map(|end| match end.as_str() {
            LOCAL => HostName::new(NODE),
            name => unused(format!("{name}-path")),
        });
        let between = |host: &HostName| {
            let end = ends_known.iter().position(|end| end == host);
            end.map_or(host, |place| &aliases[place]).clone()
        };
        let others = hops.devices.iter_mut().enumerate().filter(|(place, _)| *place > 0 && *place != end);
        others.for_each(|(_, hop)| hop.at.host = between(&hop.at.host));
        for (name, at) in aliases.iter().zip([from, to]) {
            known.push(named(name.as_str(), at)?);
        }
        let title = format!("Path from {} to {}", ends.from.text, ends.to.text);
        let devices: Vec<DeviceRef> = hops.devices.iter().map(|hop| hop.at.clone()).collect();
        let states = Topology::of_hops(&known, &hops.devices)?.device_states(&devices)?;
        Ok(Self { title, known, hops, states })
    }

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
    let switch = hop.switch.as_ref().map(|switch| format!(", port of {switch} (Open vSwitch)"));
    let port_of = switch.or_else(|| hop.port_of.as_ref().map(|bridge| format!(", port of {bridge}")));
    let [rx, tx] = state.queues.map_or(hop.queues, |queues| [queues.rx, queues.tx]);
    let off = analysis::offloads_off(state).and_then(|hint| hint.evidence.into_iter().next());
    [
        hop.at.to_string(),
        format!("{kind}{}", port_of.unwrap_or_default()),
        format!("MTU {}", hop.mtu),
        format!("{rx}/{tx} rx/tx queues"),
        format!("qdisc {}", hop.qdisc),
        off.map(|evidence| format!("off: {}", evidence.value)).unwrap_or_default(),
    ]
}
