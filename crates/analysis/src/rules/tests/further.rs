//! Further tests of individual rules.

use findings::{Finding, Severity};
use samples::ValidityWarning;
use units::Nanos;

use super::{change, claims, made, told, watched};
use crate::fixtures::{Fixture, stream_at};

fn only(run: &Fixture, rule: &str) -> Finding {
    let mut said = claims(run, rule);
    assert_eq!(said.len(), 1, "{rule}: {said:#?}");
    said.remove(0)
}

fn check(run: &Fixture, rule: &str, severity: Severity, says: &[&str]) {
    let said = only(run, rule);
    assert_eq!(said.severity, severity, "{said:#?}");
    let text = format!("{said:?}");
    for word in says {
        assert!(text.contains(word), "{rule}: `{word}` is not in {said:#?}");
    }
}

#[test]
fn the_asymmetry_of_a_whole_log_names_the_widest_pair_and_counts_the_others() {
    let run = told::vhost(|_, _| true);
    check(
        &run,
        "direction-asymmetry",
        Severity::Serious,
        &["vm1-to-vm0/iperf3/vhost=on", "One more pair of directions differs"],
    );
}

#[test]
fn levels_that_mean_the_two_ways_and_both_ways_at_once_are_pairs() {
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
        &["plain/bulk reverse", "both directions at once"],
    );
    assert_eq!(claims(&made::both_ways(9.5e9), "direction-asymmetry"), []);
}

#[test]
fn a_run_of_its_own_with_vhost_as_a_factor_is_told_with_its_interval() {
    let run = made::two("vhost", ("on", 27.4e9), ("off", 16.2e9));
    check(&run, "vhost-off", Severity::Warning, &["plain/bulk/vhost=off", "0.59"]);
    let said = only(&run, "vhost-off");
    assert!(!said.limitations.iter().any(|limitation| limitation.contains("single trials")), "{said:#?}");
    assert_eq!(claims(&made::two("vhost", ("on", 10e9), ("off", 10e9)), "vhost-off"), []);
}

#[test]
fn vhost_in_the_name_of_a_configuration_is_told_as_a_note() {
    check(
        &told::configurations(9.6e9, 13.2e9),
        "vhost-off",
        Severity::Note,
        &["Configuration=KVM-KVM", "without intervals"],
    );
    assert_eq!(claims(&told::configurations(13e9, 13.2e9), "vhost-off"), []);
}

#[test]
fn the_whole_log_says_where_vhost_does_not_help() {
    let run = told::vhost(|_, _| true);
    check(
        &run,
        "vhost-off",
        Severity::Warning,
        &["2 of 4 comparisons", "Except in vm1-to-vm0/iperf3/vhost=on: 6.3"],
    );
}

#[test]
fn one_queue_that_carries_no_more_however_it_is_used_is_told_as_a_note() {
    let run = told::queues(|_, _| true);
    let says = [
        "One queue may be the limit: it carries at most 28.5 Gbit/s, 40 queues carry 77.2 Gbit/s (2.71x), in iperf3",
        "2 queues gain only −2.8",
    ];
    check(&run, "single-queue-bound", Severity::Note, &says);
    // With one queue only the first step was measured, and the rate was still rising.
    assert_eq!(claims(&told::queues(|queues, streams| queues > 1 || streams < 4), "single-queue-bound"), []);
}

#[test]
fn more_queues_that_cost_more_and_bring_no_more_are_a_warning_where_intervals_say_so() {
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
fn waiting_is_told_of_a_server_that_receives_and_of_a_monitor() {
    check(
        &told::syscalls("bm-bm latency"),
        "wait-mistaken-for-work",
        Severity::Warning,
        &["85.8 %", "recvfrom"],
    );
    let says = ["ioctl by fc_vcpu 0 at the server", "guest execution (KVM_RUN)", "228 µs each"];
    check(&told::syscalls("vm-vm throughput"), "wait-mistaken-for-work", Severity::Warning, &says);
}

#[test]
fn a_window_that_is_full_reason_nobody_reads_in_time_is_no_small_buffer() {
    check(
        &made::windowed_by_receiver(100, 500),
        "buffer-limited",
        Severity::Warning,
        &["receive window", "tcp_rmem"],
    );
    assert_eq!(claims(&made::windowed_by_receiver(100, 950), "buffer-limited"), []);
    let mut untold = made::windowed_by_receiver(100, 500);
    untold.each(made::UPPER, |trial| trial.cpu.threads.clear());
    check(&untold, "buffer-limited", Severity::Note, &["receivers' CPU time is unknown"]);
    // A buffer that was explicitly set to a small size is the likelier cause.
    made::stream_load(&mut untold, made::UPPER, |load| load.socket.window = Some(units::Bytes(16_384)));
    check(&untold, "buffer-limited", Severity::Warning, &["(fixed at 16.0 KiB)"]);
}

#[test]
fn a_tail_that_grew_beyond_the_median_is_told_against_the_baseline() {
    check(
        &made::longer_tailed(2),
        "tail-latency",
        Severity::Warning,
        &["Compared with the baseline, the tail is"],
    );
    assert_eq!(claims(&made::longer_tailed(1), "tail-latency"), []);
    check(
        &told::percentiles(64.7, 576.6),
        "tail-latency",
        Severity::Note,
        &["is 577 µs", "8.91x the median"],
    );
    assert_eq!(claims(&told::percentiles(64.7, 107.8), "tail-latency"), []);
}

#[test]
fn a_baseline_that_a_richer_path_outdoes_or_that_wakes_slowly_falls_short() {
    check(
        &made::nested(13e9),
        "below-expected",
        Severity::Warning,
        &["vxlan-to-vxlan/bulk", "performs better (+30"],
    );
    check(&made::woken(200), "below-expected", Severity::Note, &["two wake-ups and four system calls"]);
    assert_eq!(claims(&made::woken(40), "below-expected"), []);
}

#[test]
fn a_result_that_ran_out_of_time_before_it_was_precise_is_told() {
    check(
        &made::cut_off(0.06),
        "too-noisy-to-say",
        Severity::Note,
        &["the time budget was used up before 1 result had its interval", "±6.00 %"],
    );
    assert_eq!(claims(&made::cut_off(0.01), "too-noisy-to-say"), []);
}

#[test]
fn a_slow_system_call_on_a_virtual_machine_may_mean_emulation() {
    let mut run = made::processor("AMD EPYC Processor");
    let engine = samples::Calibration { clock_ns: 200.0, syscall_ns: 3000.0, wake_ns: 60_000.0 };
    run.environment().engine = Some(engine);
    check(&run, "emulated", Severity::Note, &["may have been emulated", "3000 ns"]);
    let named = made::two("vmm", ("qemu-tcg", 1e9), ("qemu-kvm", 9e9));
    assert_eq!(only(&named, "emulated").results, ["plain/bulk/vmm=qemu-tcg"]);
}

#[test]
fn results_whose_trials_say_so_were_emulated_and_the_others_at_most_may_have_been() {
    let mut run = made::doubted(1, |_| ValidityWarning::Emulated);
    check(&run, "emulated", Severity::Warning, &["was emulated in 1 result", "at one end"]);
    assert_eq!(only(&run, "emulated").results, ["vxlan-to-vxlan/bulk"]);
    let engine = samples::Calibration { clock_ns: 200.0, syscall_ns: 3000.0, wake_ns: 60_000.0 };
    (run.environment().virtual_machine, run.environment().engine) = (true, Some(engine));
    let said = claims(&run, "emulated");
    let [sure, unsure] = &said[..] else { panic!("{said:#?}") };
    assert_eq!(
        (sure.severity, &sure.results[..]),
        (Severity::Warning, &["vxlan-to-vxlan/bulk".to_owned()][..])
    );
    assert_eq!((unsure.severity, &unsure.results[..]), (Severity::Note, &["plain/bulk".to_owned()][..]));
}

#[test]
fn segments_that_the_path_cannot_carry_go_in_pieces_as_well() {
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
fn reordered_segments_are_tried_on_one_cpu_and_lost_ones_with_another_congestion_control() {
    let mut run = made::retransmitting(1000);
    run.each(made::UPPER, |trial| {
        let workload::Measurement::Stream(data) = &mut trial.measurement else { return };
        let tcp = data.flows[0].sender.intervals[2].tcp.as_mut();
        tcp.expect("the fixture samples TCP_INFO").reorderings = 1;
    });
    assert_eq!(change(&only(&run, "retransmits")).as_deref(), Some("placement"));
}

#[test]
fn retransmits_of_a_log_that_tells_no_reorderings_are_not_called_losses() {
    let mut run = made::retransmitting(10_000);
    let of_plumb = only(&run, "retransmits");
    run.each(made::UPPER, |trial| {
        let workload::Measurement::Stream(data) = &mut trial.measurement else { return };
        let intervals = data.flows.iter_mut().flat_map(|flow| &mut flow.sender.intervals);
        intervals.filter_map(|interval| interval.tcp.as_mut()).for_each(|tcp| tcp.segments = 0);
    });
    let of_log = only(&run, "retransmits");
    assert_eq!((of_plumb.severity, of_log.severity), (Severity::Serious, Severity::Warning));
    assert!(of_plumb.claim.contains("they were lost on the path"), "{}", of_plumb.claim);
    assert!(of_log.claim.contains("It is unknown whether they were lost or only late"), "{}", of_log.claim);
    assert!(of_log.evidence.iter().all(|it| !it.value.contains("reordering")), "{:?}", of_log.evidence);
}

#[test]
fn a_congestion_control_is_not_blamed_for_the_rate_of_a_link() {
    let blamed = |rate: f64| claims(&made::steady(rate), "slow-congestion-control").len();
    assert_eq!([8.5e8, 9.49e8].map(blamed), [1, 0]);
}

#[test]
fn a_quiet_run_has_no_claim() {
    for run in [made::pinged(), made::nested(10e9)] {
        let said = crate::analyse(&run.record).findings;
        assert_eq!(said, [], "{said:#?}");
    }
}

/// Three steady trials, and one with a temporary or permanent jump in the rate.
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
fn a_jump_is_told_with_the_average_of_its_own_trial_which_is_counted_from_one() {
    let run = jumped(&[10e9, 20e9]);
    let trial = run.record.trials.iter().find(|trial| trial.block == 3 && trial.result == "plain/bulk");
    let number = trial.expect("it has four").index + 1;
    let said = only(&run, "level-shift");
    assert!(
        said.claim.contains(&format!("Level shift in plain/bulk (trial {number} of the run): ")),
        "{said:#?}"
    );
    assert!(said.claim.contains("and stayed. The trial's average, 15."), "{said:#?}");
}

#[test]
fn a_rate_that_comes_back_is_not_said_to_have_stayed() {
    let said = only(&jumped(&[10e9, 20e9, 14e9]), "level-shift");
    assert!(said.claim.contains(", for 5.00 s. "), "{said:#?}");
}

#[test]
fn bimodal_that_a_jump_explains_are_told_once() {
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
        &["No data arrived for 750 ms", "of plain/bulk", "into the measurement"],
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
fn a_beginning_that_a_log_has_is_told_with_what_to_omit() {
    let rates: Vec<f64> =
        (0..30).map(|at| if at < 4 { 2e9 } else { 9e9 + 1e7 * f64::from(at % 3) }).collect();
    let mut run = Fixture::new(1);
    run.path("a-to-b", &[]).told("a-to-b", "iperf3", &[], stream_at(&rates));
    check(
        &run,
        "warm-up-too-short",
        Severity::Warning,
        &["In the only trial of a-to-b/iperf3", "with no warm-up", "--omit 1"],
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
fn soft_interrupts_that_a_probe_told_apart_count_in_place_of_ticks() {
    let says = ["CPU 1", "90.0 %", "The times come from probed trials"];
    check(&watched::traced_softirq(900), "softirq-bound", Severity::Warning, &says);
    assert_eq!(claims(&watched::traced_softirq(700), "softirq-bound"), []);
}

#[test]
fn a_cost_that_may_be_none_is_not_complained_of() {
    assert_eq!(claims(&watched::slowed(0.08, 0.2), "probe-cost"), []);
}

#[test]
fn a_wake_up_is_named_and_no_warning() {
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
fn few_drops_are_a_note() {
    check(&watched::dropping(0, 2), "qdisc-drops", Severity::Note, &["dropped 12 packets"]);
    check(&watched::dropping(2, 0), "backlog-drops", Severity::Note, &["12 packets dropped"]);
}

#[test]
fn packets_that_no_device_of_the_path_misses_may_be_anothers() {
    let mut run = watched::dropping(20, 0);
    run.each(made::UPPER, |trial| {
        trial.counters.as_mut().expect("they were read").devices[0].rx_dropped = 0;
    });
    check(&run, "backlog-drops", Severity::Note, &["may belong to another program"]);
}
