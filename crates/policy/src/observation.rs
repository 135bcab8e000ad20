//! Observations of a VM during one interval.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Share};

use crate::tiers::Tiers;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub vm: String,
    /// As reported by the host's balloon or virtio-mem device. If the guest reported its own memory, it could take
    /// memory away from others.
    pub has: Tiers,
    pub guest: Option<GuestReport>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestReport {
    pub available: Option<Bytes>,
    /// PSI `some`.
    pub psi: Option<Share>,
    pub refaults: Option<f64>,
    pub accesses: Option<Vec<HeatClass>>,
    pub dram_hits: Option<Share>,
    /// DRAM that is neither free nor accessed.
    pub idle: Option<Bytes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeatClass {
    pub bytes: Bytes,
    pub accesses: f64,
}

/// A VM with an invalid report is treated as silent.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReportError {
    #[error("observation of `{vm}`, which is not in the settings; add it there or stop observing it")]
    UnknownVm { vm: String },
    #[error("two observations of `{vm}` in one interval; pass only one")]
    Twice { vm: String },
    #[error("VM `{vm}`: {what} is {value}, not {range}; check its source")]
    OutOfRange { vm: String, what: &'static str, value: f64, range: &'static str },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) has: Tiers,
    pub(crate) guest: Option<&'a GuestReport>,
}

impl Observation {
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
    pub(crate) fn is_strained(&self, brake: &crate::BrakeSettings) -> bool {
        let over = |seen: Option<f64>, limit: f64| seen.is_some_and(|seen| seen >= limit);
        over(self.psi.map(|psi| psi.0), brake.psi.0) || over(self.refaults, brake.refaults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(guest: GuestReport) -> String {
        let observation = Observation { vm: "a".into(), has: Tiers::default(), guest: Some(guest) };
        observation.check().unwrap_err().to_string()
    }

    #[test]
    fn rejects_impossible_numbers() {
        let class = HeatClass { bytes: Bytes(1), accesses: f64::INFINITY };
        let accesses = GuestReport { accesses: Some(vec![class]), ..GuestReport::default() };
        let psi = GuestReport { psi: Some(Share(7.0)), ..GuestReport::default() };
        assert_eq!(
            refusal(accesses),
            "VM `a`: accesses is inf, not a finite number of at least 0; check its source"
        );
        assert_eq!(refusal(psi), "VM `a`: psi is 7, not a share from 0 to 1; check its source");
    }

    #[test]
    fn accepts_silent_guest() {
        let observation = Observation { vm: "a".into(), has: Tiers::default(), guest: None };
        assert_eq!(observation.check(), Ok(()));
    }
}
