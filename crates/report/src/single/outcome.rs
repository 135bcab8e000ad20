//! The result in a few lines.

use findings::{EndSocket, SingleMeasurement, SingleOutcome, Spread};
use units::significant;

use crate::{kind, page::*, phrases};

const NAMED: f64 = 0.05;

type Line = (&'static str, Text);

pub(super) fn build(single: &SingleMeasurement) -> Option<Section> {
    let Some(outcome) = &single.outcome else {
        let nothing = Text::bad("No data arrived.");
        return Some(section("Result", vec![Block::Paragraph(nothing)]));
    };
    let mut lines = kind::alone(outcome).lines();
    lines.extend(buffers(single));
    lines.extend(cpu(single));
    let lines = lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut blocks = vec![Block::KeyValues(lines)];
    blocks.extend(certainty(single, outcome).map(|phrase| Block::Paragraph(Text::faint(phrase))));
    Some(section("Result", blocks))
}

fn certainty(single: &SingleMeasurement, outcome: &SingleOutcome) -> Option<String> {
    let too_few = || "Too few samples for an interval.".to_owned();
    let alone = kind::alone(outcome);
    outcome.spread().map(method).or_else(|| (alone.is_mean() && single.shifts.is_empty()).then(too_few))
}

fn method(spread: &Spread) -> String {
    format!(
        "The interval is for the mean of {} samples of {} at the {}, equivalent to {} independent ones; variation \
         between trials is not included.",
        spread.intervals,
        spread.length,
        spread.end,
        significant(spread.worth, 2)
    )
}

/// The kernel doubles a requested size for bookkeeping and enforces a minimum and a maximum (socket(7)).
fn buffers(single: &SingleMeasurement) -> Option<Line> {
    let asked = single.load.kind().socket()?.window?;
    let of = |end: &EndSocket| {
        let sizes = [("send", end.socket.send_buffer), ("receive", end.socket.receive_buffer)];
        let sizes = sizes.map(|(which, size)| Some(format!("{which} {}", glued(&size?.to_string()))));
        let sizes: Vec<String> = sizes.into_iter().flatten().collect();
        (!sizes.is_empty()).then(|| format!("; the {} has {}", end.end, sizes.join(", ")))
    };
    let given: String = single.sockets.iter().filter_map(of).collect();
    Some(("Buffers", format!("{} requested{given}", glued(&asked.to_string())).into()))
}

fn cpu(single: &SingleMeasurement) -> Vec<Line> {
    let cpu = &single.cpu;
    let cost = cpu.per_work.map(|cost| format!(", {}", phrases::per_work(cost)));
    let others = (cpu.others >= NAMED).then(|| format!("; other processes {:.2} more", cpu.others));
    let parts = [cost, others].into_iter().flatten().collect::<String>();
    let busy = format!("{:.2} of {} CPUs busy{parts}", cpu.busy, cpu.cpus);
    let machine = (cpu.cpus > 0).then(|| ("This machine", busy.into()));
    let ends = [(cpu.client, "at this end"), (cpu.server, "at the server")];
    let ends = ends.into_iter().filter(|(threads, _)| *threads > 0.0);
    let threads: Vec<String> = ends.map(|(threads, end)| format!("{threads:.2} CPUs {end}")).collect();
    let threads = (!threads.is_empty()).then(|| ("Traffic threads", threads.join(", ").into()));
    machine.into_iter().chain(threads).collect()
}
