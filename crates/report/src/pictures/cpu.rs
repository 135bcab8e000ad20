//! Shows CPU time by owner, with one stacked bar per result.

use findings::{CpuAttribution, ResultSummary};
use samples::CpuConsumer;

use super::columns::number;
use crate::{chart::*, labels, page::*, sections::Source};

pub(super) const KIND: &str = "cpu-attribution";

type Attributed<'a> = (&'a ResultSummary, &'a CpuAttribution);

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    labels::workloads(source.findings).into_iter().filter_map(|workload| chart(source, workload)).collect()
}

pub(crate) fn chart(source: &Source<'_>, workload: &str) -> Option<Chart> {
    let of_result = |result| Some((result, cpu_of(result)?));
    let results = source.findings.results.iter().filter(|result| result.workload == workload);
    let attributed: Vec<Attributed<'_>> = results.filter_map(of_result).collect();
    if attributed.is_empty() {
        return None;
    }
    let consumers = labels::consumers(attributed.iter().map(|(result, _)| *result));
    let rows: Vec<Row> = attributed.iter().map(|(result, cpu)| row(result, cpu, &consumers)).collect();
    let rests = attributed.iter().any(|(_, cpu)| cpu.unexplained > 0.0);
    let surfaces = consumers.iter().enumerate();
    let surfaces = surfaces
        .map(|(number, consumer)| Key::Surface(Paint::Of(number), labels::consumer(*consumer).to_owned()));
    let rest = rests.then(|| Key::Surface(Paint::Faint, "unexplained".to_owned()));
    let mut phrase = attributed.iter().map(phrase);
    Some(Chart {
        kind: KIND,
        title: format!("{workload}: CPU attribution"),
        about: phrase.join("; "),
        drawing: Drawing::Rows(Rows {
            axis: Axis {
                title: "CPUs busy on average".to_owned(),
                scale: Scale::from_zero(rows.iter().flat_map(Row::reach)),
                ticks: Ticks::In(1.0),
            },
            rows,
            keys: surfaces.chain(rest).collect(),
            reference: None,
        }),
        data: data(&attributed),
        plain: None,
    })
}

fn row(result: &ResultSummary, cpu: &CpuAttribution, consumers: &[CpuConsumer]) -> Row {
    let (mut pieces, mut from) = (Vec::new(), 0.0);
    let mut add = |cpus: f64, paint: Paint| {
        pieces.push(Piece { from, to: from + cpus, paint, is_unclear: false });
        from += cpus;
    };
    for time in &cpu.consumers {
        let number = consumers.iter().position(|consumer| *consumer == time.consumer).unwrap_or_default();
        add(time.cpus, Paint::Of(number));
    }
    if cpu.unexplained > 0.0 {
        add(cpu.unexplained, Paint::Faint);
    }
    Row {
        label: labels::result_in_workload(result),
        pieces,
        text: Text::plain(format!("{:.2} CPUs", cpu.busy)),
        ..Row::default()
    }
}

fn phrase((result, cpu): &Attributed<'_>) -> String {
    let mut parts =
        cpu.consumers.iter().map(|time| format!("{} {:.2}", labels::consumer(time.consumer), time.cpus));
    let parts = parts.join(", ");
    format!("{}: {:.2} CPUs busy, of these {parts}", labels::result_in_workload(result), cpu.busy)
}

fn data(attributed: &[Attributed<'_>]) -> Data {
    let mut data = Data::new(["result", "consumer", "busy_cpus", "share"]);
    for (result, cpu) in attributed {
        for time in &cpu.consumers {
            let consumer = labels::owner_key(time.consumer).to_owned();
            data.push([
                Some(result.id.clone()),
                Some(consumer),
                number(Some(time.cpus)),
                number(Some(time.share)),
            ]);
        }
        let rest = [number(Some(cpu.unexplained)), number(Some(cpu.unexplained_share))];
        data.push([Some(result.id.clone()), Some("unexplained".to_owned())].into_iter().chain(rest));
        let busy = [number(Some(cpu.busy)), number(Some(1.0))];
        data.push([Some(result.id.clone()), Some("busy".to_owned())].into_iter().chain(busy));
    }
    data
}

fn cpu_of(result: &ResultSummary) -> Option<&CpuAttribution> {
    result.probed.as_ref()?.cpu.as_ref()
}
