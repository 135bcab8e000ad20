//! Wires between hosts: device pairs with an optional rate limit.

use scenario::{DeviceRef, Lab, link::Wire};

use super::{LinkKind, Site, rate, veth};
use crate::{
    device_kind::DeviceKind, devices::Peer, error::CreateError, message::Request,
    missing_capabilities::Element,
};

const NOUN: &str = "link";

pub(crate) fn element(name: &str) -> Element {
    Element::Link { noun: NOUN, name: name.to_owned() }
}

impl LinkKind for Wire {
    fn noun(&self) -> &'static str {
        NOUN
    }

    fn needs(&self) -> Vec<&'static str> {
        veth::needs(self.pair).into_iter().chain(self.rate.map(|_| rate::TRIAL.name)).collect()
    }

    fn device(&self, _: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        Some(veth::device(self.pair))
    }

    fn behind(&self, at: &DeviceRef) -> Vec<Peer> {
        let far = self.ends.iter().filter(|end| end.at != *at);
        far.map(|end| Peer::Device(end.at.clone())).collect()
    }

    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        veth::create(self.ends.each_ref().map(|end| &end.at), element, site)
    }

    fn limit(&self, site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        rate::limit(self, &site.devices)
    }
}
