//! Columns reported by another tool. The values are medians over the trials.

use findings::{ConsumerCost, ConsumerUnit, SingleOutcome};
use samples::CpuUsage;
use stats::describe;
use workload::{Quantity, ReportedData, ReportedValue};

use super::KindAnalysis;
use crate::{observations::Observations, series::Series};

impl KindAnalysis for ReportedData {
    fn cpu_per_work(&self, _: &CpuUsage) -> Option<f64> {
        None
    }

    fn alone(&self, _: &Series) -> Option<SingleOutcome> {
        None
    }

    fn consumers(&self, _: &CpuUsage) -> Vec<ConsumerCost> {
        self.values.iter().filter_map(consumer).collect()
    }
}

fn consumer(column: &ReportedValue) -> Option<ConsumerCost> {
    let is_cpu = |word: &&str| word.eq_ignore_ascii_case("cpu") || word.eq_ignore_ascii_case("cpus");
    if column.quantity != Quantity::Share || !column.name.split_whitespace().any(|word| is_cpu(&word)) {
        return None;
    }
    let rest: Vec<&str> = column.name.split_whitespace().filter(|word| !is_cpu(word)).collect();
    let consumer = if rest.is_empty() { "CPU".to_owned() } else { rest.join(" ") };
    Some(ConsumerCost { consumer, value: column.value, unit: ConsumerUnit::Share })
}

pub(crate) fn columns(result: &Observations<'_>) -> Vec<ReportedValue> {
    let rows: Vec<&ReportedData> =
        result.trials().filter_map(|trial| ReportedData::of(&trial.measurement)).collect();
    let mut columns: Vec<ReportedValue> = Vec::new();
    for column in rows.iter().flat_map(|row| &row.values) {
        let same = |other: &&ReportedValue| other.name == column.name && other.quantity == column.quantity;
        if columns.iter().any(|known| same(&known)) {
            continue;
        }
        let values: Vec<f64> =
            rows.iter().filter_map(|row| row.values.iter().find(same)).map(|it| it.value).collect();
        columns.extend(describe::median(&values).map(|value| ReportedValue { value, ..column.clone() }));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixtures::{Fixture, reported_of},
        observations::gather,
    };

    #[test]
    fn each_column_is_a_median_over_rows_with_a_value() {
        let mut run = Fixture::new(3);
        run.path("vm", &[]).imported("vm", "table", &[], reported_of(&[]));
        run.each("vm/table", |trial| {
            let mut columns = vec![("Rate", Quantity::BitRate, f64::from(trial.block + 1) * 1e9)];
            columns.extend((trial.block > 0).then_some(("Retransmits", Quantity::Count, 4.0)));
            trial.measurement = reported_of(&columns);
        });
        let found = columns(&gather(&run.record)[0]);
        let listed: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.quantity, it.value)).collect();
        assert_eq!(listed, [("Rate", Quantity::BitRate, 2e9), ("Retransmits", Quantity::Count, 4.0)]);
    }
}
