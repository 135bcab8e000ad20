//! Maps placements to CPU numbers.

use workload::{Placement, WorkloadSettings};

/// `None` means unpinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    /// Thread n is pinned to entry n. If there are more threads than entries, the list repeats.
    pub client: Option<Vec<u32>>,
    pub server: Option<Vec<u32>>,
}

impl Cpus {
    pub(crate) const FREE: Self = Self { client: None, server: None };
}

pub fn cpus(placement: &Placement, load: &WorkloadSettings, usable: &[u32]) -> Result<Cpus, String> {
    match placement {
        Placement::Free => Ok(Cpus { client: None, server: None }),
        Placement::SameCpu => {
            // Interrupts and housekeeping tasks prefer the first CPU, so use the last.
            let last = *usable.last().ok_or("this process is not allowed to use any CPU")?;
            Ok(Cpus { client: Some(vec![last]), server: Some(vec![last]) })
        }
        Placement::CrossCpu if usable.len() < 2 => Err(
            "placement cross-cpu needs two CPUs, but this process may use only one; widen its affinity or cpuset"
                .into(),
        ),
        Placement::CrossCpu => {
            let each = load.kind().threads().min(usable.len() / 2);
            let (client, server) = usable.split_at(usable.len() / 2);
            Ok(Cpus { client: Some(client[..each].to_vec()), server: Some(server[..each].to_vec()) })
        }
        Placement::Cpus { client, server } => {
            if let Some(other) = client.iter().chain(server).find(|cpu| !usable.contains(cpu)) {
                return Err(format!("the placement uses CPU {other}, but this process may use only {usable:?}"));
            }
            Ok(Cpus { client: Some(client.clone()), server: Some(server.clone()) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;
    use workload::{StreamSettings, Until};

    fn streams(streams: u32) -> WorkloadSettings {
        WorkloadSettings::Stream(StreamSettings {
            streams,
            ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
        })
    }

    #[test]
    fn selects_cpus_by_placement() {
        let all = [0, 1, 2, 3];
        for (placement, load, client, server) in [
            (Placement::Free, 1, None, None),
            (Placement::SameCpu, 4, Some(vec![3]), Some(vec![3])),
            (Placement::CrossCpu, 1, Some(vec![0]), Some(vec![2])),
            (Placement::CrossCpu, 8, Some(vec![0, 1]), Some(vec![2, 3])),
        ] {
            assert_eq!(
                cpus(&placement, &streams(load), &all),
                Ok(Cpus { client, server }),
                "{placement:?} {load}"
            );
        }
    }

    #[test]
    fn uses_listed_cpus_if_allowed() {
        let placement = |server| Placement::Cpus { client: vec![2, 0], server };
        let given = Cpus { client: Some(vec![2, 0]), server: Some(vec![1]) };
        assert_eq!(cpus(&placement(vec![1]), &streams(4), &[0, 1, 2]), Ok(given));
        let error = cpus(&placement(vec![7]), &streams(4), &[0, 1, 2]).expect_err("not usable");
        assert!(error.contains("CPU 7"), "{error}");
    }

    #[test]
    fn refuses_cross_cpu_with_one_cpu() {
        let error = cpus(&Placement::CrossCpu, &streams(1), &[5]).expect_err("one CPU");
        assert!(error.contains("two CPUs"), "{error}");
    }
}
