//! Samples the memory of running virtual machines, and moves it between them.

mod agent;
mod agent_link;
mod attached;
mod balloon;
mod config;
mod error;
mod layout;
mod limits;
mod lock;
mod ownership;
mod rebalance;
mod recording;
mod replay;
mod resident;
mod running;
mod sample;
mod sampler;
mod saved_state;
mod telemetry;
mod virtio_balloon;
mod virtio_mem;

pub use agent::frees_behind_guests;
pub use agent_link::AgentLink;
pub use attached::{AttachedVm, AttachedVms, Seen};
pub use balloon::{Balloon, GuestAgent, Resize, resize};
pub use config::{ConfigError, VmsConfig};
pub use error::MemoryError;
pub use rebalance::{Rebalance, Round, Rounds};
pub use recording::{Recorder, parse_recording};
pub use replay::{Replay, ReplayError};
pub use resident::Resident;
pub use running::{GuestMemory, RunningVm, VmAccess};
pub use sample::MemorySample;
pub use sampler::Sampler;
pub use saved_state::SavedState;
pub use telemetry::{AccessSource, Accesses, GuestTelemetry, Look, ReferencedBits};

use machine::Monitor;
use units::Bytes;
use workload::BalloonMethod;

/// `pid` is the QEMU process, `device` is the device's ID in QEMU, and `all` is the memory that the device can take.
/// Fails if the machine lacks the device, or if its memory is pinned or shared.
pub fn balloon(
    method: BalloonMethod,
    mut monitor: Monitor,
    pid: u32,
    device: &str,
    all: Bytes,
) -> Result<Box<dyn Balloon>, MemoryError> {
    Ok(match method {
        BalloonMethod::VirtioBalloon => Box::new(virtio_balloon::VirtioBalloon::new(monitor)?),
        BalloonMethod::VirtioMem => Box::new(virtio_mem::VirtioMem::new(monitor, device, all)),
        BalloonMethod::Agent => Box::new(agent::AgentBalloon::new(&mut monitor, pid)?),
    })
}
