//! Parses the CPU placement of traffic threads.

use std::{
    fs,
    net::{IpAddr, UdpSocket},
};

use workload::{Placement, WorkloadSettings};

use crate::failure::Misuse;

/// Parses `--pin`: `same`, `cross`, `0,2` (the client's CPUs), or `0,2/1,3` (the client's and the server's CPUs).
pub(crate) fn placement(text: &str) -> Result<Placement, String> {
    match text {
        "free" => Ok(Placement::Free),
        "same" => Ok(Placement::SameCpu),
        "cross" => Ok(Placement::CrossCpu),
        lists => {
            let (client, server) = lists.split_once('/').unwrap_or((lists, ""));
            let (client, server) = (list(client)?, list(server)?);
            if client.is_empty() && server.is_empty() {
                return Err("no CPU given: use same, cross, 0,2 or 0,2/1,3".to_owned());
            }
            Ok(Placement::Cpus { client, server })
        }
    }
}

/// Parses iperf3's `-A`: `n` for the client's CPU, or `n,m` (`n/m` in iperf3's release script) for the client's
/// and the server's.
pub(crate) fn affinity(text: &str) -> Result<Placement, String> {
    match list(&text.replacen('/', ",", 1))?[..] {
        [client] => Ok(Placement::Cpus { client: vec![client], server: Vec::new() }),
        [client, server] => Ok(Placement::Cpus { client: vec![client], server: vec![server] }),
        _ => Err("give one CPU for the client, or one for the client and one for the server, e.g. 0,1; \
             only --pin accepts lists of CPUs"
            .to_owned()),
    }
}

fn list(text: &str) -> Result<Vec<u32>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| digits.parse::<u32>().ok().filter(|cpu| *cpu < 8192);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err(format!("invalid CPU `{part}`: use same, cross, 0,2 or 0,2/1,3")),
        }
    }
    Ok(cpus)
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cpus {
    pub(crate) client: Option<Vec<u32>>,
    pub(crate) server: Option<Vec<u32>>,
}

/// Like [`cpus`], but also checks the server's CPUs if the server runs on this machine.
pub(crate) fn cpus_towards(
    server: IpAddr,
    placement: &Placement,
    load: &WorkloadSettings,
    usable: &[u32],
) -> anyhow::Result<Cpus> {
    if let Placement::Cpus { server: requested, .. } = placement
        && is_here(server)
        && let Some(online) = online()
        && let Some(other) = requested.iter().find(|cpu| !online.contains(cpu))
    {
        let message = format!(
            "the server cannot run on CPU {other}: it is on this machine, which has {}",
            list_of(&online)
        );
        return Err(Misuse::new(message).into());
    }
    cpus(placement, load, usable)
}

fn is_here(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Returns the online CPUs from the kernel's list (e.g. `0-3,6`). Returns `None` if the list cannot be read.
fn online() -> Option<Vec<u32>> {
    list(fs::read_to_string("/sys/devices/system/cpu/online").ok()?.trim()).ok()
}

fn list_of(cpus: &[u32]) -> String {
    let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("{} {}", if cpus.len() == 1 { "CPU" } else { "CPUs" }, numbers.join(", "))
}

pub(crate) fn cpus(placement: &Placement, load: &WorkloadSettings, usable: &[u32]) -> anyhow::Result<Cpus> {
    if let Placement::Cpus { client, .. } = placement
        && let Some(other) = client.iter().find(|cpu| !usable.contains(cpu))
    {
        let message = format!(
            "CPU {other} does not exist or is not available to this process, which may use {}",
            list_of(usable)
        );
        return Err(Misuse::new(message).hint("`taskset -p $$` shows the available CPUs").into());
    }
    let requested = match placement {
        Placement::Cpus { client, .. } => Placement::Cpus { client: client.clone(), server: Vec::new() },
        other => other.clone(),
    };
    let chosen = lab::cpus(&requested, load, usable).map_err(Misuse::new)?;
    let some = |list: Option<Vec<u32>>| list.filter(|list| !list.is_empty());
    let server = match placement {
        Placement::Cpus { server, .. } => Some(server.clone()),
        _ => chosen.server,
    };
    Ok(Cpus { client: some(chosen.client), server: some(server) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;
    use workload::{StreamSettings, Until};

    fn lists(client: &[u32], server: &[u32]) -> Placement {
        Placement::Cpus { client: client.to_vec(), server: server.to_vec() }
    }

    #[test]
    fn parses_placements_as_words_or_cpu_lists() {
        for (text, expected) in [
            ("same", Placement::SameCpu),
            ("cross", Placement::CrossCpu),
            ("free", Placement::Free),
            ("3", lists(&[3], &[])),
            ("0,2,4-6", lists(&[0, 2, 4, 5, 6], &[])),
            ("0,2/1", lists(&[0, 2], &[1])),
            ("/1", lists(&[], &[1])),
        ] {
            assert_eq!(placement(text), Ok(expected), "{text}");
        }
        for text in ["", "/", "near", "2-1", "0,,1", "99999"] {
            assert!(placement(text).is_err_and(|error| error.contains("same")), "{text}");
        }
    }

    #[test]
    fn parses_affinity_like_iperf3() {
        assert_eq!(affinity("1"), Ok(lists(&[1], &[])));
        assert_eq!(affinity("0,1"), Ok(lists(&[0], &[1])));
        assert_eq!(affinity("2/3"), Ok(lists(&[2], &[3])));
        assert!(affinity("0,1,2").is_err_and(|error| error.contains("--pin")));
    }

    #[test]
    fn validates_only_the_clients_cpus() {
        let load = WorkloadSettings::Stream(StreamSettings::new(Until::Elapsed(Nanos::from_secs(1))));
        let of = |placement: &Placement| cpus(placement, &load, &[0, 1]);
        let chosen = of(&lists(&[1], &[63])).expect("the server may have 64");
        assert_eq!(chosen, Cpus { client: Some(vec![1]), server: Some(vec![63]) });
        assert!(of(&lists(&[63], &[])).is_err_and(|error| error.to_string().contains("CPUs 0, 1")));
        let towards = |server: &str| {
            let server = server.parse().expect("valid address");
            cpus_towards(server, &lists(&[1], &[4096]), &load, &[0, 1])
        };
        assert!(towards("127.0.0.1").is_err_and(|error| error.to_string().contains("CPU 4096")));
        assert!(towards("198.51.100.1").is_ok(), "another machine may have them");
        assert_eq!(of(&Placement::Free).expect("free"), Cpus::default());
        let same = of(&Placement::SameCpu).expect("two CPUs");
        assert_eq!(same.client, same.server);
    }
}
