//! Chooses CPUs for a placement on this machine.

use workload::Placement;

/// Returns `None` if the scheduler places both ends.
pub(crate) fn cpus(placement: &Placement) -> Option<[Vec<u32>; 2]> {
    on(&sys::affinity::available(), placement)
}

pub(crate) fn spread() -> Placement {
    let all = sys::affinity::available();
    Placement::Cpus { client: all.clone(), server: all }
}

fn on(available: &[u32], placement: &Placement) -> Option<[Vec<u32>; 2]> {
    let first = available.first().copied().unwrap_or_default();
    let last = available.last().copied().unwrap_or_default();
    match placement {
        Placement::Free => None,
        Placement::SameCpu => Some([vec![first], vec![first]]),
        Placement::CrossCpu => Some([vec![first], vec![last]]),
        Placement::Cpus { client, server } => Some([client.clone(), server.clone()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placement_uses_available_cpus() {
        let available = [2, 5, 7];
        let cases = [
            (Placement::Free, None),
            (Placement::SameCpu, Some([vec![2], vec![2]])),
            (Placement::CrossCpu, Some([vec![2], vec![7]])),
        ];
        for (placement, expected) in cases {
            assert_eq!(on(&available, &placement), expected, "{placement}");
        }
    }
}
