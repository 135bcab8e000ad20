//! `plumb memory compare`: ways of sharing fast memory out among guests whose working sets shift as it is known.

use std::{path::PathBuf, time::Duration};

use ::lab::{Arm, Look, Rebalancing, RebalancingRequest, Stop, rebalancing};
use anyhow::Context;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use protocol::AccessSourceKind;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos, Share, significant};

use super::{guests::GuestArgs, summary};
use crate::{
    commands::{PROGRAM, TOOL},
    exit::Exit,
    failure::NoGuest,
    interrupt, output,
    value_parsers::{Word, one_of},
};

/// How many times as long an access of slow memory takes: stated, and not measured. A CXL device's is about this (Sun et al., MICRO
/// 2023).
const COST: f64 = 3.0;
/// From none to all of the accesses.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Flags of `plumb memory compare`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    guests: GuestArgs,
    /// How often the working sets change
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    phases: u32,
    /// Looks from one change to the next
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    looks: u32,
    /// Fast memory that the guests share [default: what both need, and 15 % more]
    #[arg(long, value_name = "SIZE", value_parser = capacity)]
    capacity: Option<Bytes>,
    /// Ways to compare [default: all]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', value_parser = one_of(WAYS))]
    by: Vec<Arm>,
    /// Write a page with pictures to this file besides: .html, .md, .txt or .json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Two guests with two NUMA nodes are booted: up to 256 MiB of fast memory, half of it by a virtio-mem device, and 256 MiB that stand \
for slow memory. A program in each accesses 160 MiB: 99 % of the accesses go to a working set of 16 MiB, or to a large one with which \
the guest needs 93 % of the fast memory that it can have (144 MiB at most), and with each phase the guests change theirs. It keeps its \
hottest pages in fast memory as far as there is room, so what is compared is the sizes. The same is run with equal parts, in proportion \
to memory in use, by the rebalancer, and with the sizes that the patterns make the best.

Slow memory is as fast as the other here. An access of it is stated to take 3 times as long; the slowdown follows from the counts.

Exit status: 0 it was run; 1 it was not; 3 this machine lacks what is needed; 64 usage error; 130 interrupted.";

const WAYS: &[Word<Arm>] = &[
    ("static", Arm::Static, "Equal parts"),
    ("pressure", Arm::Pressure, "In proportion to memory in use"),
    ("rebalancer", Arm::Rebalancer, "As `plumb rebalance` does"),
    ("optimum", Arm::Optimum, "The sizes that the patterns make the best"),
];

/// Floors of the guests need so much, and more than their ceilings is of no use.
fn capacity(text: &str) -> Result<Bytes, String> {
    let size = crate::amount::size(text)?;
    let limits = (256 << 20)..=(512 << 20);
    if limits.contains(&size.0) { Ok(size) } else { Err("two guests share 256 to 512 MiB".to_owned()) }
}

/// What `--json` prints, from which `plumb memory report` makes a page.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    schema: u32,
    source: AccessSourceKind,
    /// How many times as long an access of slow memory is stated to take.
    pub(super) slow_cost: f64,
    /// From one look to the next.
    #[serde(default)]
    pub(super) interval: Nanos,
    pub(super) vms: Vec<String>,
    /// All fast memory that they share.
    #[serde(default)]
    capacity: Option<Bytes>,
    pub(super) arms: Vec<ArmDocument>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ArmDocument {
    pub(super) arm: String,
    hits: Option<Share>,
    /// From equal parts to the optimum.
    pub(super) way: Option<Share>,
    /// The same in the second half of each phase.
    #[serde(default)]
    settled_way: Option<Share>,
    /// By look and machine: phase, fast memory in bytes, share of accesses that it served, and the optimum's.
    pub(super) looks: Vec<Vec<(u32, u64, f64, f64)>>,
}

/// Runs it.
pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    let page = args.output.as_deref().map(summary::page).transpose()?;
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let request = RebalancingRequest {
        kernel: args.guests.kernel()?,
        program: PROGRAM.into(),
        tool: TOOL.to_owned(),
        rate: args.guests.rate,
        interval: args.guests.interval(),
        phases: args.phases,
        looks: args.looks,
        capacity: args.capacity,
        arms: if args.by.is_empty() { Arm::ALL.to_vec() } else { args.by.clone() },
        stop,
    };
    let result = rebalancing(&request, &mut |arm, look| {
        let vms = look.vms.iter().map(|vm| format!("{} {}", vm.fast, vm.hits)).collect::<Vec<_>>().join(", ");
        output::aside(format_args!("{}, phase {}: {vms}", arm.word(), look.phase + 1));
    });
    let result = result.context(NoGuest)?;
    let document = document(&result, args.guests.interval());
    if let Some((path, format)) = page {
        summary::write(&summary::of_comparison(&document), &path, format)?;
    }
    if args.guests.json {
        output::line(serde_json::to_string(&document)?)?;
    } else {
        output::line(text(&result, document.answer()))?;
    }
    Ok(Exit::Success)
}

fn document(result: &Rebalancing, interval: Duration) -> Document {
    let settled = result.settled();
    let arm = |(arm, looks): &(Arm, Vec<Look>)| ArmDocument {
        arm: arm.word().to_owned(),
        hits: result.hits(*arm, None),
        way: result.way(*arm),
        settled_way: settled.way(*arm),
        looks: looks
            .iter()
            .map(|look| look.vms.iter().map(|vm| (look.phase, vm.fast.0, vm.hits.0, vm.best.0)).collect())
            .collect(),
    };
    let arms = result.arms.iter().map(arm).collect();
    let (source, interval, vms) = (result.source, interval.into(), result.vms.clone());
    let capacity = Some(result.capacity);
    Document { schema: 1, source, slow_cost: COST, interval, vms, capacity, arms }
}

impl Document {
    /// The answer, and what it rests on.
    pub(super) fn answer(&self) -> [String; 2] {
        let rebalancer = self.arms.iter().find(|arm| arm.arm == Arm::Rebalancer.word());
        let first = rebalancer.and_then(ArmDocument::came).unwrap_or_else(|| {
            "How far the rebalancer came cannot be told: equal parts are as good as the optimum here, or not all three were run.".to_owned()
        });
        let source = match self.source {
            AccessSourceKind::Damon => "accesses counted by DAMON",
            _ => "memory touched, by page generations (MGLRU)",
        };
        let shared = self.capacity.map(|bytes| format!("The guests share {bytes} of fast memory. "));
        let shared = shared.unwrap_or_default();
        [
            first,
            format!(
                "{shared}It went by {source}. Slow memory is stated to take {COST}x as long, not measured."
            ),
        ]
    }
}

impl ArmDocument {
    /// Of the rebalancer. What a shift costs does not depend on how often they come.
    fn came(&self) -> Option<String> {
        let way = self.way?;
        let Some(settled) = self.settled_way else {
            return Some(format!("The rebalancer came {way} of the way from equal parts to the optimum."));
        };
        let phase = |look: &[(u32, u64, f64, f64)]| look.first().map(|(phase, ..)| *phase);
        let phases = self.looks.chunk_by(|one, next| phase(one) == phase(next)).count();
        let lost = (settled.0 - way.0).max(0.0) * self.looks.len() as f64 / phases.max(1) as f64;
        Some(format!(
            "The rebalancer came {settled} of the way from equal parts to the optimum in the second half of each phase, {way} over all: a \
             shift costs what {lost:.0} looks of that bring."
        ))
    }
}

/// The answer, the table, and the curves.
fn text(result: &Rebalancing, [first, second]: [String; 2]) -> String {
    let curves = result.arms.iter().flat_map(|(arm, looks)| curves(*arm, looks, &result.vms));
    let mut lines = vec![first, second, String::new(), table(result), String::new()];
    lines.push("Share of accesses that fast memory served, a sign a look:".to_owned());
    lines.extend(curves);
    lines.join("\n")
}

fn table(result: &Rebalancing) -> String {
    let mut table = Table::new();
    let vms = result.vms.iter().map(|vm| format!("SLOWDOWN {vm}"));
    let head: Vec<String> =
        ["FAST MEMORY BY", "HITS", "WAY"].map(str::to_owned).into_iter().chain(vms).collect();
    let columns = head.len();
    table.load_style(presets::NOTHING).set_header(head);
    for (arm, _) in &result.arms {
        let share = |share: Option<Share>| share.map_or_else(|| "-".to_owned(), |share| share.to_string());
        let slowdown = |vm: usize| {
            let hits = result.hits(*arm, Some(vm));
            hits.map_or_else(
                || "-".to_owned(),
                |Share(hits)| significant(hits + (1.0 - hits) * COST, 3) + "x",
            )
        };
        let own = [arm.word().to_owned(), share(result.hits(*arm, None)), share(result.way(*arm))];
        table.add_row(own.into_iter().chain((0..result.vms.len()).map(slowdown)));
    }
    for column in 1..columns {
        table.column_mut(column).expect("it is in the head").set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn curves(arm: Arm, looks: &[Look], vms: &[String]) -> Vec<String> {
    let bar = |share: f64| BARS[((share * BARS.len() as f64) as usize).min(BARS.len() - 1)];
    let of_vm = |(place, vm): (usize, &String)| {
        let bars: String =
            looks.iter().filter_map(|look| look.vms.get(place)).map(|vm| bar(vm.hits.0)).collect();
        format!("  {:<16}{vm}  {bars}", if place == 0 { arm.word() } else { "" })
    };
    vms.iter().enumerate().map(of_vm).collect()
}
