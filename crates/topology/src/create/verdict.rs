//! Carrying requests out, and what follows from a refusal.
//!
//! It must not know the order of the steps.

use std::collections::BTreeMap;

use scenario::{DeviceRef, HostName};

use super::Raising;
use crate::{
    error::CreateError,
    gateway, link,
    message::Request,
    missing_capabilities::{Element, Missing},
    refusal::Refusal,
};

impl Raising<'_> {
    /// Sends the requests, one batch per host; those that need something missing are left out.
    pub(super) fn carry_out(&mut self, requests: Vec<Request>) -> Result<(), CreateError> {
        let mut of_host: BTreeMap<HostName, Vec<Request>> = BTreeMap::new();
        for request in requests {
            if !self.is_here(&request.host) {
                // The agent of that host asks for it.
                continue;
            }
            if let Some(absent) = request.needs.iter().find(|at| self.is_absent(at)) {
                let reason = format!("cannot {}: device `{absent}` is missing", request.operation);
                self.note(request.element, reason);
            } else if !self.is_missing(&request.element) {
                of_host.entry(request.host.clone()).or_default().push(request);
            }
        }
        for (host, requests) in of_host {
            self.carry_out_in(&host, requests)?;
        }
        Ok(())
    }

    fn carry_out_in(&mut self, host: &HostName, requests: Vec<Request>) -> Result<(), CreateError> {
        let channel = self.site.namespaces.channel(host);
        let (labels, messages): (Vec<_>, Vec<_>) = requests
            .into_iter()
            .map(|request| ((request.element, request.operation), request.message))
            .unzip();
        let verdicts = channel
            .transact(messages)
            .map_err(|refusal| CreateError::Netlink { whom: format!("host `{host}`"), refusal })?;
        for ((element, operation), verdict) in labels.into_iter().zip(verdicts) {
            if let Some(refusal) = verdict {
                self.refused(element, operation, refusal)?;
            }
        }
        Ok(())
    }

    /// Decides whether a refusal means a missing element or the end.
    pub(super) fn refused(
        &mut self,
        element: Element,
        operation: String,
        refusal: Refusal,
    ) -> Result<(), CreateError> {
        let follows = self.is_missing(&element);
        // A route through something that is missing leads nowhere; its devices are told there already.
        let led_nowhere = refusal.is_unreachable() && !self.missing.is_empty();
        if follows || led_nowhere || refusal.is_unsupported() {
            self.note(element, format!("cannot {operation}: {refusal}"));
            return Ok(());
        }
        Err(CreateError::Refused { element, operation, refusal })
    }

    pub(super) fn note(&mut self, element: Element, reason: String) {
        if self.is_missing(&element) {
            return;
        }
        let devices = self.devices_of(&element);
        self.missing.push(Missing { element, devices, reason });
    }

    /// The devices without which a path through `element` is not what it says.
    fn devices_of(&self, element: &Element) -> Vec<DeviceRef> {
        match element {
            Element::Rate(name) => self.site.devices.made_by(&link::element_of_wire(name)),
            Element::Gateway(name) => {
                let gateway = self.site.lab.gateways.iter().find(|gateway| gateway.name == *name);
                gateway.map(gateway::device).into_iter().collect()
            }
            _ => self.site.devices.made_by(element),
        }
    }

    pub(super) fn is_missing(&self, element: &Element) -> bool {
        self.missing.iter().any(|missing| missing.element == *element)
    }

    /// Whether the device was not made; one that only lacks its rate limit or gateway is there.
    pub(super) fn is_absent(&self, at: &DeviceRef) -> bool {
        !self.missing.is_empty()
            && self.site.devices.find(at).is_none_or(|device| self.is_missing(&device.element))
    }
}
