//! The columns that another tool reported for a cell: the median over the trials of each. Must not know what they mean.

use stats::describe;
use workload::{Measurement, ReportedData, ReportedValue};

use crate::measured::Measured;

/// Every column, in the order of the first trial that has it; none of a cell that was measured.
pub(crate) fn columns(cell: &Measured<'_>) -> Vec<ReportedValue> {
    let rows: Vec<&ReportedData> = cell
        .trials()
        .filter_map(|trial| match &trial.measurement {
            Measurement::Reported(data) => Some(data),
            _ => None,
        })
        .collect();
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
        measured::gather,
    };
    use workload::Quantity;

    #[test]
    fn each_column_is_the_median_of_the_rows_that_have_it() {
        let mut run = Fixture::new(3);
        run.path("vm", &[]).told("vm", "table", &[], reported_of(&[]));
        run.each("vm/table", |trial| {
            let mut columns = vec![("Rate", Quantity::BitRate, f64::from(trial.block + 1) * 1e9)];
            columns.extend((trial.block > 0).then_some(("Retransmits", Quantity::Count, 4.0)));
            trial.measurement = reported_of(&columns);
        });
        let found = columns(&gather(&run.record)[0]);
        let said: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.quantity, it.value)).collect();
        assert_eq!(said, [("Rate", Quantity::BitRate, 2e9), ("Retransmits", Quantity::Count, 4.0)]);
    }
}
