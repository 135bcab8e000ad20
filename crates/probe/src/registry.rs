//! The kinds of probes.

use samples::ProbeKind;

use crate::{
    cpu_attribution,
    observe::{Probe, ProbeError},
    packet_way, syscalls,
};

/// Fails with [`ProbeError::Unavailable`] if the kernel or the permissions do not allow the probe.
pub fn probe(kind: ProbeKind) -> Result<Box<dyn Probe>, ProbeError> {
    match kind {
        ProbeKind::Cpu => cpu_attribution::probe(),
        ProbeKind::Syscalls => syscalls::probe(),
        ProbeKind::PacketWay => packet_way::probe(),
    }
}
