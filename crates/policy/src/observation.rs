//! What was observed of a VM in one interval. Must not know what follows from it.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Share};

use crate::tiers::Tiers;

/// One VM, as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub vm: String,
    /// What it has, by its balloon or virtio-mem device as the host sees it, not by its resident set. A guest's word would let
    /// it take from others.
    pub has: Tiers,
    /// `None`: the guest does not answer; it is left alone, and its share held.
    pub guest: Option<GuestReport>,
}

/// What a guest says of the interval; `None` where it cannot tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestReport {
    /// What it could hand out without swapping.
    pub available: Option<Bytes>,
    /// Share of the time in which some task waited for memory (PSI `some`).
    pub psi: Option<Share>,
    /// Refaults a second.
    pub refaults: Option<f64>,
    /// How many accesses fell on how much memory, in any order.
    pub accesses: Option<Vec<HeatClass>>,
    /// Measured share of the accesses that DRAM served.
    pub dram_hits: Option<Share>,
    /// DRAM that is neither free nor accessed.
    pub idle: Option<Bytes>,
}

/// Memory that is about equally hot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeatClass {
    pub bytes: Bytes,
    /// Accesses in the interval on all of it, in any unit that is the same for the whole VM.
    pub accesses: f64,
}

/// A report that cannot be used; its VM is treated as one that does not answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReportError {
    #[error("observation of `{vm}`, which the settings do not name; add it there or stop observing it")]
    UnknownVm { vm: String },
    #[error("two observations of `{vm}` in one interval; hand in one")]
    Twice { vm: String },
    #[error("VM `{vm}`: {what} is {value}, not {range}; check where it is read")]
    OutOfRange { vm: String, what: &'static str, value: f64, range: &'static str },
}

/// An observation whose numbers are numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) has: Tiers,
    pub(crate) guest: Option<&'a GuestReport>,
}

impl Observation {
    /// Whether its numbers are numbers: a guest may say anything.
    pub(crate) fn check(&self) -> Result<(), ReportError> {
        let Some(guest) = &self.guest else { return Ok(()) };
        const SHARE: &str = "a share from 0 to 1";
        const COUNT: &str = "a finite number of at least 0";
        let shares = [("psi", guest.psi), ("dram_hits", guest.dram_hits)];
        for (what, Share(value)) in shares.into_iter().filter_map(|(what, share)| Some((what, share?))) {
            self.within((0.0..=1.0).contains(&value), what, value, SHARE)?;
        }
        let counts = guest.accesses.iter().flatten().map(|class| ("accesses", class.accesses));
        for (what, value) in counts.chain(guest.refaults.map(|value| ("refaults", value))) {
            self.within(value.is_finite() && value >= 0.0, what, value, COUNT)?;
        }
        Ok(())
    }

    fn within(
        &self,
        holds: bool,
        what: &'static str,
        value: f64,
        range: &'static str,
    ) -> Result<(), ReportError> {
        if holds { Ok(()) } else { Err(ReportError::OutOfRange { vm: self.vm.clone(), what, value, range }) }
    }
}

impl GuestReport {
    /// Whether the VM is short of memory, by what the brake goes by.
    pub(crate) fn is_strained(&self, brake: &crate::BrakeSettings) -> bool {
        let over = |seen: Option<f64>, limit: f64| seen.is_some_and(|seen| seen >= limit);
        over(self.psi.map(|psi| psi.0), brake.psi.0) || over(self.refaults, brake.refaults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(guest: GuestReport) -> String {
        let observation = Observation { vm: "a".into(), has: Tiers::default(), guest: Some(guest) };
        observation.check().unwrap_err().to_string()
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        let class = HeatClass { bytes: Bytes(1), accesses: f64::INFINITY };
        let accesses = GuestReport { accesses: Some(vec![class]), ..GuestReport::default() };
        let psi = GuestReport { psi: Some(Share(7.0)), ..GuestReport::default() };
        assert_eq!(
            told(accesses),
            "VM `a`: accesses is inf, not a finite number of at least 0; check where it is read"
        );
        assert_eq!(told(psi), "VM `a`: psi is 7, not a share from 0 to 1; check where it is read");
    }

    #[test]
    fn a_silent_guest_has_nothing_that_could_be_wrong() {
        let observation = Observation { vm: "a".into(), has: Tiers::default(), guest: None };
        assert_eq!(observation.check(), Ok(()));
    }
}
