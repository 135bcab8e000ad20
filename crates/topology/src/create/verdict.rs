//! Sends requests to the kernel and handles its errors.

use std::collections::BTreeMap;

use scenario::{DeviceRef, HostName};

use super::Creator;
use crate::{
    error::CreateError,
    gateway, link,
    message::Request,
    missing_capabilities::{Element, Missing},
    refusal::Refusal,
};

impl Creator<'_> {
    pub(super) fn carry_out(&mut self, requests: Vec<Request>) -> Result<(), CreateError> {
        let mut by_host: BTreeMap<HostName, Vec<Request>> = BTreeMap::new();
        for request in requests {
            if !self.is_local(&request.host) {
                continue;
            }
            if let Some(absent) = request.needs.iter().find(|at| self.is_absent(at)) {
                let reason = format!("cannot {}: device `{absent}` is missing", request.operation);
                self.note(request.element, reason, None);
            } else if !self.is_missing(&request.element) {
                by_host.entry(request.host.clone()).or_default().push(request);
            }
        }
        for (host, requests) in by_host {
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

    pub(super) fn refused(
        &mut self,
        element: Element,
        operation: String,
        refusal: Refusal,
    ) -> Result<(), CreateError> {
        let follows = self.is_missing(&element);
        // A route through a missing device also fails. The device itself is already reported.
        let is_consequence = refusal.is_unreachable() && !self.missing.is_empty();
        if follows || is_consequence || refusal.is_unsupported() {
            self.note(element, format!("cannot {operation}: {refusal}"), Some(refusal));
            return Ok(());
        }
        Err(CreateError::Refused { element, operation, refusal })
    }

    pub(super) fn note(&mut self, element: Element, reason: String, refusal: Option<Refusal>) {
        if self.is_missing(&element) {
            return;
        }
        let devices = self.devices_of(&element);
        self.missing.push(Missing { element, devices, reason, refusal });
    }

    fn devices_of(&self, element: &Element) -> Vec<DeviceRef> {
        match element {
            Element::Rate(name) => self.site.devices.created_by(&link::element_of_wire(name)),
            Element::Gateway(name) => {
                let gateway = self.site.lab.gateways.iter().find(|gateway| gateway.name == *name);
                gateway.map(gateway::device).into_iter().collect()
            }
            _ => self.site.devices.created_by(element),
        }
    }

    pub(super) fn is_missing(&self, element: &Element) -> bool {
        self.missing.iter().any(|missing| missing.element == *element)
    }

    /// A device that lacks only its rate limit or gateway counts as present.
    pub(super) fn is_absent(&self, at: &DeviceRef) -> bool {
        !self.missing.is_empty()
            && self.site.devices.find(at).is_none_or(|device| self.is_missing(&device.element))
    }
}
