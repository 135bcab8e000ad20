//! The main consumer of CPU time, the longest system call, and the fraction of call time spent waiting.

use units::{Share, significant};

use super::{Source, cpu, words};
use crate::page::*;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let parts = [most_cpu(source), longest_call(source), waiting(source)];
    let phrase: Vec<String> = parts.into_iter().flatten().collect();
    let blocks = vec![Block::Paragraph(Text::strong(phrase.join(" ")))];
    (!phrase.is_empty()).then_some(Section { title: None, depth: Depth::Always, blocks })
}

fn most_cpu(source: &Source<'_>) -> Option<String> {
    let trace = source.trace;
    let most = trace.cpu.as_ref()?.shares.iter().max_by_key(|share| share.time)?;
    let consumer = words::consumer(most.consumer, trace.target.kind);
    let cpus = significant(most.cpus, 2);
    Some(format!("Most CPU time: {} ({consumer}), {cpus} of {} CPUs.", cpu::whose(most), trace.cpus))
}

fn longest_call(source: &Source<'_>) -> Option<String> {
    let longest = source.trace.calls.iter().max_by_key(|call| call.count.total)?;
    let whose = longest.count.thread.as_ref().or(longest.count.process.as_ref());
    let whose = whose.map(|name| format!(" of {name}")).unwrap_or_default();
    let share = Share(longest.share?);
    Some(format!("Longest system call: {}{whose}, {share} of the time in calls.", longest.count.call))
}

fn waiting(source: &Source<'_>) -> Option<String> {
    let all = &source.trace.all.as_ref()?.count;
    let (waiting, total) = (all.waiting?, all.total.filter(|total| total.0 > 0)?);
    Some(format!("Waiting: {} of the time in calls.", Share(waiting.0 as f64 / total.0 as f64)))
}
