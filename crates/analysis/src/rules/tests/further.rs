//! Further tests of individual rules.

use findings::{Finding, Severity};
use samples::{InstructionCounts, ValidityWarning};
use units::Nanos;
use workload::{LatencyHistogram, Measurement};

use super::{change, claims, imported, made, watched};
use crate::{
    analyse,
    fixtures::{Fixture, ping_of, ping_settings, stream_at},
};

fn only(run: &Fixture, rule: &str) -> Finding {
    let mut reported = claims(run, rule);
    assert_eq!(reported.len(), 1, "{rule}: {reported:#?}");
    reported.remove(0)
}

fn check(run: &Fixture, rule: &str, severity: Severity, says: &[&str]) {
    let reported = only(run, rule);
    assert_eq!(reported.severity, severity, "{reported:#?}");
    let text = format!("{} {reported:?}", reported.claim());
    for word in says {
        assert!(text.contains(word), "{rule}: `{word}` is not in {reported:#?}");
    }
}

#[test]
fn asymmetry_names_the_largest_pair_and_counts_others() {
    let run = imported::vhost(|_, _| true);
    check(
        &run,
        "direction-asymmetry",
        Severity::Serious,
        &["vm1-to-vm0/iperf3/vhost=on", "One more pair of directions differs"],
    );
}

#[test]
fn names_rate_limit_without_counter_if_segments_are_lost_near_it() {
    let policed = |megabits: u64, segments: u32| {
        let mut run = watched::policed(0);
        run.each(made::UPPER, |trial| {
            let devices = trial.counters.iter_mut().flat_map(|counters| &mut counters.devices);
            for policer in devices.filter_map(|device| device.policer.as_mut()) {
                (policer.uncounted, policer.bits_per_second) = (true, megabits * 1_000_000);
            }
            made::tcp(trial, 2, |tcp| tcp.retransmits = segments);
        });
        run
    };
    let says = [
        "a:eth0 limits arriving traffic to 12.0 Gbit/s",
        "has no counter; 9.00 Gbit/s measured, with losses",
    ];
    check(&policed(12_000, 1000), "policed-port", Severity::Warning, &says);
    for (megabits, segments) in [(12_000, 100), (3_000, 1000), (120_000, 1000)] {
        assert_eq!(claims(&policed(megabits, segments), "policed-port"), []);
    }
    let mut counted = policed(12_000, 1000);
    counted.each(made::UPPER, |trial| {
        let gigabytes = trial.measurement.kind().measured_work().expect("a stream");
        let total = (gigabytes * 9e9) as u64;
        trial.instructions = Some(InstructionCounts { total, ..InstructionCounts::default() });
    });
    assert_eq!(claims(&counted, "policed-port"), [], "9e9 instructions per GB are no rate");
}

#[test]
fn pairs_directions_by_levels_and_in_bidirectional_traffic() {
    check(
        &made::reverse(7e9),
        "direction-asymmetry",
        Severity::Warning,
        &["plain/bulk/direction=reverse", "70."],
    );
    assert_eq!(claims(&made::reverse(9.5e9), "direction-asymmetry"), []);
    check(
        &made::both_ways(4e9),
        "direction-asymmetry",
        Severity::Serious,
        &["plain reverse", "both directions at once"],
    );
    assert_eq!(claims(&made::both_ways(9.5e9), "direction-asymmetry"), []);
}

#[test]
fn reports_vhost_factor_with_interval() {
    let run = made::two("vhost", ("on", 27.4e9), ("off", 16.2e9)).logged();
    check(&run, "vhost-off", Severity::Warning, &["plain/bulk/vhost=off", "0.59"]);
    let reported = only(&run, "vhost-off");
    assert!(
        !reported.limitations.iter().any(|limitation| limitation.contains("single trials")),
        "{reported:#?}"
    );
    assert_eq!(claims(&made::two("vhost", ("on", 10e9), ("off", 10e9)).logged(), "vhost-off"), []);
}

#[test]
fn vhost_in_a_configuration_name_is_a_note() {
    check(
        &imported::configurations(9.6e9, 13.2e9),
        "vhost-off",
        Severity::Note,
        &["Configuration=KVM-KVM", "without intervals"],
    );
    assert_eq!(claims(&imported::configurations(13e9, 13.2e9), "vhost-off"), []);
}

#[test]
fn finds_paths_where_vhost_does_not_help() {
    let run = imported::vhost(|_, _| true);
    check(
        &run,
        "vhost-off",
        Severity::Warning,
        &["2 of 4 comparisons", "Except in vm1-to-vm0, vhost=on: 6.3"],
    );
}

#[test]
fn saturated_single_queue_is_a_note() {
    let run = imported::queues(|_, _| true);
    let says = [
        "One queue may be the bottleneck: it carries at most 28.5 Gbit/s, 40 queues carry 77.2 Gbit/s (2.71x), in iperf3",
        "2 queues gain only −2.8",
    ];
    check(&run, "single-queue-bound", Severity::Note, &says);
    assert_eq!(
        claims(&imported::queues(|queues, streams| queues > 1 || streams < 4), "single-queue-bound"),
        []
    );
}

#[test]
fn wasteful_queues_are_a_warning_if_established() {
    let run = made::queued(&[("1", 10e9, 800), ("2", 10.1e9, 1200), ("4", 10.1e9, 1900)]);
    check(
        &run,
        "too-many-queues",
        Severity::Warning,
        &["Beyond 1 queue, 2 and 4 queues gain at most", "+50.0 % CPU time"],
    );
    assert_eq!(claims(&made::queued(&[("1", 10e9, 800), ("2", 10.1e9, 900)]), "too-many-queues"), []);
}

#[test]
fn reports_waiting_of_servers_and_monitors() {
    check(
        &imported::syscalls("bm-bm latency"),
        "wait-mistaken-for-work",
        Severity::Warning,
        &["85.8 %", "recvfrom"],
    );
    let says = ["ioctl by fc_vcpu 0 at the server", "guest execution (KVM_RUN)", "228 µs each"];
    check(&imported::syscalls("vm-vm throughput"), "wait-mistaken-for-work", Severity::Warning, &says);
}

#[test]
fn busy_receiver_is_not_a_small_buffer() {
    check(
        &made::windowed_by_receiver(100, 500),
        "buffer-limited",
        Severity::Warning,
        &["receive window", "tcp_rmem"],
    );
    assert_eq!(claims(&made::windowed_by_receiver(100, 950), "buffer-limited"), []);
    let mut unknown_cpu = made::windowed_by_receiver(100, 500);
    unknown_cpu.each(made::UPPER, |trial| trial.cpu.threads.clear());
    check(&unknown_cpu, "buffer-limited", Severity::Note, &["receivers' CPU time is unknown"]);
    made::stream_load(&mut unknown_cpu, made::UPPER, |load| load.socket.window = Some(units::Bytes(16_384)));
    check(&unknown_cpu, "buffer-limited", Severity::Warning, &["(fixed at 16.0 KiB)"]);
}

#[test]
fn compares_tail_growth_with_the_baseline() {
    check(
        &made::longer_tailed(2),
        "tail-latency",
        Severity::Warning,
        &["Compared with the baseline, the tail is"],
    );
    assert_eq!(claims(&made::longer_tailed(1), "tail-latency"), []);
    check(
        &imported::percentiles(64.7, 576.6),
        "tail-latency",
        Severity::Note,
        &["is 577 µs", "8.91x the median"],
    );
    assert_eq!(claims(&imported::percentiles(64.7, 107.8), "tail-latency"), []);
}

#[test]
fn reports_baseline_slower_than_a_richer_path() {
    check(
        &made::nested(13e9),
        "below-expected",
        Severity::Warning,
        &["vxlan-to-vxlan", "performs better (+30"],
    );
    check(&made::woken(200), "below-expected", Severity::Note, &["two wake-ups and four system calls"]);
    assert_eq!(claims(&made::woken(40), "below-expected"), []);
}

#[test]
fn reports_result_that_ran_out_of_time() {
    check(
        &made::cut_off(0.06),
        "too-noisy-to-say",
        Severity::Note,
        &["the time budget was used up before 1 result had its interval", "±6.00 %"],
    );
    assert_eq!(claims(&made::cut_off(0.01), "too-noisy-to-say"), []);
}

#[test]
fn slow_system_call_in_a_vm_suggests_emulation() {
    let mut run = made::processor("AMD EPYC Processor");
    let engine = samples::Calibration { clock_ns: 200.0, syscall_ns: 3000.0, wake_ns: 60_000.0 };
    run.environment().engine = Some(engine);
    check(&run, "emulated", Severity::Note, &["may have been emulated", "3000 ns"]);
    let named = made::two("vmm", ("qemu-tcg", 1e9), ("qemu-kvm", 9e9)).logged();
    assert_eq!(only(&named, "emulated").results, ["plain/bulk/vmm=qemu-tcg"]);
}

#[test]
fn distinguishes_emulated_from_possibly_emulated_results() {
    let mut run = made::warned(1, |_| ValidityWarning::Emulated);
    check(&run, "emulated", Severity::Warning, &["was emulated in 1 result", "at one end"]);
    assert_eq!(only(&run, "emulated").results, ["vxlan-to-vxlan/bulk"]);
    let engine = samples::Calibration { clock_ns: 200.0, syscall_ns: 3000.0, wake_ns: 60_000.0 };
    (run.environment().virtual_machine, run.environment().engine) = (true, Some(engine));
    let reported = claims(&run, "emulated");
    let [sure, unsure] = &reported[..] else { panic!("{reported:#?}") };
    assert_eq!(
        (sure.severity, &sure.results[..]),
        (Severity::Warning, &["vxlan-to-vxlan/bulk".to_owned()][..])
    );
    assert_eq!((unsure.severity, &unsure.results[..]), (Severity::Note, &["plain/bulk".to_owned()][..]));
}

#[test]
fn oversized_tcp_segments_are_fragmented_too() {
    // The fixture's sender may send segments of 1448 bytes, so packets have at least 1488 bytes.
    check(
        &made::mtu(1450),
        "fragmentation",
        Severity::Warning,
        &["segments", "packets of 1488 bytes", "2 fragments"],
    );
    assert_eq!(claims(&made::mtu(1500), "fragmentation"), []);
}

#[test]
fn datagrams_in_ipv6_have_longer_headers() {
    let in_ipv6 = |payload| {
        let mut run = made::datagrams(payload);
        run.each("plain/datagrams", |trial| {
            let Measurement::Stream(data) = &mut trial.measurement else { unreachable!("it is a stream") };
            data.flows[0].sender.socket.addresses = Some("[2001:2::1]:9 -> [2001:2::2]:9".to_owned());
        });
        run
    };
    assert_eq!(claims(&in_ipv6(1452), "fragmentation"), []);
    // Two fragments of 1500 bytes hold 2 * 1448 bytes of the datagram.
    for (payload, fragments) in [(1453, 2), (2888, 2), (2889, 3)] {
        let says = [format!("packets of {} bytes", payload + 48), format!("{fragments} fragments")];
        let says = [says[0].as_str(), &says[1], "at most 1452"];
        check(&in_ipv6(payload), "fragmentation", Severity::Warning, &says);
    }
}

#[test]
fn remedy_for_retransmits_depends_on_reordering() {
    let mut run = made::retransmitting(1000);
    run.each(made::UPPER, |trial| {
        let workload::Measurement::Stream(data) = &mut trial.measurement else { return };
        let tcp = data.flows[0].sender.intervals[2].tcp.as_mut();
        tcp.expect("the fixture samples TCP_INFO").reorderings = 1;
    });
    assert_eq!(change(&only(&run, "retransmits")).as_deref(), Some("placement"));
}

#[test]
fn retransmits_in_a_log_without_reordering_counts_are_not_losses() {
    let mut run = made::retransmitting(10_000);
    let of_plumb = only(&run, "retransmits");
    run.each(made::UPPER, |trial| {
        let workload::Measurement::Stream(data) = &mut trial.measurement else { return };
        let intervals = data.flows.iter_mut().flat_map(|flow| &mut flow.sender.intervals);
        intervals.filter_map(|interval| interval.tcp.as_mut()).for_each(|tcp| tcp.segments = 0);
    });
    let of_log = only(&run, "retransmits");
    assert_eq!((of_plumb.severity, of_log.severity), (Severity::Serious, Severity::Warning));
    assert!(of_plumb.claim().to_string().contains("they were lost on the path"), "{}", of_plumb.claim());
    assert!(
        of_log.claim().to_string().contains("It is unknown whether they were lost or only late"),
        "{}",
        of_log.claim()
    );
    assert!(of_log.evidence.iter().all(|it| !it.value.contains("reordering")), "{:?}", of_log.evidence);
}

#[test]
fn link_rate_is_not_attributed_to_congestion_control() {
    let blamed = |rate: f64| claims(&made::steady(rate), "slow-congestion-control").len();
    assert_eq!([8.5e8, 9.49e8].map(blamed), [1, 0]);
}

#[test]
fn undisturbed_run_has_no_claims() {
    for run in [made::pinged(), made::nested(10e9)] {
        let reported = crate::analyse(&run.record).findings;
        assert_eq!(reported, [], "{reported:#?}");
    }
}

#[test]
fn affected_results_are_counted_once() {
    let mut run = made::steady(8.5e8);
    run.path("other", &["wire"]).stream("other", &[], 8e8).each("other/bulk", made::use_bbr);
    assert_eq!(only(&run, "slow-congestion-control").further.to_string(), "2 results affected.");
}

#[test]
fn slow_pair_explains_its_asymmetry() {
    let run = made::fleet(|from, to| if (from, to) == ("c", "a") { 4e9 } else { 10e9 });
    let asymmetry = only(&run, "direction-asymmetry");
    assert_eq!(asymmetry.results, ["c-to-a/bulk"]);
    assert_eq!(asymmetry.superseded_by.as_deref(), Some("slow-pair"));
}

#[test]
fn noisy_host_explains_wide_intervals_of_other_results() {
    let mut run = made::swaying(0.3);
    run.each("plain/bulk", |trial| {
        let sign = f64::from((trial.block + trial.index) % 3) - 1.0;
        trial.measurement = stream_at(&[10e9 * (1.0 + 0.12 * sign); 5]);
    });
    assert_eq!(only(&run, "too-noisy-to-say").superseded_by.as_deref(), Some("noisy-host"));
    assert_eq!(only(&run, "noisy-host").superseded_by, None);
}

fn jumped(after: &[f64]) -> Fixture {
    let mut run = Fixture::new(4);
    run.path("plain", &["wire"]).stream("plain", &[], 10e9).each("plain/bulk", |trial| {
        let quiver = |index: usize| 1.0 + 0.002 * (index % 3) as f64;
        let level = |index: usize| if trial.block == 3 { after[index / 20] } else { 10e9 };
        let rates: Vec<f64> = (0..20 * after.len()).map(|index| quiver(index) * level(index)).collect();
        trial.measurement = stream_at(&rates);
    });
    run
}

#[test]
fn reports_level_shift_with_mean_and_number_of_its_trial() {
    let run = jumped(&[10e9, 20e9]);
    let trial = run.record.trials.iter().find(|trial| trial.block == 3 && trial.result == "plain/bulk");
    let number = trial.expect("it has four").index + 1;
    let reported = only(&run, "level-shift");
    assert!(
        reported.claim().to_string().contains(&format!("Level shift in plain (trial {number} of the run): ")),
        "{reported:#?}"
    );
    assert!(reported.claim().to_string().contains("and stayed. The trial's average, 15."), "{reported:#?}");
}

#[test]
fn temporary_level_shift_is_reported_with_its_duration() {
    let reported = only(&jumped(&[10e9, 20e9, 14e9]), "level-shift");
    assert!(reported.claim().to_string().contains(", for 5.00 s. "), "{reported:#?}");
}

#[test]
fn few_round_trips_at_another_level_do_not_make_medians_unreliable() {
    for (slow, severity) in [(120, Severity::Warning), (400, Severity::Serious)] {
        let mut run = Fixture::new(6);
        run.path("wire", &["wire"]).measured("wire", "ping", ping_settings(), &ping_with(slow));
        let findings = analyse(&run.record);
        let found: Vec<_> = findings.findings.iter().filter(|finding| finding.id == "bimodal").collect();
        assert_eq!(found.iter().map(|it| it.severity).collect::<Vec<_>>(), [severity], "{slow}");
        let result = &found[0].results[0];
        assert_eq!(findings.unreliable(result).is_some(), severity == Severity::Serious, "{slow}");
    }
}

/// A thousand round trips: `slow` of them take 9 µs, the others 4 µs.
fn ping_with(slow: u32) -> Measurement {
    let Measurement::PingPong(mut data) = ping_of(4000.0) else { unreachable!("it is a ping-pong") };
    data.round_trips = LatencyHistogram::new();
    for number in 0..1000 {
        data.round_trips.record(Nanos(if number < slow { 9000 } else { 4000 } + u64::from(number % 7)));
    }
    Measurement::PingPong(data)
}

#[test]
fn bimodality_explained_by_a_level_shift_is_reported_once() {
    let run = jumped(&[10e9, 20e9]);
    only(&run, "level-shift");
    assert_eq!(claims(&run, "bimodal"), []);
}

#[test]
fn three_intervals_without_data_are_a_stall_and_no_other_change() {
    let run = made::going(|at| if (0.4..0.45).contains(&at) { 0.0 } else { 10e9 });
    check(
        &run,
        "stalled",
        Severity::Warning,
        &["No data arrived for 750 ms", "of plain", "into the measurement"],
    );
    for other in ["level-shift", "trend", "unsteady"] {
        assert_eq!(claims(&run, other), [], "{other}");
    }
}

#[test]
fn slow_start_is_no_trend() {
    let run = made::going(|at| 10e9 * (1.0 - 0.3 * (-at * 20.0).exp()));
    only(&run, "warm-up-too-short");
    assert_eq!(claims(&run, "trend"), []);
}

#[test]
fn jump_of_eight_percent_in_either_direction_is_no_trend() {
    for after in [9.2e9, 10.8e9] {
        let run = made::going(|at| if at < 0.4 { 10e9 } else { after });
        only(&run, "level-shift");
        assert_eq!(claims(&run, "trend"), []);
    }
}

#[test]
fn reports_warm_up_in_a_log_with_the_time_to_omit() {
    let rates: Vec<f64> =
        (0..30).map(|at| if at < 4 { 2e9 } else { 9e9 + 1e7 * f64::from(at % 3) }).collect();
    let mut run = Fixture::new(1);
    run.path("a-to-b", &[]).imported("a-to-b", "iperf3", &[], stream_at(&rates));
    check(
        &run,
        "warm-up-too-short",
        Severity::Warning,
        &["In the only trial of a-to-b", "with no warm-up", "--omit 1"],
    );
    let mut chance = made::beginning(&[]);
    chance.each("plain/bulk", |trial| {
        if trial.block < 3 {
            trial.measurement = stream_at(&rates);
        }
    });
    assert_eq!(claims(&chance, "warm-up-too-short"), [], "three trials of six");
}

#[test]
fn traced_softirq_time_takes_precedence_over_ticks() {
    let says = ["CPU 1", "90.0 %", "The times come from probed trials"];
    check(&watched::traced_softirq(900), "softirq-bound", Severity::Warning, &says);
    assert_eq!(claims(&watched::traced_softirq(700), "softirq-bound"), []);
}

#[test]
fn negligible_backlog_drops_have_no_remedy() {
    let remedy = |drops| only(&watched::dropping(drops, 0), "backlog-drops").remedy.is_some();
    assert_eq!((remedy(20), remedy(1)), (true, false));
}

#[test]
fn failure_with_all_ports_in_use_names_them() {
    let says =
        ["tracked on b after all connection attempts failed", "16 connections; the rule allows ports 40000"];
    check(&watched::failed_at(16, 0, 0, 0), "snat-ports", Severity::Serious, &says);
    assert_eq!(claims(&watched::failed_at(15, 0, 0, 0), "snat-ports"), [], "one port is free");
    assert_eq!(claims(&watched::failed_at(16, 0, 4, 0), "snat-ports"), [], "the table is full");
}

#[test]
fn insignificant_cost_is_not_reported() {
    assert_eq!(claims(&watched::slowed(0.08, 0.2), "probe-cost"), []);
}

#[test]
fn wake_up_is_named_without_a_warning() {
    let mut run = watched::tunnelled(2);
    run.seen("plain/ping", |_, seen| {
        let Some(latency_breakdown) = &mut seen.latency_breakdown else { return };
        latency_breakdown.steps[4].times.clear();
        latency_breakdown.steps[4].times.record_many(Nanos(9_000), 100);
    });
    let says = ["server wake-up (from b:eth0, request)", "net.core.busy_poll"];
    check(&run, "step-dominates", Severity::Note, &says);
}

#[test]
fn few_drops_give_a_note() {
    check(&watched::dropping(0, 2), "qdisc-drops", Severity::Note, &["dropped 12 packets"]);
    check(&watched::dropping(2, 0), "backlog-drops", Severity::Note, &["12 packets dropped"]);
}

#[test]
fn drops_without_device_losses_are_of_other_traffic() {
    let mut run = watched::dropping(20, 0);
    run.each(made::UPPER, |trial| {
        trial.counters.as_mut().expect("they were read").devices[0].rx_dropped = 0;
    });
    assert!(super::claims(&run, "backlog-drops").is_empty());
}

#[test]
fn workload_within_its_limit_is_a_note() {
    let mut run = made::limited_to(0.75);
    check(&run, "workload-limit", Severity::Note, &["may use 0.75 CPUs", "ran outside this limit"]);
    run.record.header.workload_limits[0].shared = true;
    check(&run, "workload-limit", Severity::Note, &["the measurement shared this limit"]);
}
