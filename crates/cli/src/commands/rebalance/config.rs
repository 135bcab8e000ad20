//! The configuration file of `plumb rebalance`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use anyhow::Context;
use lab::Stop;
use memory::{AttachedVm, VmAccess};
use policy::{Settings, SettingsError, Tiers, VmSettings};
use protocol::AccessSourceKind;
use serde::{Deserialize, Deserializer, de::Error};
use units::{Bytes, Nanos, Share};
use workload::BalloonMethod;

use crate::{bounded_file, failure::Misuse, program::TOOL};

const INTERVAL: Nanos = Nanos(10_000_000_000);
/// Balloon drivers report statistics at most once per second.
const SHORTEST: Nanos = Nanos(1_000_000_000);
/// By default, the floor is the initial memory divided by this.
const FLOOR: u64 = 4;
/// The default target with one tier. Memory in use beyond it is swapped out, or the OOM killer ends a process.
const TARGET: Share = Share(1.0);
/// The default target with two tiers. Slow memory serves the remaining accesses.
const TARGET_OF_TIERS: Share = Share(0.9);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, deserialize_with = "quantity")]
    interval: Option<Nanos>,
    #[serde(default, deserialize_with = "quantity")]
    capacity: Option<Bytes>,
    #[serde(default, deserialize_with = "quantity")]
    reserve: Option<Bytes>,
    #[serde(default, deserialize_with = "quantity")]
    step: Option<Bytes>,
    vms: BTreeMap<String, VmTable>,
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
    #[serde(default, deserialize_with = "quantity")]
    target: Option<Share>,
    #[serde(default, deserialize_with = "quantity")]
    floor: Option<Bytes>,
    #[serde(default, deserialize_with = "quantity")]
    ceiling: Option<Bytes>,
    weight: Option<f64>,
}

impl VmTable {
    /// Memory that is not accessed must be stored elsewhere: in slow memory or, if a target allows it, in swap.
    fn uses_accesses(&self) -> bool {
        !self.slow_nodes.is_empty() || self.target.is_some()
    }
}

fn quantity<'de, T: FromStr, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error>
where
    T::Err: std::fmt::Display,
{
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) whole: Bytes,
    pub(super) has: Tiers,
}

#[derive(Debug)]
pub(crate) struct Config {
    file: PathBuf,
    written: Written,
}

impl Config {
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = bounded_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Self::parse(file, &text)?)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, Misuse> {
        let wrong = |what: String| Misuse::new(format!("{}: {what}", file.display()));
        let written: Written = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if written.vms.is_empty() {
            return Err(wrong("it defines no machines".to_owned())
                .hint("add `[vms.NAME]` with `qmp = \"/run/NAME.qmp\"`"));
        }
        if written.interval.is_some_and(|interval| interval < SHORTEST) {
            return Err(wrong("`interval` is shorter than a second".to_owned())
                .hint("guests report memory statistics at most once per second"));
        }
        let mut sockets: Vec<&Path> = written.vms.values().map(|vm| vm.qmp.as_path()).collect();
        sockets.sort_unstable();
        if let Some(twice) = sockets.windows(2).find(|two| two[0] == two[1]) {
            return Err(wrong(format!("two machines use the same monitor {}", twice[0].display())));
        }
        Ok(Self { file: file.to_owned(), written })
    }

    pub(crate) fn interval(&self) -> Duration {
        self.written.interval.unwrap_or(INTERVAL).into()
    }

    /// Connects to every machine's monitor. With a directory for `locks`, prevents other processes from
    /// moving the machines' memory.
    ///
    /// # Errors When a machine cannot be reached.
    pub(crate) fn attach(
        &self,
        locks: Option<&Path>,
        stop: &Stop,
    ) -> anyhow::Result<BTreeMap<String, AttachedVm>> {
        let mut attached = BTreeMap::new();
        for (name, vm) in &self.written.vms {
            let access = VmAccess {
                qmp: vm.qmp.clone(),
                agent: vm.agent.clone(),
                source: vm.source,
                method: vm.method,
                slow: vm.slow_nodes.clone(),
                locks: locks.map(Path::to_owned),
                tool: TOOL.to_owned(),
                stop: stop.flag(),
            };
            let opened = AttachedVm::open(access, vm.uses_accesses(), self.interval());
            attached.insert(name.clone(), opened.with_context(|| format!("virtual machine `{name}`"))?);
        }
        Ok(attached)
    }

    pub(super) fn extents(
        &self,
        attached: &mut BTreeMap<String, AttachedVm>,
    ) -> anyhow::Result<BTreeMap<String, Extent>> {
        let extent = |(name, vm): (&String, &mut AttachedVm)| -> anyhow::Result<(String, Extent)> {
            let whole = vm.whole().with_context(|| format!("virtual machine `{name}`"))?;
            Ok((name.clone(), Extent { whole, has: vm.has() }))
        };
        attached.iter_mut().map(extent).collect()
    }

    pub(super) fn settings(&self, extents: &BTreeMap<String, Extent>) -> anyhow::Result<Settings> {
        let mut vms = Vec::new();
        let mut has = Tiers::default();
        for (name, Extent { whole, has: its }) in extents {
            has = Tiers { fast: has.fast + its.fast, slow: has.slow + its.slow };
            vms.push(self.of_vm(name, Tiers { fast: *whole, slow: its.slow })?);
        }
        let capacity = Tiers { fast: self.written.capacity.unwrap_or(has.fast), slow: has.slow };
        let mut settings = Settings::new(capacity, vms);
        settings.reserve = self.written.reserve.unwrap_or(Bytes(0));
        settings.step = self.written.step.unwrap_or(settings.step);
        Ok(settings)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.written.vms.keys().map(String::as_str)
    }

    pub(super) fn uses_accesses(&self, name: &str) -> bool {
        self.written.vms.get(name).is_some_and(VmTable::uses_accesses)
    }

    /// `whole` is the initial memory. The size of slow memory does not change.
    fn of_vm(&self, name: &str, whole: Tiers) -> Result<VmSettings, Misuse> {
        let written = &self.written.vms[name];
        let ceiling = written.ceiling.unwrap_or(whole.fast);
        if ceiling > whole.fast {
            let message =
                format!("its ceiling of {ceiling} is higher than its initial memory of {}", whole.fast);
            return Err(self.misuse_of(name, &message));
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

    fn misuse_of(&self, name: &str, message: &str) -> Misuse {
        Misuse::new(format!("{}: virtual machine `{name}`: {message}", self.file.display()))
    }

    pub(super) fn misuse(&self, error: &SettingsError) -> Misuse {
        Misuse::new(format!("{}: {error}", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Config, String> {
        Config::parse(Path::new("vms.toml"), text).map_err(|error| error.to_string())
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
        let by_accesses = |name: &str| config.written.vms[name].uses_accesses();
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
            assert!(error.contains(expected) && error.starts_with("vms.toml: "), "{error}");
        }
        let config = parsed("[vms.a]\nqmp = \"/a\"\nceiling = \"4GiB\"").expect("valid");
        let error = config.of_vm("a", of_fast(2 << 30)).expect_err("above the initial memory").to_string();
        assert!(error.contains("`a`: its ceiling"), "{error}");
    }
}
