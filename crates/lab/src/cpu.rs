//! CPU time of a trial, from what both ends saw of it. Must not know what to think of it.

use protocol::{EndReport, HostCpu};
use samples::{CpuUsage, GuestCpu};

/// CPU time: this machine's, as an end saw it that is on the machine itself; that of ends with a kernel of their own, which see
/// their own only; and both ends' threads. Without an end on it the machine's is not known. `guests` says which end is in a
/// guest or on another host; a workload with one end has no server.
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
    CpuUsage { machine: machine.unwrap_or_default(), threads, guests, processes: None }
}

/// With what an observer saw of the machine. Where no end is on it, nobody else has.
pub(crate) fn beside(mut usage: CpuUsage, host: Option<HostCpu>) -> CpuUsage {
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
        EndReport { measured, threads: Vec::new(), machine, softnet: None, stalled: Nanos(0) }
    }

    #[test]
    fn the_machine_is_seen_from_an_end_on_it_and_each_guest_sees_itself() {
        let busy = |millis| MachineCpu { user: Nanos::from_millis(millis), ..MachineCpu::default() };
        for (guests, machine, of_guests) in [
            ([false, false], busy(3), vec![]),
            ([false, true], busy(3), vec![("server", busy(4))]),
            ([true, false], busy(4), vec![("client", busy(3))]),
            ([true, true], MachineCpu::default(), vec![("client", busy(3)), ("server", busy(4))]),
        ] {
            let found = together(&end(busy(3)), Some(&end(busy(4))), guests);
            let told: Vec<_> = found.guests.iter().map(|it| (it.end.as_str(), it.cpu.clone())).collect();
            assert_eq!((found.machine, told), (machine, of_guests), "{guests:?}");
        }
    }
}
