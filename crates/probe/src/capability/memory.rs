//! Checks whether there is enough memory for the buffers of many connections.

use procfs::{Current, Meminfo};
use units::Bytes;

use super::{Area, Capability, Subject};

const MEMORY: Subject = Subject {
    id: "memory",
    title: "memory",
    needed_for: "many parallel streams: each has a message buffer and two socket buffers",
    area: Area::Machine,
    required: false,
};

/// This is enough for 128 streams with 1 MiB messages at both ends and socket buffers of up to 6 MiB.
const ENOUGH: Bytes = Bytes(1 << 30);

pub(super) fn probe() -> Capability {
    let available = Meminfo::current().ok().and_then(|memory| memory.mem_available);
    judge(available.map(Bytes))
}

fn judge(available: Option<Bytes>) -> Capability {
    match available {
        None => MEMORY.limited("unknown: /proc/meminfo has no value", "mount -t proc proc /proc"),
        Some(bytes) if bytes >= ENOUGH => MEMORY.works(format!("{bytes} available")),
        Some(bytes) => MEMORY.limited(
            format!("{bytes} available: the kernel will limit socket buffers"),
            format!("free {ENOUGH}, or use fewer streams"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn distinguishes_little_enough_and_unknown_memory() {
        for (bytes, state) in [(1 << 29, State::Limited), (1 << 30, State::Works), (1 << 40, State::Works)] {
            assert_eq!(judge(Some(Bytes(bytes))).state, state, "{bytes}");
        }
        assert_eq!(judge(None).state, State::Limited);
    }
}
