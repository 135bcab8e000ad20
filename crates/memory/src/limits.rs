//! Limits on numbers received from guests, monitors and records.

use serde_json::Value;
use units::Bytes;

/// The physical address space of x86-64 and arm64 (Intel SDM, volume 3A, section 4.1.4; Arm `FEAT_LPA`). A sum of a
/// thousand such sizes does not overflow.
pub(crate) const MOST_MEMORY: Bytes = Bytes(1 << 52);

pub(crate) fn bytes(value: &Value) -> Option<Bytes> {
    value.as_u64().map(Bytes).filter(|size| *size <= MOST_MEMORY)
}

/// Returns `None` if the sum is larger than any machine's memory.
pub(crate) fn sum(sizes: impl IntoIterator<Item = Bytes>) -> Option<Bytes> {
    let add = |sum: u64, size: Bytes| sum.checked_add(size.0).filter(|sum| *sum <= MOST_MEMORY.0);
    sizes.into_iter().try_fold(0, add).map(Bytes)
}
