//! A sweep of queues and streams that ended early, with its recommendations.

use std::collections::BTreeMap;

use findings::{
    Answer, ConsumerCost, ConsumerUnit, Findings, FrontierPoint, Interval, Knee, Objective, Recommendation,
    ResultSummary, RunSummary,
};
use samples::{Design, EndReason, ResultEnd};
use units::Nanos;
use workload::Metric;

use super::{nothing, path, results::result, run, verdict};

/// Queues, streams, rate in Gbit/s, CPUs of client and server, and why the trials ended.
type Row = (u32, u32, f64, f64, f64, EndReason);

const SETTLED: EndReason = EndReason::Settled;
const PRECISE: EndReason = EndReason::Precise { reach: 0.0142 };

const ROWS: [Row; 6] = [
    (1, 1, 14.1, 0.61, 0.93, SETTLED),
    (1, 4, 15.2, 0.83, 0.98, SETTLED),
    (2, 4, 21.9, 1.21, 1.42, PRECISE),
    (4, 8, 23.3, 1.74, 2.11, PRECISE),
    (8, 8, 23.5, 2.63, 3.2, EndReason::Budget { reach: Some(0.038) }),
    (8, 32, 19.8, 3.4, 3.9, EndReason::Budget { reach: None }),
];

pub(crate) fn sweep() -> Findings {
    verdict::of_sweep(Findings {
        run: RunSummary {
            title: "Queues and streams for a bridge".into(),
            design: Design {
                budget: Some(Nanos::from_secs(600)),
                precision: Some(0.02),
                objective: Objective::Efficient,
                until_clear: false,
            },
            planned: 189,
            completed: 62,
            paths: vec![path("vm0-to-vm1", true)],
            ..run()
        },
        results: ROWS.iter().map(measured).collect(),
        answers: vec![answer()],
        ..nothing()
    })
}

fn levels(queues: u32, streams: u32) -> BTreeMap<String, String> {
    [("queues", queues), ("streams", streams)]
        .map(|(name, level)| (name.to_owned(), level.to_string()))
        .into()
}

fn id(queues: u32, streams: u32) -> String {
    format!("vm0-to-vm1/stream/queues={queues}/streams={streams}")
}

fn consumers(client: f64, server: f64) -> Vec<ConsumerCost> {
    let cost =
        |consumer: &str, value| ConsumerCost { consumer: consumer.into(), value, unit: ConsumerUnit::Cpus };
    vec![cost("client threads", client), cost("server threads", server)]
}

fn measured((queues, streams, gbits, client, server, reason): &Row) -> ResultSummary {
    let id = id(*queues, *streams);
    ResultSummary {
        ended: Some(ResultEnd {
            result: id.clone(),
            reason: *reason,
            trials: 10,
            black_hole: None,
            counters: None,
        }),
        id,
        levels: levels(*queues, *streams),
        load: "TCP streams forward, 128 KiB writes, cubic, free placement".into(),
        consumers: consumers(*client, *server),
        baseline: false,
        ..result("vm0-to-vm1", None, "stream", Metric::Throughput, gbits * 1e9)
    }
}

fn answer() -> Answer {
    let point = |row: usize, marginal| {
        let (queues, streams, gbits, client, server, _) = ROWS[row];
        FrontierPoint {
            result: id(queues, streams),
            levels: levels(queues, streams),
            value: gbits * 1e9,
            cpu: client + server,
            consumers: consumers(client, server),
            marginal,
        }
    };
    Answer {
        workload: "stream".into(),
        path: "vm0-to-vm1".into(),
        metric: Metric::Throughput,
        knees: vec![knee(), endless()],
        frontier: vec![point(0, None), point(2, Some(7.1e9)), point(3, Some(1.15e9)), point(4, Some(0.1e9))],
        consumers: vec!["client threads".into(), "server threads".into()],
        recommendations: vec![
            recommended(Objective::Max, 3, &["queues=8, streams=8"]),
            recommended(Objective::Efficient, 2, &[]),
            recommended(Objective::LowCpu, 0, &[]),
        ],
    }
}

fn knee() -> Knee {
    Knee {
        factor: "queues".into(),
        level: "4".into(),
        plausible: vec!["2".into(), "4".into()],
        plateau: 23.3e9,
        plateau_interval: Some(Interval { low: 22.9e9, high: 23.6e9, confidence: 0.95 }),
        curve: [("1", 15.2), ("2", 21.9), ("4", 23.3), ("8", 23.5), ("16", 19.1)]
            .map(|(level, gbits)| (level.to_owned(), gbits * 1e9))
            .to_vec(),
        falls_at: Some("16".into()),
    }
}

fn endless() -> Knee {
    Knee {
        factor: "streams".into(),
        level: "32".into(),
        plausible: vec!["32".into()],
        plateau: 23.3e9,
        plateau_interval: None,
        curve: [("1", 14.1), ("8", 20.2), ("32", 23.3)]
            .map(|(level, gbits)| (level.to_owned(), gbits * 1e9))
            .to_vec(),
        falls_at: None,
    }
}

fn recommended(objective: Objective, row: usize, ties: &[&str]) -> Recommendation {
    let (queues, streams, gbits, client, server, _) = ROWS[row];
    Recommendation {
        objective,
        result: id(queues, streams),
        levels: levels(queues, streams),
        value: gbits * 1e9,
        cpu: Some(client + server),
        reason: vec!["It has 94.0 % of the best for 68.3 % of its CPU time.".into()],
        ties: ties.iter().map(ToString::to_string).collect(),
        withheld: None,
    }
}
