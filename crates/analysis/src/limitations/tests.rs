//! Tests every limitation with a run that triggers it. An ordinary run triggers none.

use samples::{CpuUsage, EndReason, Objective, ResultEnd, RunState, WorkloadSource};
use workload::{Measurement, Quantity, WorkloadSettings};

use crate::{
    analyse,
    fixtures::{Fixture, egress, ping_of, reported_of, stream_at, stream_of},
};

fn check(change: impl Fn(&mut Fixture), says: &[&str]) {
    let mut run = egress(6);
    change(&mut run);
    let limitations = analyse(&run.record).limitations;
    assert_eq!(limitations.len(), says.len(), "{limitations:#?}");
    for (limitation, words) in limitations.iter().zip(says) {
        assert!(
            limitation.contains(words) && limitation.ends_with('.'),
            "`{words}` is not in `{limitation}`"
        );
    }
}

const BASE: &str = "node-to-node/bulk/underlay-offload=on";

#[test]
fn ordinary_run_has_no_limitations() {
    check(|_| {}, &[]);
}

#[test]
fn unfinished_run_reports_its_progress() {
    check(
        |run| {
            run.record.header.state = RunState::Unfinished;
            run.record.trials.pop();
        },
        &["83 of 84 planned trials"],
    );
}

#[test]
fn names_results_without_trials() {
    check(
        |run| run.record.trials.retain(|trial| !trial.result.starts_with("vxlan-to-vxlan/ping")),
        &["1 result has no usable trial and is left out: vxlan-to-vxlan/ping"],
    );
}

#[test]
fn reports_too_few_trials() {
    for blocks in [3, 4] {
        let limitations = analyse(&egress(blocks).record).limitations;
        let expected = format!("12 of 12 results have too few trials ({blocks} of 5)");
        assert!(limitations.len() == 1 && limitations[0].contains(&expected), "{limitations:#?}");
    }
    let limitations = analyse(&egress(1).record).limitations;
    assert!(limitations[0].contains("(1 of 5)"), "{limitations:#?}");
    assert!(limitations[1].contains("baseline of bulk and ping was not repeated"), "{limitations:#?}");
}

#[test]
fn describes_the_machine_if_relevant() {
    check(|run| run.environment().load_average = Some([1.4, 0.0, 0.0]), &["1.40 on 2 CPUs before"]);
    check(|run| run.environment().virtual_machine = true, &["The machine is virtual"]);
    check(|run| run.environment().privileged = false, &["in a user namespace without root"]);
}

#[test]
fn names_congestion_control_other_than_the_default() {
    let default = |run: &mut Fixture| run.environment().congestion_default = Some("bbr".into());
    check(default, &["TCP used cubic, but this machine's default is bbr"]);
    let unchosen = |run: &mut Fixture| {
        default(run);
        for result in &mut run.record.header.results {
            if let WorkloadSource::Load(WorkloadSettings::Stream(settings)) = &mut result.sent {
                settings.socket.congestion = None;
            }
        }
    };
    check(unchosen, &[]);
}

#[test]
fn names_trials_without_data() {
    let with = |block: u32, measurement: Measurement| {
        move |run: &mut Fixture| {
            run.each("pod-to-target/bulk/underlay-offload=on/vxlan-offload=on", |trial| {
                if trial.block == block {
                    trial.measurement = measurement.clone();
                }
            });
        }
    };
    check(with(0, ping_of(1.0)), &["1 trial of pod-to-target/bulk"]);
    check(with(0, stream_of(0.0)), &["Nothing arrived"]);
}

#[test]
fn names_devices_that_changed_between_trials() {
    check(
        |run| {
            run.devices(BASE, &[("a:eth0", 1500, &[])]);
            run.each(BASE, |trial| trial.devices[0].mtu += trial.block);
        },
        &["Device settings of node-to-node/bulk"],
    );
}

fn about(rates: &[f64]) -> Measurement {
    let one = |rate: f64| (0..30).map(move |at| rate * [0.99, 1.0, 1.01][at % 3]);
    stream_at(&[rates[0]].into_iter().chain(rates.iter().copied().flat_map(one)).collect::<Vec<_>>())
}

fn imported(rates: &[f64]) -> Vec<String> {
    let mut run = Fixture::new(1);
    run.path("a-to-b", &[]).imported("a-to-b", "tcp", &[("vhost", "on")], about(rates));
    analyse(&run.record).limitations
}

#[test]
fn imported_run_lists_unknown_properties() {
    let limitations = imported(&[20e9]);
    let [unknown, series] = limitations.as_slice() else { panic!("{limitations:#?}") };
    assert!(unknown.contains("logs of other tools"), "{unknown}");
    assert!(
        series.contains("1 of 1 result has one trial") && series.contains("more than 10.0 %"),
        "{series}"
    );
}

#[test]
fn reports_level_shift_in_the_only_trial() {
    let limitations = imported(&[12.6e9, 20e9]);
    assert!(
        limitations.iter().any(|limitation| limitation.contains("a-to-b/tcp/vhost=on shifted")),
        "{limitations:#?}"
    );
}

#[test]
fn table_has_no_variation_between_trials() {
    let mut run = Fixture::new(1);
    let row = reported_of(&[("Rate", Quantity::BitRate, 1e9)]);
    run.path("a-to-b", &[]).imported("a-to-b", "table", &[], row);
    let limitations = analyse(&run.record).limitations;
    assert_eq!(limitations.len(), 2, "{limitations:#?}");
    assert!(
        limitations[1].contains("1 of 1 result is a single reported number without samples"),
        "{limitations:#?}"
    );
}

#[test]
fn names_results_that_ran_out_of_time() {
    let over = |run: &mut Fixture| {
        run.record.header.design.precision = Some(0.02);
        let reason = EndReason::Budget { reach: None };
        run.record.ends =
            vec![ResultEnd { result: BASE.into(), reason, trials: 6, black_hole: None, counters: None }];
    };
    check(
        over,
        &[
            "The time budget was used up before 1 of 12 results had enough trials, i.e. before its interval was \
             within the requested 2.00 %: node-to-node",
        ],
    );
}

#[test]
fn reports_objective_without_cpu_time() {
    let asked = |objective: Objective| {
        move |run: &mut Fixture| {
            run.record.header.design.precision = Some(0.02);
            run.record.header.design.objective = objective;
            run.record.trials.iter_mut().for_each(|trial| trial.cpu = CpuUsage::default());
        }
    };
    check(asked(Objective::Efficient), &["CPU time was not recorded for every comparison"]);
    check(asked(Objective::Max), &[]);
}
