//! Bench `pacing`: the send delay of 10,000 scheduled messages per second, compared with a loop that only
//! sleeps. The loop shows what the kernel's timers can achieve.

use std::time::Duration;

use sys::clock::{monotonic, set_timer_slack, sleep_until};
use units::{BitRate, Bytes, Nanos};
use workload::{
    LatencyHistogram, PingPongSettings, Placement::CrossCpu, Schedule, StreamSettings, Transport, Until,
    WorkloadSettings,
};

use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    ends::{self, Order},
    placement::cpus,
    rounds::{self, Bounds, Contender, Measured},
    target::Target,
    wire::{End, Wire},
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "pacing",
    what: "send delay of 10,000 scheduled messages per second, cross CPU",
    units: &["us p50", "us p99", "us p99.9"],
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: "plumb ping-pong, open loop, UDP", peer: BARE, targets: TARGETS },
    Pairing { ours: "plumb stream with a rate, UDP", peer: BARE, targets: TARGETS },
];

const BARE: &str = "bare clock_nanosleep";
const TARGETS: &[Target] = &[Target::at_most(1.2), Target::at_most(1.2)];

const PERIOD: Nanos = Nanos(100_000);
const MEASURED: Duration = Duration::from_secs(1);
const WARMUP: Duration = Duration::from_millis(400);
const REST: Duration = Duration::from_millis(100);

const MESSAGE: Bytes = Bytes(64);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Plumb { name: PAIRINGS[0].ours, wire, load: open_loop() }),
        Box::new(Plumb { name: PAIRINGS[1].ours, wire, load: with_a_rate() }),
        Box::new(Bare { wire }),
    ];
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}

fn open_loop() -> WorkloadSettings {
    WorkloadSettings::PingPong(PingPongSettings {
        message: MESSAGE,
        schedule: Schedule::Open { period: PERIOD },
        warmup: Nanos::from(WARMUP),
        ..PingPongSettings::new(Nanos::from(MEASURED))
    })
}

fn with_a_rate() -> WorkloadSettings {
    WorkloadSettings::Stream(StreamSettings {
        transport: Transport::Udp,
        message: MESSAGE,
        rate: Some(BitRate::of(MESSAGE, PERIOD)),
        warmup: Nanos::from(WARMUP),
        ..StreamSettings::new(Until::Elapsed(Nanos::from(MEASURED)))
    })
}

struct Plumb<'a> {
    name: &'static str,
    wire: &'a Wire,
    load: WorkloadSettings,
}

impl Contender for Plumb<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let client = ends::exchange(self.wire, &self.load, cpus(&CrossCpu), WARMUP + MEASURED)?;
        Ok(client.quantiles(|client| client.lateness)?.to_vec().into())
    }
}

struct Bare<'a> {
    wire: &'a Wire,
}

impl Contender for Bare<'_> {
    fn name(&self) -> &'static str {
        BARE
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let cpus = cpus(&CrossCpu).map(|[client, _]| client);
        let (warmup, duration) = (Nanos::from(WARMUP), Nanos::from(MEASURED));
        let order = Order::Sleep { period: PERIOD, warmup, duration, cpus };
        let printed = self.wire.start(End::Client, &mut ends::process(&order)?)?.finish(WARMUP + MEASURED)?;
        Ok(ends::account(&printed)?.quantiles(|it| it.lateness)?.to_vec().into())
    }
}

pub(crate) fn bare(
    period: Nanos,
    warmup: Nanos,
    duration: Nanos,
    cpus: Option<&[u32]>,
) -> anyhow::Result<LatencyHistogram> {
    if let Some(cpus) = cpus {
        sys::affinity::pin_thread(cpus)?;
    }
    set_timer_slack(1)?;
    let mut lateness = LatencyHistogram::new();
    let begin = monotonic();
    let (warm, end) = (begin + warmup.0, begin + (warmup + duration).0);
    let mut time = begin;
    while time < end {
        time += period.0;
        sleep_until(time);
        if time >= warm {
            lateness.record(Nanos(monotonic() - time));
        }
    }
    Ok(lateness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_loop_records_every_time_after_the_warmup() {
        let ms = Nanos::from_millis;
        let lateness = bare(ms(1), ms(3), ms(5), None).unwrap();
        assert_eq!(lateness.count(), 6);
    }
}
