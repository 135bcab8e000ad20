//! System calls still in progress when their trials ended. No count includes them.

use findings::ResultSummary;
use samples::SyscallCount;
use units::Nanos;

use super::Source;
use crate::page::*;

const WHAT: &str = "Calls that started in a probed trial and were still running when the probes were read; they are \
     in no other table. For vCPUs that rarely leave KVM_RUN this is much of their time. Calls longer than the \
     whole trial are not counted anywhere.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks: Vec<Block> = findings.results.iter().filter_map(of_result).collect();
    if blocks.is_empty() {
        return None;
    }
    blocks.push(Block::Paragraph(Text::faint(WHAT)));
    Some(section("Unfinished system calls", blocks))
}

fn of_result(result: &ResultSummary) -> Option<Block> {
    let calls = &result.probed.as_ref()?.under_way;
    let blocks = vec![Block::Table(table(calls))];
    (!calls.is_empty()).then(|| Block::Folded { title: result.label.as_str().into(), blocks })
}

pub(crate) fn table(calls: &[SyscallCount]) -> Table {
    let mut columns = vec![left("Owner"), left("Call")];
    columns.extend(["Calls", "Time so far", "Running", "Waiting", "In guest"].map(right));
    Table { columns, rows: calls.iter().map(row).collect(), caption: None }
}

fn row(call: &SyscallCount) -> Vec<Text> {
    let time = |time: Option<Nanos>| {
        let known = time.filter(|time| time.0 > 0).map(|time| Text::from(glued(&time.to_string())));
        known.unwrap_or_else(|| Text::faint("-"))
    };
    let thread = call.thread.as_ref().filter(|thread| call.process.as_ref() != Some(*thread));
    let whose: Vec<&str> = [call.end.as_ref(), call.process.as_ref(), thread]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let head = [whose.join(", ").into(), Text::strong(&call.call), call.calls.to_string().into()];
    head.into_iter().chain([call.total, call.running, call.waiting, call.guest].map(time)).collect()
}
