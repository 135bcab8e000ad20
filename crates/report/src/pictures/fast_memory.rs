//! Virtual machines' fast memory over time, and the fraction of accesses it served.

use findings::{MemoryLook, MemorySummary};

use super::columns::number;
use crate::chart::*;

const HITS: &str = "fast-memory-hits";
const SIZES: &str = "fast-memory-sizes";
const MIB: f64 = (1_u64 << 20) as f64;

struct Value {
    kind: &'static str,
    title: &'static str,
    axis: &'static str,
    of: fn(&MemoryLook) -> Option<f64>,
    ticks: fn() -> Ticks,
}

const VALUES: [Value; 2] = [
    Value {
        kind: HITS,
        title: "Share of accesses served by fast memory",
        axis: "accesses served by fast memory",
        of: |look| Some(look.hits?.0),
        ticks: || Ticks::Percent,
    },
    Value {
        kind: SIZES,
        title: "Fast memory per virtual machine",
        axis: "fast memory, MiB",
        of: |look| Some(look.fast?.0 as f64),
        ticks: || Ticks::In(MIB),
    },
];

pub(crate) fn build(summary: &MemorySummary) -> Vec<Chart> {
    VALUES.iter().filter_map(|value| chart(summary, value)).collect()
}

fn chart(summary: &MemorySummary, value: &Value) -> Option<Chart> {
    let looks = || summary.arms.iter().flat_map(|arm| &arm.vms).flat_map(|vm| &vm.looks);
    let known: Vec<f64> = looks().filter_map(value.of).collect();
    if known.len() < 2 {
        return None;
    }
    let end = looks().map(|look| look.at.seconds()).fold(0.0, f64::max);
    let mut names: Vec<&str> = Vec::new();
    for vm in summary.arms.iter().flat_map(|arm| &arm.vms) {
        if !names.contains(&vm.name.as_str()) {
            names.push(&vm.name);
        }
    }
    let plots = names.iter().enumerate().map(|(place, name)| Plot {
        x: Axis {
            title: "time, s".to_owned(),
            scale: Scale::Linear { low: 0.0, high: end.max(1e-9) },
            ticks: Ticks::In(1.0),
        },
        y: Axis {
            title: format!("{name}: {}", value.axis),
            scale: Scale::from_zero(known.iter().copied()),
            ticks: (value.ticks)(),
        },
        lines: lines(summary, name, value),
        marks: Vec::new(),
        stretches: Vec::new(),
        spots: Vec::new(),
        keys: if place == 0 { keys(summary) } else { Vec::new() },
    });
    Some(Chart {
        kind: value.kind,
        title: value.title.to_owned(),
        about: about(summary, value),
        drawing: Drawing::Plots(plots.collect()),
        data: data(summary),
        plain: None,
    })
}

fn lines(summary: &MemorySummary, name: &str, value: &Value) -> Vec<Line> {
    let of_arm = |(number, arm): (usize, &findings::MemoryArm)| {
        let vm = arm.vms.iter().find(|vm| vm.name == name)?;
        let points = vm.looks.iter().filter_map(|look| Some((look.at.seconds(), (value.of)(look)?)));
        Some(Line { number, kind: LineKind::Bare, points: points.collect(), intervals: Vec::new() })
    };
    summary.arms.iter().enumerate().filter_map(of_arm).collect()
}

fn keys(summary: &MemorySummary) -> Vec<Key> {
    if summary.arms.len() < 2 {
        return Vec::new();
    }
    summary.arms.iter().enumerate().map(|(number, arm)| Key::Line(number, arm.name.clone())).collect()
}

fn about(summary: &MemorySummary, value: &Value) -> String {
    let of_arm = |arm: &findings::MemoryArm| {
        let vms = arm.vms.iter().map(|vm| {
            let hits = vm.hits.map_or_else(|| "unknown share".to_owned(), |hits| hits.to_string());
            format!("{} {hits}", vm.name)
        });
        format!("{}: {}", arm.name, vms.collect::<Vec<_>>().join(", "))
    };
    let phrase: Vec<String> = summary.arms.iter().map(of_arm).collect();
    format!("{} over time. Mean share served, {}.", value.title, phrase.join("; "))
}

fn data(summary: &MemorySummary) -> Data {
    let mut data = Data::new(["by", "vm", "time_s", "fast_bytes", "share_served"]);
    for arm in &summary.arms {
        for vm in &arm.vms {
            for look in &vm.looks {
                data.push([
                    Some(arm.name.clone()),
                    Some(vm.name.clone()),
                    number(Some(look.at.seconds())),
                    look.fast.map(|fast| fast.0.to_string()),
                    number(look.hits.map(|hits| hits.0)),
                ]);
            }
        }
    }
    data
}
