//! Tests the recommendations for various sweeps.

use findings::{Conclusion, Objective, Recommendation};
use workload::Quantity;

use super::*;
use crate::{
    analyse,
    fixtures::{Fixture, reported_of, stream_at},
};

const TABLE: &str = include_str!("../../tests/data/queues_by_streams.tsv");

fn published_run() -> Fixture {
    let mut run = Fixture::new(1);
    run.path("bridge", &[]);
    let rows: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 21);
    for row in rows {
        let fields: Vec<&str> = row.split('\t').collect();
        let number = |index: usize| fields[index].parse::<f64>().expect("a number");
        let columns = [
            ("Bandwidth", Quantity::BitRate, number(2) * 1e9),
            ("Server VM CPU", Quantity::Share, number(3) / 100.0),
            ("Proxmox CPU", Quantity::Share, number(4) / 100.0),
            ("Client VM CPU", Quantity::Share, number(5) / 100.0),
        ];
        let levels = [("queues", fields[0]), ("streams", fields[1])];
        run.imported("bridge", "table", &levels, reported_of(&columns));
    }
    run
}

fn published() -> Answer {
    let mut answers = analyse(&published_run().record).answers;
    assert_eq!(answers.len(), 1, "{answers:#?}");
    answers.remove(0)
}

#[test]
fn published_sweep_concludes_with_a_setting_only() {
    let verdict = analyse(&published_run().record).verdict;
    assert_eq!((verdict.conclusion, verdict.next), (Conclusion::Setting, None));
}

fn setting(levels: &std::collections::BTreeMap<String, String>) -> (&str, &str) {
    (&levels["queues"], &levels["streams"])
}

fn recommended(answer: &Answer, objective: Objective) -> &Recommendation {
    let found = answer.recommendations.iter().find(|it| it.objective == objective);
    found.unwrap_or_else(|| panic!("nothing for {objective:?}: {:#?}", answer.recommendations))
}

#[test]
fn published_sweep_saturates_at_sixteen_queues() {
    let answer = published();
    let knee = answer.knees.iter().find(|knee| knee.factor == "queues").expect("queues are numbers");
    assert_eq!((knee.level.as_str(), &knee.falls_at), ("16", &None), "{knee:#?}");
    assert!((70e9..77.2e9).contains(&knee.plateau), "{knee:#?}");
    assert!(!knee.plausible.contains(&"8".to_owned()) && knee.plausible.contains(&"16".to_owned()));
    let curve: Vec<f64> = knee.curve.iter().map(|(_, value)| (value / 1e8).round() / 10.0).collect();
    assert_eq!(curve, [28.5, 28.7, 56.2, 66.6, 74.4, 76.4, 77.2]);
}

#[test]
fn published_sweep_is_most_efficient_at_sixteen_queues() {
    let answer = published();
    assert_eq!(answer.consumers, ["Server VM", "Proxmox", "Client VM"]);
    let efficient = recommended(&answer, Objective::Efficient);
    assert_eq!(setting(&efficient.levels), ("16", "16"), "{efficient:#?}");
    assert!((efficient.value - 71.4e9).abs() < 1.0 && efficient.ties.is_empty(), "{efficient:#?}");
    let reason = efficient.reason.join(" ");
    for said in [
        "71.4 Gbit/s is 7.51 % below the best (77.2 Gbit/s with queues=40, streams=40), for 44.0 % of CPU instead of 106 %",
        "1.62 Gbit/s per 1 % of CPU",
        "queues=8, streams=16, 64.1 Gbit/s (17.0 % off the best) for 36.0 % of CPU",
        "each additional 1 % of CPU brings 912 Mbit/s",
        "queues=40, streams=40: each additional 1 % of CPU brings 93.5 Mbit/s",
        "each a share of its own CPUs",
        "Each of them alone leads to the same setting",
    ] {
        assert!(reason.contains(said), "`{said}` is not in {reason}");
    }
}

#[test]
fn published_frontier_includes_the_author_s_region() {
    let answer = published();
    let frontier: Vec<_> = answer.frontier.iter().map(|point| setting(&point.levels)).collect();
    assert_eq!(
        frontier,
        [("1", "1"), ("4", "8"), ("8", "8"), ("4", "16"), ("8", "16"), ("16", "16"), ("40", "40")]
    );
    let cheap = answer.frontier.iter().filter(|point| point.marginal.is_none_or(|it| it > 0.5e11)).count();
    assert_eq!(cheap, 6, "every step but the last brings more than 0.5 Gbit/s for 1 %");
}

#[test]
fn maximum_is_the_cheapest_setting_near_the_best() {
    let answer = published();
    let most = recommended(&answer, Objective::Max);
    assert_eq!((setting(&most.levels), most.ties.len()), (("40", "40"), 4), "{most:#?}");
    let thrifty = recommended(&answer, Objective::LowCpu);
    assert_eq!(setting(&thrifty.levels), ("8", "8"), "{thrifty:#?}");
}

fn swept(levels: &[(&str, f64, f64)], blocks: u32) -> Vec<Answer> {
    let mut run = Fixture::new(blocks);
    run.path("plain", &["wire"]);
    for (streams, rate, busy) in levels {
        run.stream("plain", &[("streams", streams)], *rate);
        run.each(&format!("plain/bulk/streams={streams}"), |trial| {
            trial.cpu.machine.user = units::Nanos((busy * 1e9) as u64);
            (trial.cpu.machine.system, trial.cpu.machine.softirq) = Default::default();
        });
    }
    analyse(&run.record).answers
}

/// Normal values with a standard deviation of 2 %.
const NOISE: [f64; 13] =
    [0.011, -0.024, 0.003, 0.031, -0.009, -0.017, 0.021, 0.006, -0.036, 0.014, -0.002, 0.026, -0.013];

fn sweeps_with_cheap_setting(share: f64) -> usize {
    let is_cheap = |sweep: &usize| {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]);
        let settings = [("1", 1.0, 2.0), ("2", share, 1.0), ("4", 0.99, 2.0)];
        for (place, (streams, rate, busy)) in settings.into_iter().enumerate() {
            run.stream("plain", &[("streams", streams)], 10e9);
            run.each(&format!("plain/bulk/streams={streams}"), |trial| {
                let draw = sweep * 5 + trial.block as usize * (2 + sweep % 3) + place * 4;
                let rate = 10e9 * rate * (1.0 + NOISE[draw % NOISE.len()]);
                trial.measurement = stream_at(&[rate; 5]);
                trial.cpu.machine.user = units::Nanos((busy * 1e9) as u64);
                (trial.cpu.machine.system, trial.cpu.machine.softirq) = Default::default();
            });
        }
        let answers = analyse(&run.record).answers;
        recommended(&answers[0], Objective::Efficient).levels["streams"] == "2"
    };
    (0..26).filter(is_cheap).count()
}

#[test]
fn setting_below_ten_percent_edge_is_not_chosen_by_chance() {
    let (below, within) = (sweeps_with_cheap_setting(0.895), sweeps_with_cheap_setting(0.95));
    assert!(below <= 1 && within >= 20, "{below} and {within} of 26");
}

#[test]
fn counts_machine_once_and_names_ties() {
    let answers = swept(&[("1", 20e9, 1.0), ("2", 38e9, 1.4), ("4", 60e9, 1.8), ("8", 60.1e9, 2.0)], 5);
    let [answer] = answers.as_slice() else { panic!("{answers:#?}") };
    assert_eq!(answer.consumers, ["machine"]);
    let most = recommended(answer, Objective::Max);
    assert_eq!(
        (most.levels["streams"].as_str(), &*most.ties),
        ("4", &["plain/bulk/streams=8".to_owned()][..])
    );
    assert!(
        most.reason[0]
            .contains("is the cheapest of the 2 that are statistically tied, 1.80 CPUs instead of 2.00"),
        "{most:#?}"
    );
    assert_eq!(recommended(answer, Objective::Efficient).levels["streams"], "4");
    assert_eq!(recommended(answer, Objective::LowCpu).levels["streams"], "2");
    assert_eq!((answer.knees[0].level.as_str(), answer.frontier.len()), ("4", 4));
}

#[test]
fn reports_equal_cpu_time_as_uninformative() {
    let said = |busy: [f64; 3]| {
        let answers = swept(&[("1", 10e9, busy[0]), ("2", 20e9, busy[1]), ("4", 40e9, busy[2])], 5);
        let reason = recommended(&answers[0], Objective::Efficient).reason.join(" ");
        reason.contains("All settings use the same CPU time")
    };
    assert!(said([2.0, 1.99, 2.0]) && !said([1.9, 2.0, 2.0]));
}

#[test]
fn names_setting_with_a_trial_without_data() {
    let mut run = Fixture::new(5);
    run.path("plain", &["wire"]);
    for streams in ["1", "2", "4", "8"] {
        run.stream("plain", &[("streams", streams)], streams.parse::<f64>().expect("a number") * 1e9);
    }
    run.each("plain/bulk/streams=8", |trial| {
        if trial.block == 1 {
            trial.measurement = stream_at(&[0.0; 5]);
        }
    });
    let reason = recommended(&analyse(&run.record).answers[0], Objective::Max).reason.join(" ");
    assert!(
        reason.contains("Excluded because nothing arrived") && reason.contains("plain/bulk/streams=8"),
        "{reason}"
    );
}

#[test]
fn reports_curve_that_still_grows() {
    let answers = swept(&[("1", 10e9, 1.0), ("2", 20e9, 1.2), ("10", 40e9, 1.5)], 3);
    let most = recommended(&answers[0], Objective::Max);
    assert!(
        most.reason.iter().any(|reason| reason.contains("streams has no plateau up to its last level, 10")),
        "{most:#?}"
    );
}

#[test]
fn shortest_round_trip_is_best() {
    let mut run = Fixture::new(5);
    run.path("plain", &["wire"]);
    for (size, nanos) in [("64", 20_000.0), ("1K", 22_000.0), ("64K", 90_000.0)] {
        run.ping("plain", &[("size", size)], nanos);
    }
    let answers = analyse(&run.record).answers;
    let most = recommended(&answers[0], Objective::Max);
    assert_eq!(most.levels["size"], "64");
    assert!(most.reason[0].contains("is the lowest of 3 settings"), "{most:#?}");
    let knee = &answers[0].knees[0];
    assert_eq!((knee.level.as_str(), knee.falls_at.as_deref()), ("64", Some("1K")), "{knee:#?}");
}

#[test]
fn recommends_nothing_by_missing_cpu_time() {
    let mut run = Fixture::new(1);
    run.path("a-to-b", &[]);
    for streams in ["1", "2", "4"] {
        let rate = streams.parse::<f64>().expect("a number") * 1e9;
        run.imported("a-to-b", "tcp", &[("streams", streams)], stream_at(&[rate; 12]));
    }
    let answers = analyse(&run.record).answers;
    assert_eq!((answers[0].consumers.len(), answers[0].frontier.len()), (0, 0));
    let [only] = answers[0].recommendations.as_slice() else { panic!("{answers:#?}") };
    assert_eq!((only.objective, only.cpu), (Objective::Max, None));
}

#[test]
fn sweep_needs_numeric_levels_and_enough_results() {
    assert_eq!(swept(&[("1", 1e9, 1.0), ("2", 2e9, 1.0)], 5), []);
    assert_eq!(swept(&[("few", 1e9, 1.0), ("some", 2e9, 1.0), ("many", 3e9, 1.0)], 5), []);
}

#[test]
fn recommends_no_setting_with_unreliable_values() {
    let sweep = |busy: bool| {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]);
        [("1", 1e9), ("2", 2e9), ("4", 4e9)].iter().for_each(|(level, rate)| {
            run.stream("plain", &[("streams", level)], *rate);
        });
        run.each("plain/bulk/streams=4", |trial| {
            let by = vec![samples::Disturber { process: Some("cc1".into()), cpus: 1.2 }];
            trial
                .warnings
                .extend(busy.then_some(samples::ValidityWarning::Disturbed { share: 0.6, processes: by }));
        });
        let answers = analyse(&run.record).answers;
        recommended(&answers[0], Objective::Max).clone()
    };
    let (quiet, busy) = (sweep(false), sweep(true));
    assert_eq!((quiet.result.as_str(), quiet.withheld), ("plain/bulk/streams=4", None));
    assert_eq!((busy.result, busy.value), (quiet.result, quiet.value), "the numbers are still reported");
    let reason = busy.withheld.expect("it is disturbed");
    assert!(
        reason.contains("`cc1` used up to 1.20 CPUs") && reason.contains("--path plain --workload bulk`."),
        "{reason}"
    );
}
