//! CPU time of the guests at a result's ends, as counted by the guest kernels.

use findings::GuestTime;
use samples::{GuestCpu, MachineCpu, Trial};
use stats::describe;
use units::Nanos;

use crate::observations::Observations;

pub(crate) fn medians(result: &Observations<'_>) -> Vec<GuestTime> {
    let trials: Vec<&Trial> = result.trials().collect();
    each(&trials, |guest| {
        let median = |of: fn(&MachineCpu) -> Nanos| {
            let cpus = |cpu: &&MachineCpu| of(cpu).seconds() / cpu.elapsed.seconds();
            describe::median(&guest.iter().map(cpus).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        [median(MachineCpu::busy), median(interrupts), median(|cpu| cpu.steal)]
    })
}

/// Divides the total CPU times of all trials by their total duration, as the host's CPU attribution does.
pub(crate) fn together(trials: &[&Trial]) -> Vec<GuestTime> {
    each(trials, |guest| {
        let seconds = |of: fn(&MachineCpu) -> Nanos| guest.iter().map(|cpu| of(cpu).seconds()).sum::<f64>();
        let elapsed = seconds(|cpu| cpu.elapsed);
        [seconds(MachineCpu::busy), seconds(interrupts), seconds(|cpu| cpu.steal)].map(|time| time / elapsed)
    })
}

fn each(trials: &[&Trial], of: impl Fn(&[&MachineCpu]) -> [f64; 3]) -> Vec<GuestTime> {
    let read = |guest: &&GuestCpu| guest.cpu.elapsed.0 > 0;
    let guests: Vec<&GuestCpu> = trials.iter().flat_map(|trial| &trial.cpu.guests).filter(read).collect();
    let mut ends: Vec<&str> = guests.iter().map(|guest| guest.end.as_str()).collect();
    ends.sort_unstable();
    ends.dedup();
    let of_end = |end: &str| {
        let own: Vec<&MachineCpu> =
            guests.iter().filter(|guest| guest.end == end).map(|guest| &guest.cpu).collect();
        let [busy, interrupts, steal] = of(&own);
        let cpus = own.iter().map(|cpu| cpu.cpus).max()?;
        Some(GuestTime { end: end.to_owned(), cpus, busy, interrupts, steal })
    };
    ends.into_iter().filter_map(of_end).collect()
}

fn interrupts(cpu: &MachineCpu) -> Nanos {
    cpu.irq + cpu.softirq
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations::gather};

    fn guest(end: &str, seconds: u64, user: u64, softirq: u64) -> GuestCpu {
        let millis = |millis| Nanos::from_millis(millis * seconds);
        let cpu = MachineCpu {
            cpus: 2,
            elapsed: Nanos::from_secs(seconds),
            user: millis(user),
            softirq: millis(softirq),
            ..MachineCpu::default()
        };
        GuestCpu { end: end.into(), cpu }
    }

    fn run() -> Fixture {
        let mut run = Fixture::new(3);
        run.path("plain", &["virtio"]).stream("plain", &[], 1e9);
        run.each("plain/bulk", |trial| {
            let long = u64::from(trial.block == 2);
            trial.cpu.guests = vec![
                guest("server", 1, 500, 0),
                guest("client", 1 + long * 3, 100 + u64::from(trial.block) * 100, 100),
            ];
        });
        run
    }

    fn listed(guests: &[GuestTime]) -> Vec<(&str, f64, f64)> {
        let tenths = |cpus: f64| (cpus * 1000.0).round() / 1000.0;
        guests.iter().map(|it| (it.end.as_str(), tenths(it.busy), tenths(it.interrupts))).collect()
    }

    #[test]
    fn reports_guest_time_by_end_with_the_client_first() {
        let run = run();
        let measured = gather(&run.record);
        assert_eq!(listed(&medians(&measured[0])), [("client", 0.3, 0.1), ("server", 0.5, 0.0)]);
        let trials: Vec<&Trial> = run.record.trials.iter().collect();
        assert_eq!(listed(&together(&trials)), [("client", 0.35, 0.1), ("server", 0.5, 0.0)]);
    }

    #[test]
    fn end_without_reading_is_not_a_guest() {
        let mut run = run();
        run.each("plain/bulk", |trial| trial.cpu.guests = vec![guest("client", 0, 0, 0)]);
        assert_eq!(medians(&gather(&run.record)[0]), []);
    }
}
