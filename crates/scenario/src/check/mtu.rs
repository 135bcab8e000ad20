//! MTUs: in range, equal along every network segment, and small enough for the tunnels. The same check holds for the
//! lab as it is raised and for each level of a factor that changes MTUs.

use std::collections::BTreeMap;

use toml::Spanned;

use crate::{
    diagnosis::Problem,
    document::Document,
    lab::{DeviceSettings, Lab, MTUS},
    names::DeviceRef,
    resolve::{Draft, ENCAPSULATION},
};

/// Of a tap device: less the header of Ethernet (tun_net_initialize in drivers/net/tun.c).
const MOST_OF_TAP: u32 = *MTUS.end() - 14;

/// Devices whose MTUs do not fit together; the last of them is to blame.
pub(super) struct Misfit {
    pub(super) blamed: DeviceRef,
    pub(super) message: String,
    pub(super) help: String,
}

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let before = problems.len();
    for mtu in written(document) {
        problems.extend(out_of_range(*mtu.get_ref(), mtu.span()));
    }
    if problems.len() == before {
        for misfit in misfits(&draft.lab, &draft.lab.devices) {
            let place = draft.places.of_mtu(&misfit.blamed);
            problems.push(Problem::new(place, misfit.message, "this MTU").help(misfit.help));
        }
    }
}

/// What is wrong with an MTU by itself.
fn out_of_range(mtu: u32, place: std::ops::Range<usize>) -> Option<Problem> {
    let message = format!("an MTU of {mtu} is out of range");
    let problem = Problem::new(place, message, "out of range").help(format!(
        "take one from {} to {}",
        MTUS.start(),
        MTUS.end()
    ));
    (!MTUS.contains(&mtu)).then_some(problem)
}

fn written(document: &Document) -> impl Iterator<Item = &Spanned<u32>> {
    let wires = document.wires.iter().map(|entry| &entry.table.mtu);
    let bridges = document.bridges.iter().map(|entry| &entry.table.mtu);
    let guests = document.attached().map(|entry| &entry.table.mtu);
    let overlays = document.vxlans.iter().map(|entry| &entry.table.mtu);
    wires.chain(bridges).chain(guests).chain(overlays).flatten()
}

/// Everything that does not fit together under `settings`.
pub(super) fn misfits(lab: &Lab, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Vec<Misfit> {
    let set = |at| settings.get(at).and_then(|settings: &DeviceSettings| settings.mtu);
    let mtus: Mtus<'_> = lab.made_mtus().map(|(at, made)| (at, set(at).unwrap_or(made))).collect();
    let links =
        lab.links.iter().filter_map(|link| differ(&mtus, &link.ends[0].at, &link.ends[1].at, "far end"));
    let mut misfits: Vec<Misfit> = links.collect();
    for bridge in &lab.bridges {
        let ports = bridge.ports.iter();
        let ports = ports.map(|port| DeviceRef { host: bridge.at.host.clone(), device: port.clone() });
        misfits.extend(ports.filter_map(|port| differ(&mtus, &bridge.at, &port, "bridge")));
    }
    for vxlan in &lab.vxlans {
        let first = vxlan.members.first().map(|member| &member.at);
        for member in &vxlan.members {
            let under = DeviceRef { host: member.at.host.clone(), device: member.underlay.clone() };
            misfits.extend(first.and_then(|first| differ(&mtus, first, &member.at, "other member")));
            misfits.extend(too_big_for(&mtus, &member.at, &under));
        }
    }
    misfits.extend(lab.nics.iter().filter_map(|nic| too_big_for_tap(&mtus, &nic.port)));
    misfits
}

type Mtus<'l> = BTreeMap<&'l DeviceRef, u32>;

/// One network segment has one MTU: what is too big for the next device there is dropped without a word.
fn differ(mtus: &Mtus<'_>, one: &DeviceRef, other: &DeviceRef, what: &str) -> Option<Misfit> {
    let (first, second) = (*mtus.get(one)?, *mtus.get(other)?);
    let message =
        format!("`{other}` has MTU {second}, but `{one}` has {first}: larger packets would be lost");
    let help = format!("give a device and its {what} the same MTU");
    (first != second).then(|| Misfit { blamed: other.clone(), message, help })
}

fn too_big_for(mtus: &Mtus<'_>, tunnel: &DeviceRef, under: &DeviceRef) -> Option<Misfit> {
    let (inner, outer) = (*mtus.get(tunnel)?, *mtus.get(under)?);
    let most = outer.saturating_sub(ENCAPSULATION);
    let message = format!(
        "MTU {inner} of `{tunnel}` does not fit the tunnel: `{under}` has {outer}, encapsulation takes {ENCAPSULATION}"
    );
    let help = format!("take {most} or less for the overlay, or a larger MTU for the wire under it");
    (inner > most).then(|| Misfit { blamed: tunnel.clone(), message, help })
}

fn too_big_for_tap(mtus: &Mtus<'_>, tap: &DeviceRef) -> Option<Misfit> {
    let mtu = *mtus.get(tap)?;
    let message = format!(
        "`{tap}` has MTU {mtu}, but is the tap device of a virtual machine: {MOST_OF_TAP} is its most"
    );
    let help = format!("take {MOST_OF_TAP} or less for the guest and all that is on its bridge");
    (mtu > MOST_OF_TAP).then(|| Misfit { blamed: tap.clone(), message, help })
}
