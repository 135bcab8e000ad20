//! The operator's settings.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use units::{Bytes, Share};

use crate::{settings_error::SettingsError, tiers::Tiers};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub capacity: Tiers,
    /// DRAM reserved for growing VMs. It is never taken from a VM that needs it.
    pub reserve: Bytes,
    pub step: Bytes,
    /// The largest step as a fraction of the VM's memory. If `step` is smaller, `step` applies.
    pub step_share: Share,
    /// A VM below its need grows until it exceeds its need by this fraction, and is not squeezed below that level.
    pub headroom: Share,
    /// The weight of the newest histogram if there are several.
    pub smoothing: Share,
    pub block: Bytes,
    pub brake: BrakeSettings,
    pub vms: Vec<VmSettings>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BrakeSettings {
    pub psi: Share,
    pub refaults: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VmSettings {
    pub name: String,
    pub weight: f64,
    /// Total memory, split between both tiers within floors and ceilings.
    pub memory: Bytes,
    pub floor: Tiers,
    pub ceiling: Tiers,
    pub target: Share,
}

const MIB: u64 = 1 << 20;

impl Settings {
    /// Returns the default settings: steps of at most 1 GiB and a tenth of the VM's memory, in blocks of 2 MiB.
    #[must_use]
    pub fn new(capacity: Tiers, vms: Vec<VmSettings>) -> Self {
        Self {
            capacity,
            reserve: Bytes(capacity.fast.0 / 50),
            step: Bytes(1024 * MIB),
            step_share: Share(0.1),
            headroom: Share(0.1),
            smoothing: Share(0.05),
            block: Bytes(2 * MIB),
            brake: BrakeSettings { psi: Share(0.1), refaults: 1000.0 },
            vms,
        }
    }

    pub fn check(&self) -> Result<(), SettingsError> {
        self.check_whole()?;
        let mut names = BTreeSet::new();
        for vm in &self.vms {
            if !names.insert(&vm.name) {
                return Err(SettingsError::Duplicate { vm: vm.name.clone() });
            }
            vm.check()?;
        }
        self.check_floors("DRAM", self.capacity.fast, |tiers| tiers.fast)?;
        self.check_floors("slow memory", self.capacity.slow, |tiers| tiers.slow)
    }

    fn check_whole(&self) -> Result<(), SettingsError> {
        let shares = [
            ("step_share", self.step_share),
            ("headroom", self.headroom),
            ("smoothing", self.smoothing),
            ("brake.psi", self.brake.psi),
        ];
        for (key, Share(value)) in shares {
            if !(value > 0.0 && value <= 1.0) {
                return Err(SettingsError::NoShare { key, value });
            }
        }
        for (key, value) in [("step", self.step), ("block", self.block)] {
            if value.0 == 0 {
                return Err(SettingsError::Zero { key });
            }
        }
        if self.step < self.block {
            return Err(SettingsError::StepBelowBlock { step: self.step, block: self.block });
        }
        if self.brake.refaults.is_nan() || self.brake.refaults <= 0.0 {
            return Err(SettingsError::NoRate { key: "brake.refaults", value: self.brake.refaults });
        }
        Ok(())
    }

    fn check_floors(
        &self,
        tier: &'static str,
        capacity: Bytes,
        of: fn(Tiers) -> Bytes,
    ) -> Result<(), SettingsError> {
        let floors: Bytes = self.vms.iter().map(|vm| of(vm.floor)).sum();
        if floors > capacity {
            return Err(SettingsError::FloorsAboveCapacity { tier, floors, capacity });
        }
        Ok(())
    }

    pub(crate) fn step_of(&self, vm: &VmSettings) -> u64 {
        let share = (vm.memory.0 as f64 * self.step_share.0) as u64;
        share.min(self.step.0).max(self.block.0)
    }
}

impl VmSettings {
    fn check(&self) -> Result<(), SettingsError> {
        let vm = || self.name.clone();
        if self.name.is_empty() {
            return Err(SettingsError::NoName);
        }
        if !self.weight.is_finite() || self.weight <= 0.0 {
            return Err(SettingsError::Weight { vm: vm(), weight: self.weight });
        }
        if !(self.target.0 > 0.0 && self.target.0 <= 1.0) {
            return Err(SettingsError::Target { vm: vm(), target: self.target.0 });
        }
        let tiers = [
            ("DRAM", self.floor.fast, self.ceiling.fast),
            ("slow memory", self.floor.slow, self.ceiling.slow),
        ];
        for (tier, floor, ceiling) in tiers {
            if floor > ceiling {
                return Err(SettingsError::FloorAboveCeiling { vm: vm(), tier, floor, ceiling });
            }
        }
        let (least, most) = (self.floor.total(), self.ceiling.total());
        if self.memory < least || self.memory > most {
            return Err(SettingsError::Memory { vm: vm(), memory: self.memory, least, most });
        }
        Ok(())
    }

    pub(crate) fn most_fast(&self) -> u64 {
        self.ceiling.fast.0.min(self.memory.0.saturating_sub(self.floor.slow.0)).max(self.floor.fast.0)
    }

    pub(crate) fn slow_for(&self, fast: u64) -> u64 {
        self.memory.0.saturating_sub(fast).clamp(self.floor.slow.0, self.ceiling.slow.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn gib(fast: u64, slow: u64) -> Tiers {
        Tiers { fast: Bytes(fast * GIB), slow: Bytes(slow * GIB) }
    }

    fn settings() -> Settings {
        let vm = |name: &str| VmSettings {
            name: name.into(),
            weight: 1.0,
            memory: Bytes(8 * GIB),
            floor: gib(1, 0),
            ceiling: gib(8, 8),
            target: Share(0.9),
        };
        Settings::new(gib(10, 20), vec![vm("a"), vm("b")])
    }

    fn refused(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = settings();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_accepted() {
        assert_eq!(settings().check(), Ok(()));
    }

    #[test]
    fn rejects_invalid_settings_with_advice() {
        let messages = [
            refused(|s| s.vms[1].name = "a".into()),
            refused(|s| s.vms[1].name = String::new()),
            refused(|s| s.vms[1].weight = f64::NAN),
            refused(|s| s.vms[1].weight = 0.0),
            refused(|s| s.vms[1].target = Share(1.2)),
            refused(|s| s.vms[1].target = Share(f64::NAN)),
            refused(|s| s.vms[1].floor = gib(9, 0)),
            refused(|s| s.vms[1].memory = Bytes(17 * GIB)),
            refused(|s| s.capacity.fast = Bytes(GIB)),
            refused(|s| s.smoothing = Share(0.0)),
            refused(|s| s.headroom = Share(f64::NAN)),
            refused(|s| s.step = Bytes(0)),
            refused(|s| s.step = Bytes(4096)),
            refused(|s| s.brake.refaults = f64::NAN),
        ];
        let expected = [
            "duplicate VM `a`; give each VM a unique name",
            "a VM has no name; give each VM a unique name",
            "VM `b`: weight NaN; use a number above 0, e.g. 1",
            "VM `b`: weight 0; use a number above 0, e.g. 1",
            "VM `b`: target 1.2; use a share of accesses above 0 and up to 1, e.g. 0.9",
            "VM `b`: target NaN; use a share of accesses above 0 and up to 1, e.g. 0.9",
            "VM `b`: the DRAM floor (9 GiB) is higher than the ceiling (8 GiB); lower the floor or raise the ceiling",
            "VM `b`: memory 17 GiB does not fit its floors and ceilings, 1 GiB to 16 GiB in both tiers together; change the \
                 memory or these limits",
            "the DRAM floors add up to 2 GiB, but the capacity is 1 GiB; lower the floors or remove VMs",
            "smoothing is 0; use a share above 0 and up to 1",
            "headroom is NaN; use a share above 0 and up to 1",
            "step is 0; use a size, e.g. 64MiB",
            "step is 4 KiB, less than one block of 2 MiB; raise the step or lower the block",
            "brake.refaults is NaN; use a rate per second above 0",
        ];
        for (messages, expected) in messages.iter().zip(expected) {
            assert_eq!(messages.replace(".00 ", " ").replace(".0 ", " "), expected);
        }
    }
}
