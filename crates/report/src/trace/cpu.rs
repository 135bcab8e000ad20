//! CPU time by owner, and the unexplained remainder.

use findings::{TracedCpu, TracedShare};
use samples::{AttributionSource, CpuConsumer};
use units::{Share, significant};

use super::{Source, words};
use crate::{page::*, quantity::with_minus};

const WORTH_SAYING: f64 = 0.0005;
const FEW: usize = 3;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let cpu = source.trace.cpu.as_ref()?;
    let all = cpu.busy.unwrap_or(cpu.explained);
    let mut rows = of_owners(source, cpu, all);
    let unexplained = cpu.busy.map(|busy| ("unexplained", busy - cpu.explained));
    for (name, cpus) in unexplained.into_iter().chain([("all", all)]) {
        rows.push(row(Text::faint(name), String::new(), cpus, all));
    }
    if cpu.steal > WORTH_SAYING {
        let of_no_share = Text::faint("-");
        let stolen = Text::faint("stolen by the hypervisor, in addition");
        rows.push(vec![stolen, Text::default(), number(cpu.steal).into(), of_no_share]);
    }
    let columns = vec![left("Owner"), left("Name"), right("CPUs"), right("Of busy time")];
    let table = Table { columns, rows, caption: Some(Text::faint(caption(cpu))) };
    Some(section("CPU time", vec![Block::Table(table)]))
}

fn of_owners(source: &Source<'_>, cpu: &TracedCpu, all: f64) -> Vec<Vec<Text>> {
    let kind = source.trace.target.kind;
    let mut rows = Vec::new();
    for consumer in consumers(&cpu.shares) {
        let of: Vec<&TracedShare> = cpu.shares.iter().filter(|it| it.consumer == consumer).collect();
        let open = if is_traced(consumer) { source.top } else { FEW };
        for it in of.iter().take(open) {
            rows.push(row(Text::strong(words::consumer(consumer, kind)), whose(it), it.cpus, all));
        }
        let more = of.len().saturating_sub(open);
        if more > 0 {
            let cpus = of.iter().skip(open).map(|it| it.cpus).sum();
            rows.push(row(Text::strong(words::consumer(consumer, kind)), format!("{more} more"), cpus, all));
        }
    }
    rows
}

fn row(consumer: Text, which: String, cpus: f64, all: f64) -> Vec<Text> {
    let share = if all > 0.0 {
        Text::from(glued(&with_minus(&Share(cpus / all).to_string())))
    } else {
        Text::faint("-")
    };
    vec![consumer, which.into(), number(cpus).into(), share]
}

fn caption(cpu: &TracedCpu) -> String {
    let phrase = match cpu.source {
        AttributionSource::Traced if cpu.busy.is_none() => {
            "CPUs in use on average. Too short to compare with the kernel's busy time, which has a resolution of 10 \
             ms."
        }
        AttributionSource::Traced => {
            "CPUs in use on average. Softirqs are counted separately from the interrupted thread. Busy time without \
             an owner is unexplained."
        }
        AttributionSource::Sampled => {
            "CPUs in use on average, from /proc: softirqs count as time of the interrupted thread."
        }
    };
    let reason = cpu.reason.as_ref().map(|reason| format!(" Not traced exactly: {reason}."));
    phrase.to_owned() + &reason.unwrap_or_default()
}

fn consumers(shares: &[TracedShare]) -> Vec<CpuConsumer> {
    let mut consumers: Vec<CpuConsumer> = Vec::new();
    for share in shares {
        if !consumers.contains(&share.consumer) {
            consumers.push(share.consumer);
        }
    }
    consumers.sort_by_key(|consumer| (!is_traced(*consumer), *consumer == CpuConsumer::Other));
    consumers
}

const fn is_traced(consumer: CpuConsumer) -> bool {
    matches!(
        consumer,
        CpuConsumer::Client
            | CpuConsumer::Server
            | CpuConsumer::ClientVm
            | CpuConsumer::ServerVm
            | CpuConsumer::Vmm
            | CpuConsumer::Vhost
    )
}

pub(super) fn whose(share: &TracedShare) -> String {
    let thread = share.thread.as_ref().filter(|thread| Some(*thread) != share.process.as_ref());
    // `swapper` is charged from an interrupt until the first task runs. This is not idle time.
    let phrase =
        |name: &String| if name == "swapper" { "swapper (waking from idle)".into() } else { name.clone() };
    let names = share.process.iter().chain(thread).filter(|name| !name.is_empty()).map(phrase);
    let phrase: Vec<String> = names.chain(share.cpu.map(|cpu| format!("on CPU {cpu}"))).collect();
    // The thread ended before its name was read.
    if phrase.is_empty() { "name unknown".to_owned() } else { phrase.join(", ") }
}

fn number(cpus: f64) -> String {
    let phrase = if cpus.abs() >= 0.0995 { significant(cpus, 3) } else { format!("{cpus:.3}") };
    with_minus(&phrase)
}
