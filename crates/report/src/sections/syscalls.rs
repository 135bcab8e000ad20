//! Number and duration of system calls, split into work and waiting.

mod layout;
mod shape;
mod totals;

use findings::{CallRates, EndCalls, ResultSummary};
use samples::SyscallCount;
use units::significant;

use self::{
    layout::{Call, CallColumns, Layout, is_split},
    shape::SHAPE,
};
use super::Source;
use crate::{labels, page::*, phrases, pictures};

const OPEN: usize = 8;
const OPEN_OF_PROCESS: usize = 5;
const OPEN_RESULTS: usize = 4;

const UNSPLIT: &str = "The running time is unknown because the tool did not record it. The total time of calls that \
     wait or run a guest is mostly not spent in the call itself.";
const COMPOSED: &str =
    "Share: the share of all calls at that end. Running, waiting, in guest: average time per call.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut counted: Vec<&ResultSummary> =
        findings.results.iter().filter(|result| !result.syscalls.is_empty()).collect();
    let claimed: Vec<&String> = findings.findings.iter().flat_map(|claim| &claim.results).collect();
    let rank =
        |result: &ResultSummary| claimed.iter().position(|id| **id == result.id).unwrap_or(claimed.len());
    counted.sort_by_key(|result| (rank(result), !is_timed(result)));
    let chosen = chosen(&counted);
    if !chosen.is_empty() {
        counted.sort_by_key(|result| (rank(result), !chosen.contains(&result.id.as_str())));
    }
    let most = if chosen.is_empty() { OPEN_RESULTS } else { chosen.len().min(OPEN_RESULTS) };
    let (open, folded) = counted.split_at(most.min(counted.len()));
    let mut blocks = totals::tables(findings);
    blocks.extend(open.iter().flat_map(|result| of_result(result)));
    let timed = counted.iter().any(|result| is_timed(result));
    let split = counted.iter().flat_map(|result| &result.syscalls).any(is_split);
    let composed = open.iter().any(|result| rates(result).is_some());
    blocks.extend(composed.then(|| Block::Paragraph(Text::faint(COMPOSED))));
    blocks.extend((timed && !split).then(|| Block::Paragraph(Text::faint(UNSPLIT))));
    if !folded.is_empty() {
        let phrase = format!("{most} of {} results with system-call counts.", counted.len());
        blocks.push(Block::Paragraph(Text::faint(phrase)));
        let more = folded.iter().flat_map(|result| of_result(result)).collect();
        let title = phrases::count(folded.len(), "more result");
        blocks.push(Block::Folded { title: title.into(), blocks: more });
    }
    (!counted.is_empty()).then(|| section("System calls", blocks))
}

pub(super) fn build_times(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let of_result = |result: &ResultSummary| {
        let rates = rates(result)?;
        let calls = calls(result, Some(rates));
        let table = Layout::of(&calls, Some(rates), CallColumns::Times).table(&calls);
        Some(Block::Folded { title: result.label.as_str().into(), blocks: vec![Block::Table(table)] })
    };
    let mut blocks: Vec<Block> = findings.results.iter().filter_map(of_result).collect();
    if blocks.is_empty() {
        return None;
    }
    blocks
        .push(Block::Paragraph(Text::from("Share: of the time of all calls of that end. ").and_plain(SHAPE)));
    Some(section("Time in system calls", blocks))
}

fn rates(result: &ResultSummary) -> Option<&CallRates> {
    result.probed.as_ref()?.calls.as_ref()
}

pub(super) fn unit(result: &ResultSummary) -> Option<String> {
    rates(result).map(|rates| totals::unit(rates.work))
}

pub(super) fn all(result: &ResultSummary) -> Option<String> {
    rates(result).map(|rates| layout::rare(rates.all))
}

fn chosen<'a>(counted: &[&'a ResultSummary]) -> Vec<&'a str> {
    let probed = || counted.iter().filter(|result| result.probed.is_some());
    let workloads = labels::distinct(probed().map(|result| result.workload.as_str()));
    let calls = |result: &ResultSummary| rates(result).map_or(0.0, |rates| rates.all);
    let richest = |workload: &str| {
        let of_workload = probed().filter(|result| result.workload == workload);
        let richest = of_workload.max_by(|one, other| {
            one.layers.len().cmp(&other.layers.len()).then(calls(one).total_cmp(&calls(other)))
        });
        richest.map(|result| result.id.as_str())
    };
    workloads.into_iter().filter_map(richest).collect()
}

fn is_timed(result: &ResultSummary) -> bool {
    result.syscalls.iter().any(|call| call.total.is_some())
}

fn of_result(result: &ResultSummary) -> Vec<Block> {
    let rates = rates(result);
    let (open, folded) = match rates {
        Some(rates) => most_of_each_process(result, rates),
        None => first(calls(result, None)),
    };
    let layout = Layout::of(&open, rates, CallColumns::Composition);
    let heading = Block::Heading(Text::strong(&result.label));
    let chart = pictures::syscalls::chart(result).map(|chart| Block::Chart(Box::new(chart)));
    let table = Block::Table(layout.table(&open));
    let mut blocks: Vec<Block> = [heading].into_iter().chain(chart).chain([table]).collect();
    if !folded.is_empty() {
        let more = phrases::count(folded.len(), "more call");
        blocks.push(Block::Paragraph(Text::faint(format!("and {more}"))));
        // Omit the other calls of probed trials: the section on times lists them.
        let rest = || Block::Table(Layout::of(&folded, rates, CallColumns::Composition).table(&folded));
        blocks.extend(rates.is_none().then(|| Block::Folded { title: more.into(), blocks: vec![rest()] }));
    }
    blocks.extend(rates.map(|rates| Block::Paragraph(ends(rates))));
    blocks
}

fn calls<'a>(result: &'a ResultSummary, rates: Option<&CallRates>) -> Vec<Call<'a>> {
    let rate = |index: usize| rates.and_then(|rates| rates.each.get(index).copied());
    let call = |(index, count): (usize, &'a SyscallCount)| Call {
        count,
        all: &result.syscalls,
        rate: rate(index),
        share: None,
        threads: 1,
    };
    result.syscalls.iter().enumerate().map(call).collect()
}

type Partition<'a> = (Vec<Call<'a>>, Vec<Call<'a>>);

fn first(mut calls: Vec<Call<'_>>) -> Partition<'_> {
    let rest = calls.split_off(OPEN.min(calls.len()));
    (calls, rest)
}

fn most_of_each_process<'a>(result: &'a ResultSummary, rates: &'a CallRates) -> Partition<'a> {
    let (mut open, mut rest): Partition<'_> = (Vec::new(), Vec::new());
    for process in &rates.processes {
        let count = &process.count;
        let same =
            |other: &&Call<'_>| (&other.count.end, &other.count.process) == (&count.end, &count.process);
        let call = Call {
            count,
            all: &result.syscalls,
            rate: Some(process.rate),
            share: Some(process.share),
            threads: process.threads,
        };
        let shown = open.iter().filter(same).count();
        if shown < OPEN_OF_PROCESS { open.push(call) } else { rest.push(call) }
    }
    (open, rest)
}

fn ends(rates: &CallRates) -> Text {
    let of = |end: &EndCalls| {
        let name = end.end.as_deref().map_or_else(|| "others".to_owned(), |end| format!("the {end}"));
        let process = end.process.as_ref().map(|process| format!(" ({process})")).unwrap_or_default();
        format!(
            "of {name}{process} {} {}",
            glued(&significant(end.rate, 3)),
            glued(&totals::unit(rates.work))
        )
    };
    let phrase: Vec<String> = rates.ends.iter().map(of).collect();
    Text::faint(format!("All system calls {}.", phrase.join(", ")))
}
