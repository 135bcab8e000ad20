//! `plumb memory compare`: compares policies for sharing fast memory among guests with known, shifting
//! working sets.

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

/// Assumed access time of slow memory relative to fast memory. Similar to a CXL device (Sun et al., MICRO
/// 2023).
const COST: f64 = 3.0;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    guests: GuestArgs,
    /// Number of phases; the working sets change with each
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    phases: u32,
    /// Samples per phase
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    looks: u32,
    /// Fast memory shared by the guests [default: 15 % more than both need]
    #[arg(long, value_name = "SIZE", value_parser = capacity)]
    capacity: Option<Bytes>,
    /// Policies to compare [default: all]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', value_parser = one_of(WAYS))]
    by: Vec<Arm>,
    /// Also write a page with charts to this file: .html, .md, .txt or .json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "Boots two guests with two NUMA nodes: up to 256 MiB of fast memory, half of it \
    as a virtio-mem device, and 256 MiB of simulated slow memory. A program in each guest accesses 160 \
    MiB. 99 % of the accesses go to a working set: a small one of 16 MiB, or a large one for which the \
    guest needs 93 % of its maximum fast memory (up to 144 MiB). The guests swap working sets in each \
    phase. The program places its hottest pages in fast memory as far as they fit, so the comparison \
    depends on memory sizes only. The policies are: equal parts, in proportion to memory use, the \
    rebalancer, and the optimum for the pattern.

The simulated slow memory is as fast as the rest. The slowdown is calculated from access counts, assuming \
    that an access to slow memory takes 3 times as long.

Exit status: 0 success; 1 failure; 3 this machine lacks a requirement; 64 usage error; 130 interrupted.";

const WAYS: &[Word<Arm>] = &[
    ("static", Arm::Static, "Equal parts"),
    ("pressure", Arm::Pressure, "In proportion to memory in use"),
    ("rebalancer", Arm::Rebalancer, "Like `plumb rebalance`"),
    ("optimum", Arm::Optimum, "The optimum for the access patterns"),
];

/// Limited by the guests' floors and ceilings.
fn capacity(text: &str) -> Result<Bytes, String> {
    let size = crate::amount::size(text)?;
    let limits = (256 << 20)..=(512 << 20);
    if limits.contains(&size.0) { Ok(size) } else { Err("use 256 to 512 MiB for two guests".to_owned()) }
}

/// The `--json` output, also the input of `plumb memory report`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    schema: u32,
    source: AccessSourceKind,
    /// Assumed access time of slow memory relative to fast memory.
    pub(super) slow_cost: f64,
    #[serde(default)]
    pub(super) interval: Nanos,
    pub(super) vms: Vec<String>,
    #[serde(default)]
    capacity: Option<Bytes>,
    pub(super) arms: Vec<ArmDocument>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ArmDocument {
    pub(super) arm: String,
    hits: Option<Share>,
    /// Progress from equal parts (0) to the optimum (1).
    pub(super) way: Option<Share>,
    /// The same in the second half of each phase.
    #[serde(default)]
    settled_way: Option<Share>,
    /// By sample and machine: phase, fast memory in bytes, share of accesses served by it, and the
    /// optimum's share.
    pub(super) looks: Vec<Vec<(u32, u64, f64, f64)>>,
}

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    let page = args.output.as_deref().map(summary::page).transpose()?;
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
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
    pub(super) fn answer(&self) -> [String; 2] {
        let rebalancer = self.arms.iter().find(|arm| arm.arm == Arm::Rebalancer.word());
        let first = rebalancer.and_then(ArmDocument::rebalancer_result).unwrap_or_else(|| {
            "No rebalancer result: equal parts are as good as the optimum here, or not all three policies \
                were run."
                .to_owned()
        });
        let source = match self.source {
            AccessSourceKind::Damon => "DAMON's access counts",
            _ => "memory accessed, from page generations (MGLRU)",
        };
        let shared = self.capacity.map(|bytes| format!("The guests share {bytes} of fast memory. "));
        let shared = shared.unwrap_or_default();
        [
            first,
            format!(
                "{shared}Access source: {source}. Slow memory is assumed to take {COST}x as long, not \
                    measured."
            ),
        ]
    }
}

impl ArmDocument {
    fn rebalancer_result(&self) -> Option<String> {
        let way = self.way?;
        let Some(settled) = self.settled_way else {
            return Some(format!(
                "The rebalancer rebalancer_result {way} of the way from equal parts to the optimum."
            ));
        };
        let phase = |look: &[(u32, u64, f64, f64)]| look.first().map(|(phase, ..)| *phase);
        let phases = self.looks.chunk_by(|one, next| phase(one) == phase(next)).count();
        let lost = (settled.0 - way.0).max(0.0) * self.looks.len() as f64 / phases.max(1) as f64;
        Some(format!(
            "The rebalancer rebalancer_result {settled} of the way from equal parts to the optimum in the second half \
                of each phase, {way} overall: a shift costs about as much as {lost:.0} samples gain."
        ))
    }
}

fn text(result: &Rebalancing, [first, second]: [String; 2]) -> String {
    let curves = result.arms.iter().flat_map(|(arm, looks)| curves(*arm, looks, &result.vms));
    let mut lines = vec![first, second, String::new(), table(result), String::new()];
    lines.push("Share of accesses served by fast memory, one character per sample:".to_owned());
    lines.extend(curves);
    lines.join("\n")
}

fn table(result: &Rebalancing) -> String {
    let mut table = Table::new();
    let vms = result.vms.iter().map(|vm| format!("SLOWDOWN {vm}"));
    let head: Vec<String> = ["POLICY", "HITS", "WAY"].map(str::to_owned).into_iter().chain(vms).collect();
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
