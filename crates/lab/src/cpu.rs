//! Combines the CPU times reported by both ends of a trial.

use protocol::{EndReport, HostCpu};
use samples::{CpuThrottling, CpuUsage, GuestCpu};

/// Machine-wide CPU time comes from an end that runs directly on the machine, and is unknown if there is no such end.
/// `guests` marks ends in a guest or on another host.
pub(crate) fn together(client: &EndReport, server: Option<&EndReport>, guests: [bool; 2]) -> CpuUsage {
    let ends = || {
        let both = [("client", Some(client)), ("server", server)].into_iter().zip(guests);
        both.filter_map(|((name, end), is_guest)| Some(((name, end?), is_guest)))
    };
    let threads = ends().flat_map(|((_, end), _)| end.threads.iter().cloned()).collect();
    let machine = ends().find(|(_, is_guest)| !is_guest).map(|((_, end), _)| end.machine.clone());
    let guest = |((name, end), is_guest): ((&str, &EndReport), bool)| {
        is_guest.then(|| GuestCpu { end: name.to_owned(), cpu: end.machine.clone() })
    };
    let guests = ends().filter_map(guest).collect();
    let throttled = ends().filter_map(|((name, end), _)| {
        Some(CpuThrottling { end: name.to_owned(), ..end.throttled.clone()? })
    });
    let throttled = throttled.collect();
    CpuUsage { machine: machine.unwrap_or_default(), threads, guests, processes: None, throttled }
}

pub(crate) fn with_observed(mut usage: CpuUsage, host: Option<HostCpu>) -> CpuUsage {
    let Some(HostCpu { machine, processes }) = host else { return usage };
    if usage.machine.elapsed.0 == 0 {
        usage.machine = machine;
    }
    CpuUsage { processes: Some(processes), ..usage }
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::MachineCpu;
    use units::Nanos;
    use workload::{EndMeasurement, StreamEnd};

    fn end(machine: MachineCpu) -> EndReport {
        let measured = EndMeasurement::Stream(StreamEnd::default());
        EndReport {
            measured,
            threads: Vec::new(),
            machine,
            softnet: None,
            stalled: Nanos(0),
            throttled: None,
        }
    }

    #[test]
    fn takes_machine_time_from_end_on_it_and_guest_time_from_guests() {
        let busy = |millis| MachineCpu { user: Nanos::from_millis(millis), ..MachineCpu::default() };
        for (guests, machine, of_guests) in [
            ([false, false], busy(3), vec![]),
            ([false, true], busy(3), vec![("server", busy(4))]),
            ([true, false], busy(4), vec![("client", busy(3))]),
            ([true, true], MachineCpu::default(), vec![("client", busy(3)), ("server", busy(4))]),
        ] {
            let found = together(&end(busy(3)), Some(&end(busy(4))), guests);
            let reported: Vec<_> = found.guests.iter().map(|it| (it.end.as_str(), it.cpu.clone())).collect();
            assert_eq!((found.machine, reported), (machine, of_guests), "{guests:?}");
        }
    }
}
