//! Finds the layer-2 path of a frame between two devices on a network segment.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use crate::{
    lab::Lab,
    link::{Layer, Link, LinkKind, Way},
    names::DeviceRef,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'l> {
    Device(&'l DeviceRef),
    Layer(Layer),
    Tunnel { over: DeviceRef, local: IpAddr, remote: IpAddr, far: DeviceRef },
}

pub(super) struct Segments<'l> {
    devices: BTreeMap<DeviceRef, (&'l DeviceRef, &'l dyn LinkKind)>,
    above: BTreeMap<DeviceRef, Vec<(&'l DeviceRef, &'l dyn LinkKind)>>,
}

impl<'l> Segments<'l> {
    pub(super) fn new(lab: &'l Lab) -> Self {
        let (mut devices, mut above) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new());
        for link in lab.links.iter().map(Link::kind) {
            devices.extend(link.devices().into_iter().map(|device| (device.at.clone(), (device.at, link))));
            for (under, own) in link.above() {
                above.entry(under).or_default().push((own, link));
            }
        }
        Self { devices, above }
    }

    pub(super) fn route(
        &self,
        out: &DeviceRef,
        wanted: impl Fn(&DeviceRef) -> bool,
    ) -> Option<Vec<Step<'l>>> {
        let (seen, tags, way) = (BTreeSet::new(), Vec::new(), Vec::new());
        let mut search = Search { segments: self, wanted: &wanted, seen, tags, way };
        search.send(out).then_some(search.way)
    }
}

struct Search<'s, 'l, W> {
    segments: &'s Segments<'l>,
    wanted: &'s W,
    seen: BTreeSet<&'l DeviceRef>,
    tags: Vec<u16>,
    way: Vec<Step<'l>>,
}

impl<'l, W: Fn(&DeviceRef) -> bool> Search<'_, 'l, W> {
    fn send(&mut self, out: &DeviceRef) -> bool {
        let Some((at, link)) = self.segments.devices.get(out).copied() else { return false };
        if !self.seen.insert(at) {
            return false;
        }
        self.or_undo(|search| {
            search.way.push(Step::Device(at));
            search.tags.extend(link.tag());
            search.leave(at, link)
        })
    }

    fn leave(&mut self, at: &DeviceRef, link: &'l dyn LinkKind) -> bool {
        self.or_undo(|search| {
            search.way.extend(link.layers().into_iter().map(Step::Layer));
            link.sent(at).into_iter().any(|way| match way {
                Way::In(to) => search.receive(to),
                Way::Out(device) => search.send(&device),
                Way::Tunnel { over, local, remote, far, to } => search.or_undo(|search| {
                    search.way.push(Step::Tunnel { over, local, remote, far });
                    search.receive(to)
                }),
            })
        })
    }

    fn receive(&mut self, at: &'l DeviceRef) -> bool {
        if !self.seen.insert(at) {
            return false;
        }
        self.or_undo(|search| {
            search.way.push(Step::Device(at));
            (search.tags.is_empty() && (search.wanted)(at)) || search.hand_up(at) || search.pass_on(at)
        })
    }

    fn hand_up(&mut self, at: &DeviceRef) -> bool {
        let above = self.segments.above.get(at).into_iter().flatten();
        above.copied().collect::<Vec<_>>().into_iter().any(|(own, link)| {
            self.or_undo(|search| {
                if link.tag().is_some_and(|tag| search.tags.pop() != Some(tag)) {
                    return false;
                }
                search.way.extend(link.layers().into_iter().map(Step::Layer));
                search.receive(own)
            })
        })
    }

    fn pass_on(&mut self, at: &DeviceRef) -> bool {
        let link = self.segments.devices.get(at).map(|(_, link)| *link);
        let untagged = self.tags.is_empty();
        link.filter(|link| link.passes_on() && (untagged || link.passes_tags()))
            .is_some_and(|link| self.leave(at, link))
    }

    fn or_undo(&mut self, step: impl FnOnce(&mut Self) -> bool) -> bool {
        let (mark, tags) = (self.way.len(), self.tags.clone());
        let arrived = step(self);
        if !arrived {
            self.way.truncate(mark);
            self.tags = tags;
        }
        arrived
    }
}
