//! The configuration file of `plumb rebalance` and `plumb memory top`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use policy::{Settings, SettingsError, Tiers, VmSettings};
use protocol::AccessSourceKind;
use serde::Deserialize;
use thiserror::Error;
use units::{Bytes, Nanos, Share};
use workload::BalloonMethod;

use crate::{
    attached::{AttachedVm, AttachedVms},
    error::MemoryError,
    running::VmAccess,
};

const INTERVAL: Nanos = Nanos(10_000_000_000);
/// Balloon drivers report statistics at most once per second.
const SHORTEST: Nanos = Nanos(1_000_000_000);
/// By default, the floor is the initial memory divided by this.
const FLOOR: u64 = 4;
/// The default target with one tier. Memory in use that does not fit is swapped out, or the OOM killer ends a process.
const TARGET: Share = Share(1.0);
/// The default target with two tiers. Slow memory serves the remaining accesses.
const TARGET_OF_TIERS: Share = Share(0.9);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VmsConfig {
    #[serde(default, deserialize_with = "units::some_from_text")]
    interval: Option<Nanos>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    capacity: Option<Bytes>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    reserve: Option<Bytes>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    step: Option<Bytes>,
    vms: BTreeMap<String, VmTable>,
}

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error(transparent)]
    Syntax(#[from] toml::de::Error),
    #[error("it defines no machines")]
    NoMachines,
    #[error("`interval` is shorter than a second")]
    ShortInterval,
    #[error("two machines use the same monitor {}", .0.display())]
    SameMonitor(PathBuf),
    #[error("virtual machine `{vm}`: its ceiling of {ceiling} is higher than its initial memory of {whole}")]
    Ceiling { vm: String, ceiling: Bytes, whole: Bytes },
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

impl ConfigError {
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoMachines => Some("add `[vms.NAME]` with `qmp = \"/run/NAME.qmp\"`"),
            Self::ShortInterval => Some("guests report memory statistics at most once per second"),
            _ => None,
        }
    }
}

#[derive(Debug, Error)]
#[error("virtual machine `{vm}`")]
pub struct AttachError {
    vm: String,
    source: MemoryError,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VmTable {
    qmp: PathBuf,
    agent: Option<PathBuf>,
    #[serde(default)]
    source: AccessSourceKind,
    method: Option<BalloonMethod>,
    #[serde(default, rename = "slow-nodes")]
    slow_nodes: Vec<u32>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    target: Option<Share>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    floor: Option<Bytes>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    ceiling: Option<Bytes>,
    weight: Option<f64>,
}

impl VmTable {
    /// Accesses are only useful if idle memory can go to slow memory or, with a target, to swap.
    fn uses_accesses(&self) -> bool {
        !self.slow_nodes.is_empty() || self.target.is_some()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) whole: Bytes,
    pub(crate) has: Tiers,
}

pub(crate) fn extents(vms: &AttachedVms) -> BTreeMap<String, Extent> {
    vms.iter().map(|(name, vm)| (name.clone(), Extent { whole: vm.whole(), has: vm.has() })).collect()
}

impl VmsConfig {
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text)?;
        if config.vms.is_empty() {
            return Err(ConfigError::NoMachines);
        }
        if config.interval.is_some_and(|interval| interval < SHORTEST) {
            return Err(ConfigError::ShortInterval);
        }
        let mut sockets: Vec<&Path> = config.vms.values().map(|vm| vm.qmp.as_path()).collect();
        sockets.sort_unstable();
        if let Some(twice) = sockets.windows(2).find(|two| two[0] == two[1]) {
            return Err(ConfigError::SameMonitor(twice[0].to_owned()));
        }
        Ok(config)
    }

    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval.unwrap_or(INTERVAL).into()
    }

    /// If `locks` is set, locks the machines in that directory, so that no other process moves their memory. `tool`
    /// must be the version of the guests' agents.
    pub fn attach(
        &self,
        locks: Option<&Path>,
        tool: &str,
        stop: &Arc<AtomicBool>,
    ) -> Result<AttachedVms, AttachError> {
        let attach = |(name, vm): (&String, &VmTable)| {
            let access = VmAccess {
                qmp: vm.qmp.clone(),
                agent: vm.agent.clone(),
                source: vm.source,
                method: vm.method,
                slow: vm.slow_nodes.clone(),
                locks: locks.map(Path::to_owned),
                tool: tool.to_owned(),
                stop: Arc::clone(stop),
            };
            match AttachedVm::open(access, vm.uses_accesses(), self.interval()) {
                Ok(attached) => Ok((name.clone(), attached)),
                Err(source) => Err(AttachError { vm: name.clone(), source }),
            }
        };
        self.vms.iter().map(attach).collect()
    }

    pub(crate) fn settings(&self, extents: &BTreeMap<String, Extent>) -> Result<Settings, ConfigError> {
        let mut vms = Vec::new();
        let mut has = Tiers::default();
        for (name, Extent { whole, has: its }) in extents {
            has = Tiers { fast: has.fast + its.fast, slow: has.slow + its.slow };
            vms.push(self.of_vm(name, Tiers { fast: *whole, slow: its.slow })?);
        }
        let capacity = Tiers { fast: self.capacity.unwrap_or(has.fast), slow: has.slow };
        let mut settings = Settings::new(capacity, vms);
        settings.reserve = self.reserve.unwrap_or(Bytes(0));
        settings.step = self.step.unwrap_or(settings.step);
        Ok(settings)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.vms.keys().map(String::as_str)
    }

    pub(crate) fn uses_accesses(&self, name: &str) -> bool {
        self.vms.get(name).is_some_and(VmTable::uses_accesses)
    }

    /// `whole` is the initial memory. Slow memory keeps its size.
    fn of_vm(&self, name: &str, whole: Tiers) -> Result<VmSettings, ConfigError> {
        let written = &self.vms[name];
        let ceiling = written.ceiling.unwrap_or(whole.fast);
        if ceiling > whole.fast {
            return Err(ConfigError::Ceiling { vm: name.to_owned(), ceiling, whole: whole.fast });
        }
        let tiers = |fast| Tiers { fast, slow: whole.slow };
        let usual = if written.slow_nodes.is_empty() { TARGET } else { TARGET_OF_TIERS };
        Ok(VmSettings {
            name: name.to_owned(),
            weight: written.weight.unwrap_or(1.0),
            memory: ceiling + whole.slow,
            floor: tiers(written.floor.unwrap_or(Bytes(whole.fast.0 / FLOOR))),
            ceiling: tiers(ceiling),
            target: written.target.unwrap_or(usual),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<VmsConfig, String> {
        VmsConfig::parse(text).map_err(|error| error.to_string())
    }

    fn of_fast(bytes: u64) -> Tiers {
        Tiers { fast: Bytes(bytes), slow: Bytes(0) }
    }

    #[test]
    fn machine_with_slow_memory_uses_accesses() {
        let config = parsed(
            "[vms.a]\nqmp = \"/a\"\nagent = \"/agent\"\nslow-nodes = [1]\nmethod = \"virtio-mem\"\nsource = \"damon\"\n\
             [vms.b]\nqmp = \"/b\"\ntarget = \"95%\"\n[vms.c]\nqmp = \"/c\"\n",
        )
        .expect("valid");
        let by_accesses = |name: &str| config.vms[name].uses_accesses();
        assert_eq!(["a", "b", "c"].map(by_accesses), [true, true, false]);
        let vm = config.of_vm("a", Tiers { fast: Bytes(4 << 30), slow: Bytes(1 << 30) }).expect(
            "within \
            limits",
        );
        assert_eq!((vm.target, vm.memory, vm.floor.slow), (Share(0.9), Bytes(5 << 30), Bytes(1 << 30)));
        assert_eq!(config.of_vm("b", of_fast(1 << 30)).expect("within limits").target.to_string(), "95.0 %");
    }

    #[test]
    fn parses_machines_and_limits() {
        let config = parsed(
            "interval = \"2s\"\ncapacity = \"3GiB\"\n[vms.web]\nqmp = \"/run/web.qmp\"\nfloor = \"512MiB\"\nweight = 2\n",
        )
        .expect("valid");
        assert_eq!(config.interval(), Duration::from_secs(2));
        let vm = config.of_vm("web", of_fast(2 << 30)).expect("within limits");
        assert_eq!((vm.floor.fast, vm.ceiling.fast, vm.weight), (Bytes(512 << 20), Bytes(2 << 30), 2.0));
    }

    #[test]
    fn reports_errors_with_location() {
        for (text, expected) in [
            ("", "missing field `vms`"),
            ("[vms]", "defines no machines"),
            ("interval = \"10ms\"\n[vms.a]\nqmp = \"/a\"", "shorter than a second"),
            ("[vms.a]\nqmp = \"/a\"\nflor = \"1GiB\"", "unknown field `flor`"),
            ("[vms.a]\nqmp = \"/a\"\nfloor = \"much\"", "much"),
            ("[vms.a]\nqmp = \"/a\"\n[vms.b]\nqmp = \"/a\"", "two machines use the same monitor /a"),
        ] {
            let error = parsed(text).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
        let config = parsed("[vms.a]\nqmp = \"/a\"\nceiling = \"4GiB\"").expect("valid");
        let error = config.of_vm("a", of_fast(2 << 30)).expect_err("above the initial memory").to_string();
        assert!(error.contains("`a`: its ceiling"), "{error}");
    }
}
