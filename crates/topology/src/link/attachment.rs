//! The device pair of a guest or pod in a namespace.

use scenario::{DeviceRef, Lab, link::Attachment};

use super::{LinkKind, Site, veth};
use crate::{
    device_kind::DeviceKind, devices::Peer, error::CreateError, message::Request,
    missing_capabilities::Element,
};

impl LinkKind for Attachment {
    fn noun(&self) -> &'static str {
        "link"
    }

    fn needs(&self) -> Vec<&'static str> {
        veth::needs(self.pair)
    }

    fn device(&self, _: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        Some(veth::device(self.pair))
    }

    fn behind(&self, at: &DeviceRef) -> Vec<Peer> {
        let far = if *at == self.at { &self.port } else { &self.at };
        vec![Peer::Device(far.clone())]
    }

    /// The bridge's host creates the pair, so that all attachments of a bridge are in one batch.
    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        veth::create([&self.at, &self.port], element, site)
    }
}
