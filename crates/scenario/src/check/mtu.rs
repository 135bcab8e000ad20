//! Checks MTUs within network segments and tunnels, for the lab as created and for each level of a factor.

use std::collections::BTreeMap;

use ipnet::IpNet;

use crate::{
    diagnosis::Problem,
    document::{Document, Spanned},
    family::Family,
    lab::{DeviceSettings, Lab, MTUS, UNKNOWN_MTU},
    link::LinkTable,
    names::DeviceRef,
    resolve::Draft,
};

pub(crate) struct Misfit {
    pub(crate) blamed: DeviceRef,
    pub(crate) message: String,
    pub(crate) help: String,
}

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let before = problems.len();
    for mtu in written(document) {
        problems.extend(out_of_range(**mtu, mtu.span()));
    }
    if problems.len() == before {
        for misfit in misfits(&draft.lab, &draft.lab.devices) {
            let place = draft.places.of_mtu(&misfit.blamed);
            problems.push(Problem::new(place, misfit.message, "this MTU").help(misfit.help));
        }
    }
}

fn out_of_range(mtu: u32, place: std::ops::Range<usize>) -> Option<Problem> {
    let message = format!("MTU {mtu} is out of range");
    let problem =
        Problem::new(place, message, "out of range").help(format!("use {} to {}", MTUS.start(), MTUS.end()));
    (!MTUS.contains(&mtu)).then_some(problem)
}

fn written(document: &Document) -> impl Iterator<Item = &Spanned<u32>> {
    document.links.all().filter_map(LinkTable::mtu)
}

pub(crate) fn misfits(lab: &Lab, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Vec<Misfit> {
    let set = |at| settings.get(at).and_then(|settings: &DeviceSettings| settings.mtu);
    let created = lab.link_devices().map(|device| (device.at.clone(), set(device.at).unwrap_or(device.mtu)));
    let exist = lab.hosts.iter().filter_map(|host| {
        let existing = host.existing.as_ref()?;
        Some((existing.end(&host.name).device, existing.mtu?))
    });
    let mtus = Fits(created.chain(exist).filter(|(_, mtu)| *mtu != UNKNOWN_MTU).collect());
    let too_small = lab.all_addresses().filter_map(|(at, address)| too_small(at, address, mtus.of(at)?));
    too_small.chain(lab.links.iter().flat_map(|link| link.kind().misfits(&mtus))).collect()
}

fn too_small(at: &DeviceRef, address: IpNet, mtu: u32) -> Option<Misfit> {
    let family = Family::of(address.addr());
    let (least, name) = (family.least_mtu(), family.word());
    let message = format!("MTU {mtu} of `{at}` is too small for {address}: {name} needs {least}");
    let help = format!("use {least} or more; below this, the kernel removes the device's addresses");
    (family == Family::Ipv6 && mtu < least).then(|| Misfit { blamed: at.clone(), message, help })
}

pub(crate) struct Fits(BTreeMap<DeviceRef, u32>);

impl Fits {
    pub(crate) fn of(&self, device: &DeviceRef) -> Option<u32> {
        self.0.get(device).copied()
    }

    /// Reports different MTUs within a network segment, because oversized packets would be dropped silently.
    pub(crate) fn differ(&self, one: &DeviceRef, other: &DeviceRef, what: &str) -> Option<Misfit> {
        let (first, second) = (self.of(one)?, self.of(other)?);
        let message =
            format!("`{other}` has MTU {second}, but `{one}` has {first}; larger packets would be dropped");
        let help = format!("set the same MTU on the device and its {what}");
        (first != second).then(|| Misfit { blamed: other.clone(), message, help })
    }
}
