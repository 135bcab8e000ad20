//! Wires: pairs of devices between two hosts.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::BitRate;

use super::{Layer, Link, LinkDevice, LinkKind, LinkTable, PairKind, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{As, Converter, Document, Entry, Spanned},
    names::DeviceRef,
    resolve::{Draft, Mtus, Resolver},
};

/// A wire between two hosts: a pair of devices.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireTable {
    /// Both ends, each `host:device`. The wire creates the devices.
    pub(crate) between: [Spanned<As<DeviceRef>>; 2],
    /// Kind of device pair. Default: `veth`.
    #[serde(default)]
    pub(crate) pair: PairKind,
    /// Addresses of both ends, in the same order; `none` for a bridge port. Default: none.
    pub(crate) addresses: Option<[Spanned<As<Option<IpNet>>>; 2]>,
    /// MTU of both ends, in bytes. Default: 1500.
    #[schemars(range(min = 576, max = 65535))]
    pub(crate) mtu: Option<Spanned<u32>>,
    /// Rate limit for each direction. Default: none.
    pub(crate) rate: Option<Spanned<As<BitRate>>>,
}

impl LinkTable for Entry<WireTable> {
    fn noun(&self) -> Option<&'static str> {
        Some("wire")
    }

    fn name(&self) -> &Spanned<String> {
        &self.name
    }

    fn mtu(&self) -> Option<&Spanned<u32>> {
        self.table.mtu.as_ref()
    }

    fn devices(&self, _: &Document) -> Vec<WrittenDevice> {
        let device = |side: usize| {
            let end = &self.table.between[side];
            let address = self.table.addresses.as_ref().map(|addresses| &addresses[side]);
            let address = address.and_then(|address| Some((address.0?, address.span())));
            WrittenDevice::new(end.0.clone(), end.span()).with_address(address)
        };
        vec![device(0), device(1)]
    }

    fn convert(&mut self, converter: &mut Converter) {
        self.table.addresses.iter_mut().flatten().for_each(|address| converter.put_optional(address));
    }

    fn made_mtu(&self, _: &Document, mtus: &Mtus) -> Option<u32> {
        let [one, other] = self.table.between.each_ref().map(|end| mtus.set(&end.0));
        let written = self.table.mtu.as_ref().map_or(Mtus::DEFAULT, |mtu| **mtu);
        // If device settings give both ends the same MTU, use it now, so that devices on top of the wire fit.
        Some(one.filter(|_| one == other).unwrap_or(written))
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let end = |side: usize| {
            let at = self.table.between[side].0.clone();
            let address = self.table.addresses.as_ref().and_then(|written| written[side].0);
            LinkEnd { at, address }
        };
        let ends = [end(0), end(1)];
        let mtu = resolver.mtu(&ends[0].at);
        let rate = self.table.rate.as_ref().map(|rate| rate.0);
        let (name, pair) = (self.name().to_owned(), self.table.pair);
        Some(Link::Wire(Wire { name, pair, ends, mtu, rate }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        let ends = &self.table.between;
        for end in ends {
            checker.host_text(end.0.host.as_str(), end);
        }
        if ends[0].0.host == ends[1].0.host {
            let message = format!("both ends of the wire `{}` are on the same host", self.name());
            let help = "a wire connects two hosts";
            checker.problems.push(Problem::new(ends[1].span(), message, "same host").help(help));
        }
    }

    fn check(&self, _: &Document, _: &Draft, problems: &mut Vec<Problem>) {
        problems.extend(self.table.rate.as_ref().and_then(rate_out_of));
        let Some([one, other]) = &self.table.addresses else { return };
        let (Some(first), Some(second)) = (one.0, other.0) else { return };
        if first.trunc() != second.trunc() {
            let message = format!(
                "the ends of the wire `{}` are in different networks: {first} and {second}",
                self.name()
            );
            let problem = Problem::new(other.span(), message, "different network");
            problems.push(problem.help("use addresses from the same network"));
        }
    }
}

/// A token bucket for two packets of the maximum size must fill up before the kernel's counter overflows (2^32 ticks of
/// 64 ns, tc-tbf(8)).
const SLOWEST: BitRate = BitRate(8e3);
const FASTEST: BitRate = BitRate(1e12);

fn rate_out_of(written: &Spanned<As<BitRate>>) -> Option<Problem> {
    let rate = written.0;
    let problem = Problem::new(written.span(), format!("a rate of {rate} is out of range"), "out of range");
    let out = rate.0 < SLOWEST.0 || rate.0 > FASTEST.0;
    out.then(|| problem.help(format!("use {SLOWEST} to {FASTEST}")))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wire {
    pub name: String,
    #[serde(default)]
    pub pair: PairKind,
    pub ends: [LinkEnd; 2],
    pub mtu: u32,
    pub rate: Option<BitRate>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    pub at: DeviceRef,
    pub address: Option<IpNet>,
}

impl LinkEnd {
    #[must_use]
    pub fn new(at: DeviceRef, address: Option<IpNet>) -> Self {
        Self { at, address }
    }
}

impl Wire {
    pub fn new(name: impl Into<String>, ends: [LinkEnd; 2], mtu: u32) -> Self {
        Self { name: name.into(), pair: PairKind::Veth, ends, mtu, rate: None }
    }
}

impl LinkKind for Wire {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        vec![self.pair.layer(Layer::Wire)]
    }

    fn modules(&self) -> Vec<&'static str> {
        self.pair.modules()
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        let ends = self.ends.iter();
        let devices =
            ends.map(|end| LinkDevice { at: &end.at, mtu: self.mtu, address: end.address, over: None });
        devices.collect()
    }

    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>> {
        let far = self.ends.iter().filter(|end| end.at != *out);
        far.map(|end| Way::In(&end.at)).collect()
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        mtus.differ(&self.ends[0].at, &self.ends[1].at, "far end").into_iter().collect()
    }
}
