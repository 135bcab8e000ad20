//! Summarises each result's trials. `kind` has the workload-specific parts.

use findings::{ResultShift, ResultSummary};
use samples::{DeviceState, Trial};

use crate::{
    counters, cpu, cpu_attribution, fits::Fits, guest_cpu, instructions, kind, observations::Observations,
    packets, probed, series, sockets, steadiness, syscalls, warnings, workload_summary,
};

pub(crate) fn summaries(measured: &[Observations<'_>], fits: &Fits) -> Vec<ResultSummary> {
    measured.iter().filter_map(|result| summary(result, measured, fits)).collect()
}

fn summary(result: &Observations<'_>, all: &[Observations<'_>], fits: &Fits) -> Option<ResultSummary> {
    let record = result.record;
    let values = result.values();
    let value = fits.value(result)?;
    let syscalls = syscalls::together(result);
    let counters = counters::together(result);
    let sockets = sockets::ends(result.trials().map(|trial| &trial.measurement));
    Some(ResultSummary {
        id: record.id.clone(),
        label: result.label.clone(),
        path: record.path.clone(),
        layers: result.layers().to_vec(),
        workload: record.workload.clone(),
        load: workload_summary::of(&record.sent, &record.placement, &sockets),
        levels: record.levels.clone(),
        baseline: record.baseline,
        metric: result.metric,
        value,
        values,
        against_baseline: against_baseline(result, all, fits),
        measured: kind::summary(result, value),
        cpu: cpu::cost(result),
        guests: guest_cpu::medians(result),
        consumers: cpu_attribution::costs(result),
        reported: kind::reported::columns(result),
        shifts: shifts(result),
        instructions: instructions::groups(result),
        probed: probed::summary(result, &syscalls),
        syscalls,
        packets: counters.as_ref().and_then(|counters| packets::summary(result, counters)),
        counters,
        ended: result.ended.cloned(),
        sockets,
        devices: devices(result),
        path_mtu: result.trials().filter_map(|trial| trial.path_check.mtu).min(),
        warnings: warnings::strongest(result),
    })
}

fn against_baseline(
    result: &Observations<'_>,
    all: &[Observations<'_>],
    fits: &Fits,
) -> Option<findings::Comparison> {
    let workload = &result.record.workload;
    let baseline = all.iter().find(|other| other.record.baseline && other.record.workload == *workload)?;
    if result.record.baseline { None } else { fits.compare(result, baseline) }
}

fn shifts(result: &Observations<'_>) -> Vec<ResultShift> {
    let of_trial = |trial: &Trial| {
        let found = steadiness::shifts(&series::of_trial(result, trial));
        let trial = trial.index;
        found.into_iter().map(move |shift| ResultShift { trial, shift })
    };
    result.trials().flat_map(of_trial).collect()
}

/// Returns the devices of the first trial. If later trials differ, a limitation reports it.
fn devices(result: &Observations<'_>) -> Vec<DeviceState> {
    result.trials().next().map(|trial| trial.devices.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixtures::{Fixture, connections, datagrams_at, open_loop_of, stream_at},
        observations::gather,
    };
    use findings::{ConnectSummary, LatencySummary, StreamSummary, WorkloadSummary};
    use units::{Bytes, Nanos};
    use workload::Metric;
    use workload::Work;
    use workload::{
        ConnectSettings, Direction, FirstTouchData, FirstTouchInterval, FirstTouchSettings, Measurement,
        PingPongSettings, Schedule, StreamSettings, Transport, Until, WorkloadSettings,
    };

    fn only(run: &Fixture) -> ResultSummary {
        let measured = gather(&run.record);
        summaries(&measured, &Fits::of(&measured)).remove(0)
    }

    fn plain() -> Fixture {
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]);
        run
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-3
    }

    #[test]
    fn rate_is_received_after_warm_up_in_both_directions() {
        let mut run = plain();
        run.stream("plain", &[], 1e9).each("plain/bulk", |trial| {
            let (Measurement::Stream(mut one), Measurement::Stream(back)) =
                (stream_at(&[9e9, 3e9, 5e9]), stream_at(&[9e9, 1e9, 1e9]))
            else {
                return;
            };
            one.flows[0].sender.intervals[1].bytes.0 *= 2;
            one.flows.extend(back.flows);
            one.flows[1].direction = Direction::Reverse;
            trial.measurement = Measurement::Stream(one);
        });
        let result = only(&run);
        let stream = StreamSummary::of(&result).cloned().expect("it is a stream");
        let parts = [stream.forward, stream.reverse].map(|part| part.expect("flowed").estimate);
        assert!(near(result.value.estimate, 5e9) && near(parts[0], 4e9) && near(parts[1], 1e9), "{parts:?}");
        assert!(near(stream.sent.expect("it is known").estimate, 6.5e9), "{:?}", stream.sent);
        assert!(near(stream.stability.expect("two intervals"), 2.0f64.sqrt() / 5.0));
    }

    #[test]
    fn truncated_last_interval_does_not_affect_stability() {
        let mut run = plain();
        run.stream("plain", &[], 1e9).each("plain/bulk", |trial| {
            let Measurement::Stream(mut data) = stream_at(&[1e9, 1e9, 1e9, 1e9]) else { return };
            let last = data.flows[0].receiver.intervals.last_mut().expect("it has four");
            last.end = Nanos(last.start.0 + 1000);
            trial.measurement = Measurement::Stream(data);
        });
        assert_eq!(StreamSummary::of(&only(&run)).cloned().expect("it is a stream").stability, Some(0.0));
    }

    #[test]
    fn percentiles_are_over_all_trials() {
        let mut run = plain();
        run.ping("plain", &[], 10_000.0);
        run.each("plain/ping", |trial| {
            let slow = if trial.block == 4 { 100_000.0 } else { 10_000.0 };
            trial.measurement = crate::fixtures::ping_of(slow);
        });
        let result = only(&run);
        let latency = LatencySummary::of(&result).cloned().expect("it is a ping-pong");
        let at = |share: f64| {
            let found = latency.round_trips.at(share);
            found.expect("the share is shown").0
        };
        assert!(at(0.75) < 12_000 && at(0.9) > 80_000, "{:?}", latency.round_trips.percentiles);
        assert_eq!((latency.round_trips.count, latency.round_trips.percentiles.len()), (5000, 6));
        assert!(near(latency.rate.expect("it lasted"), 5000.0 / (4.0 * 0.01 + 0.1)), "{:?}", latency.rate);
        assert!(near(result.value.estimate, 10_000.0), "{:?}", result.value);
    }

    #[test]
    fn counts_losses_of_trials_without_replies() {
        let mut run = plain();
        run.ping("plain", &[], 10_000.0).each("plain/ping", |trial| {
            let Measurement::PingPong(data) = &mut trial.measurement else { return };
            data.lost = Some(1);
            if trial.block == 4 {
                (data.lost, data.round_trips) = (Some(100), workload::LatencyHistogram::new());
            }
        });
        let result = only(&run);
        assert_eq!(
            (LatencySummary::of(&result).cloned().expect("it is a ping-pong").lost, result.value.trials),
            (Some(104), 4)
        );
    }

    #[test]
    fn cpu_time_per_byte_includes_the_warm_up() {
        let mut run = plain();
        run.stream("plain", &[], 8e9).each("plain/bulk", |trial| trial.measurement = stream_at(&[8e9; 4]));
        let cpu = only(&run).cpu.expect("the machine is known");
        assert!(near(cpu.per_work.expect("bytes flowed").seconds, 1.2) && near(cpu.busy, 1.2), "{cpu:?}");
        assert!(
            near(cpu.client, 0.5) && cpu.per_work.is_some_and(|cost| cost.work == Work::Bytes),
            "{cpu:?}"
        );
    }

    #[test]
    fn cpu_time_of_ping_pong_is_per_round_trip() {
        let mut run = plain();
        run.ping("plain", &[], 50_000.0);
        // Each round trip keeps 1.2 CPUs busy for 50 µs.
        let cost = only(&run).cpu.and_then(|cpu| cpu.per_work).expect("round trips were made").seconds;
        assert!((cost / 60.0 - 1.0).abs() < 0.01, "{cost}");
    }

    fn with(workload: &str, load: WorkloadSettings, measurement: &Measurement) -> ResultSummary {
        let mut run = plain();
        run.measured("plain", workload, load, measurement);
        only(&run)
    }

    #[test]
    fn datagram_loss_is_relative_to_expected_datagrams() {
        let load = StreamSettings {
            transport: Transport::Udp,
            ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
        };
        // The first interval is the warm-up. A late datagram makes the loss in the third interval negative.
        let measured = datagrams_at(&[(99, 50), (90, 11), (101, -1), (200, 0)]);
        let result = with("udp", WorkloadSettings::Stream(load), &measured);
        let stream = StreamSummary::of(&result).cloned().expect("it is a stream");
        let datagrams = stream.datagrams.expect("it is UDP");
        assert_eq!((datagrams.received, datagrams.lost, stream.tcp), (5 * 391, 5 * 10, None));
        assert!(near(datagrams.loss, 10.0 / 401.0) && near(datagrams.rate, 391.0 / 0.75), "{datagrams:?}");
        assert!(near(result.value.estimate, 391.0 * 8000.0 / 0.75), "{:?}", result.value);
        assert_eq!(datagrams.jitter, Nanos(7000));
    }

    #[test]
    fn open_loop_has_times_from_intended_and_actual_send() {
        let load = PingPongSettings {
            schedule: Schedule::Open { period: Nanos(100_000) },
            ..PingPongSettings::new(Nanos::from_secs(1))
        };
        let result = with("open", WorkloadSettings::PingPong(load), &open_loop_of(50_000, 9_000, 20));
        let latency = LatencySummary::of(&result).cloned().expect("it is a ping-pong");
        let open = latency.open_loop.as_ref().expect("it is an open loop");
        assert!(latency.round_trips.at(0.99).expect("shown").0 < 56_000, "{latency:?}");
        assert!(open.since_intended.at(0.99).expect("shown").0 > 1_000_000, "{:?}", open.since_intended);
        assert!(near(open.lateness.at(0.5).expect("shown").0 as f64, 9_000.0));
    }

    #[test]
    fn connections_use_their_rate() {
        let result = with(
            "connect",
            WorkloadSettings::Connect(ConnectSettings::new(Nanos::from_secs(2))),
            &connections(),
        );
        let connect = ConnectSummary::of(&result).cloned().expect("they are connections");
        assert!(
            near(result.value.estimate, 500.0) && result.metric == Metric::ConnectionRate,
            "{:?}",
            result.value
        );
        assert_eq!((connect.exchanges.count, connect.failed), (5000, 15));
        // At 500 connections per second, 1.2 CPUs are busy.
        let cost = result.cpu.and_then(|cpu| cpu.per_work);
        assert!(near(cost.expect("made").seconds, 2400.0), "{:?}", result.cpu);
    }

    #[test]
    fn first_touch_rate_excludes_mapping_but_cpu_cost_includes_it() {
        let interval = |index: u64| FirstTouchInterval {
            start: Nanos::from_millis(100 * index),
            end: Nanos::from_millis(100 * (index + 1)),
            warmup: index == 0,
            touched: Bytes(64 << 20),
            touching: Nanos::from_millis(50),
        };
        let data = FirstTouchData {
            touched: Bytes(1 << 30),
            touching: Nanos::from_millis(800),
            elapsed: Nanos::from_millis(1600),
            minor_faults: 262_140,
            major_faults: 4,
            intervals: (0..17).map(interval).collect(),
        };
        let load = WorkloadSettings::FirstTouch(FirstTouchSettings::new(Nanos::from_secs(2)));
        let result = with("touch", load, &Measurement::FirstTouch(data));
        assert_eq!(result.metric, Metric::TouchRate);
        assert!(near(result.value.estimate, (1_u64 << 30) as f64 / 0.8), "{:?}", result.value);
        let WorkloadSummary::FirstTouch(touch) = &result.measured else { panic!("{:?}", result.measured) };
        assert!(
            near(touch.faults_per_gib, 262_144.0) && touch.major_faults == 20,
            "of five trials: {touch:?}"
        );
        // Each GiB keeps 1.2 CPUs busy for 1.6 s.
        let cost = result.cpu.and_then(|cpu| cpu.per_work).expect("a GiB was touched");
        assert!(near(cost.seconds, 1.92) && cost.work == Work::Memory, "{cost:?}");
    }

    #[test]
    fn ping_pong_with_background_stream_has_its_rate_but_no_cpu_cost() {
        let Measurement::PingPong(mut data) = crate::fixtures::ping_of(50_000.0) else { unreachable!() };
        let Measurement::Stream(under) = stream_at(&[9e9, 2e9, 4e9]) else { unreachable!() };
        data.under = Some(under);
        let load = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1)));
        let result = with("under", load, &Measurement::PingPong(data));
        assert!(near(
            LatencySummary::of(&result).cloned().expect("it is one").under.expect("it had one").estimate,
            3e9
        ));
        assert_eq!(result.cpu.expect("the machine is known").per_work, None);
    }

    #[test]
    fn fraction_of_baseline_is_paired_by_block() {
        let mut run = plain();
        run.path("other", &["wire", "bridge"]).stream("plain", &[], 10e9).stream("other", &[], 5e9);
        for result in ["plain/bulk", "other/bulk"] {
            let base = if result.starts_with("plain") { 10e9 } else { 5e9 };
            run.each(result, |trial| {
                trial.measurement = stream_at(&[base * f64::from(1 + trial.block); 3]);
            });
        }
        let measured = gather(&run.record);
        let results = summaries(&measured, &Fits::of(&measured));
        assert_eq!(results[0].against_baseline, None);
        let share = results[1].against_baseline.expect("both were measured");
        let interval = share.ratio_interval.expect("five blocks");
        assert!(near(share.ratio, 0.5) && interval.low > 0.499 && interval.high < 0.501, "{share:?}");
    }
}
