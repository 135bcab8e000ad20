//! Loads embedded BPF objects. Nothing is pinned, so the kernel unloads everything when the process ends,
//! even if it is killed.

mod refusal;
mod subjects;

use aya::{
    Btf, Ebpf, EbpfLoader,
    maps::{Array, HashMap, MapData, MapError},
    programs::{
        BtfTracePoint, Program, ProgramError, RawTracePoint, raw_trace_point::RawTracePointLinkId,
        tp_btf::BtfTracePointLinkId,
    },
};

use crate::observe::ProbeError;
use refusal::Refusal;
pub(crate) use subjects::Subjects;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Hook {
    program: &'static str,
    tracepoint: &'static str,
    optional: bool,
}

pub(crate) struct BpfObject {
    ebpf: Ebpf,
    hooks: Vec<Hook>,
    links: Vec<(&'static str, Link)>,
}

enum Link {
    Typed(BtfTracePointLinkId),
    Raw(RawTracePointLinkId),
}

impl Hook {
    /// A required hook. The function's section in the object determines how to attach it: `SEC("tp_btf/...")` or
    /// `SEC("raw_tp/...")`.
    pub(crate) const fn needed(program: &'static str, tracepoint: &'static str) -> Self {
        Self { program, tracepoint, optional: false }
    }

    /// A hook for a tracepoint that the kernel may lack, e.g. `kvm_entry` without KVM.
    pub(crate) const fn optional(program: &'static str, tracepoint: &'static str) -> Self {
        Self { program, tracepoint, optional: true }
    }
}

impl BpfObject {
    /// `sizes` overrides the maximum number of entries of the named maps. Fails with [`ProbeError::Unavailable`]
    /// if the kernel or the permissions do not allow eBPF.
    pub(crate) fn new(object: &[u8], hooks: &[Hook], sizes: &[(&str, u32)]) -> Result<Self, ProbeError> {
        Self::load(object, hooks, sizes).map_err(|refusal| refusal.explain())
    }

    pub(crate) fn attach(&mut self) -> Result<(), ProbeError> {
        if !self.links.is_empty() {
            return Ok(());
        }
        for hook in self.hooks.clone() {
            match self.attach_one(hook.program, hook.tracepoint) {
                Ok(link) => self.links.push((hook.program, link)),
                Err(_) if hook.optional => {}
                Err(error) => {
                    self.detach();
                    return Err(Refusal::program(hook.tracepoint, error).explain());
                }
            }
        }
        Ok(())
    }

    pub(crate) fn detach(&mut self) {
        for (name, link) in std::mem::take(&mut self.links) {
            let _ = match (self.ebpf.program_mut(name), link) {
                (Some(Program::BtfTracePoint(program)), Link::Typed(id)) => program.detach(id),
                (Some(Program::RawTracePoint(program)), Link::Raw(id)) => program.detach(id),
                _ => Ok(()),
            };
        }
    }

    /// `.bss` and `.data` are maps with a single entry, which holds all variables.
    pub(crate) fn array<V: aya::Pod>(&mut self, name: &str) -> Result<Array<&mut MapData, V>, ProbeError> {
        Array::try_from(self.map(name)?).map_err(|error| failed("open", name, &error))
    }

    pub(crate) fn hash<K: aya::Pod, V: aya::Pod>(
        &mut self,
        name: &str,
    ) -> Result<HashMap<&mut MapData, K, V>, ProbeError> {
        HashMap::try_from(self.map(name)?).map_err(|error| failed("open", name, &error))
    }

    /// The first entry for a key wins.
    pub(crate) fn replace<K: aya::Pod, V: aya::Pod>(
        &mut self,
        name: &str,
        entries: &[(K, V)],
    ) -> Result<(), ProbeError> {
        let mut map = self.hash::<K, V>(name)?;
        let old: Vec<K> =
            map.keys().collect::<Result<_, _>>().map_err(|error| failed("read", name, &error))?;
        for key in old {
            match map.remove(&key) {
                Ok(()) | Err(MapError::KeyNotFound) => {}
                Err(error) => return Err(failed("clear", name, &error)),
            }
        }
        for (key, value) in entries.iter().rev() {
            map.insert(key, value, 0).map_err(|error| failed("write", name, &error))?;
        }
        Ok(())
    }

    pub(crate) fn map(&mut self, name: &str) -> Result<&mut aya::maps::Map, ProbeError> {
        self.ebpf.map_mut(name).ok_or_else(|| failed("open", name, &"the object has no such map"))
    }

    pub(crate) fn program(&mut self, name: &str) -> Option<&mut Program> {
        self.ebpf.program_mut(name)
    }

    fn load(object: &[u8], hooks: &[Hook], sizes: &[(&str, u32)]) -> Result<Self, Refusal> {
        sys::bpf::try_load().map_err(|error| Refusal::rights(&error))?;
        Refusal::numbers()?;
        let btf = Btf::from_sys_fs().map_err(|error| Refusal::NoTypes(error.to_string()))?;
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&btf)).allow_unsupported_maps();
        for (name, entries) in sizes {
            loader.map_max_entries(name, *entries);
        }
        let mut ebpf = loader.load(object).map_err(Refusal::object)?;
        let mut loaded = Vec::new();
        for hook in hooks {
            match load_one(&mut ebpf, hook, &btf) {
                Ok(()) => loaded.push(*hook),
                Err(_) if hook.optional => {}
                Err(error) => return Err(Refusal::program(hook.tracepoint, error)),
            }
        }
        Ok(Self { ebpf, hooks: loaded, links: Vec::new() })
    }

    fn attach_one(&mut self, name: &str, tracepoint: &str) -> Result<Link, ProgramError> {
        match self.ebpf.program_mut(name) {
            Some(Program::BtfTracePoint(program)) => program.attach().map(Link::Typed),
            Some(Program::RawTracePoint(program)) => program.attach(tracepoint).map(Link::Raw),
            _ => Err(ProgramError::UnexpectedProgramType),
        }
    }
}

fn load_one(ebpf: &mut Ebpf, hook: &Hook, btf: &Btf) -> Result<(), ProgramError> {
    match ebpf.program_mut(hook.program) {
        Some(Program::BtfTracePoint(program)) => BtfTracePoint::load(program, hook.tracepoint, btf),
        Some(Program::RawTracePoint(program)) => RawTracePoint::load(program),
        _ => Err(ProgramError::UnexpectedProgramType),
    }
}

pub(crate) fn failed(operation: &str, map: &str, reason: &dyn std::fmt::Display) -> ProbeError {
    ProbeError::Failed { operation: format!("{operation} the map {map}"), reason: reason.to_string() }
}

#[cfg(test)]
pub(crate) fn load_or_panic(object: &[u8], hooks: &[Hook]) -> Option<BpfObject> {
    match BpfObject::load(object, hooks, &[]) {
        Ok(loaded) => Some(loaded),
        Err(Refusal::Rights(_) | Refusal::OtherNumbers | Refusal::NoTypes(_)) => None,
        Err(refusal) => panic!("{refusal:#?}"),
    }
}
