//! Parses a cell of a value column.

use workload::{Quantity, ReportedValue};

use super::column::{Column, Scale, cell_amount, is_blank};
use crate::quantity::Amount;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Blank,
    Value { value: ReportedValue, approximate: bool },
    Wrong,
}

pub(super) fn read(column: &Column, scale: Scale, text: &str) -> Cell {
    if is_blank(text) {
        return Cell::Blank;
    }
    let Some(amount) = cell_amount(text) else { return Cell::Wrong };
    match in_base(&amount, scale).filter(|value| *value >= 0.0 || may_be_negative(scale.quantity)) {
        Some(value) => Cell::Value {
            value: ReportedValue { name: column.name.clone(), quantity: scale.quantity, value },
            approximate: amount.approximate,
        },
        None => Cell::Wrong,
    }
}

/// A number without a unit is valid if the heading has the unit, the column needs none, or the number is zero.
fn in_base(amount: &Amount, scale: Scale) -> Option<f64> {
    let bare = matches!(scale.quantity, Quantity::Count | Quantity::Plain);
    match (amount.unit, scale.unit) {
        (Some(own), None) if own.quantity != scale.quantity => None,
        (None, None) if !bare => (amount.number == 0.0).then_some(0.0),
        (_, unit) => amount.in_base(unit),
    }
}

/// Only differences may be negative: percentages or plain numbers.
const fn may_be_negative(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Share | Quantity::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{markdown::column::Role, unit::unit};

    fn read_in(quantity: Quantity, heading: &str, text: &str) -> Option<f64> {
        let scale = Scale { quantity, unit: unit(heading).filter(|_| !heading.is_empty()) };
        let column = Column { name: "x".to_owned(), role: Role::Value(scale) };
        match read(&column, scale, text) {
            Cell::Value { value, .. } => Some(value.value),
            Cell::Blank | Cell::Wrong => None,
        }
    }

    #[test]
    fn accepts_only_values_in_the_unit_of_the_column() {
        use Quantity::{BitRate, Count, Plain, Share, Time};
        for (quantity, heading, text, value) in [
            (BitRate, "Gbit/sec", "12.7", Some(12.7e9)),
            (BitRate, "Gbit/sec", "1.5 Mbit/s", Some(1.5e6)),
            (BitRate, "Gbit/sec", "-12.7", None),
            (BitRate, "Gbit/sec", "12 ms", None),
            (BitRate, "", "23.5 Gbits/sec", Some(23.5e9)),
            (BitRate, "", "23.5", None),
            (BitRate, "", "9.44 Gbits/sec sender - 9.41 Gbits/sec receiver", Some(9.41e9)),
            (BitRate, "", "9.44 Gbits/sec - 9.41 Gbits/sec receiver", None),
            (BitRate, "", "0", Some(0.0)),
            (Share, "", "Baseline (100%)", Some(1.0)),
            (Share, "", "Baseline", None),
            (Share, "", "-3%", Some(-0.03)),
            (Count, "", "6,408", Some(6408.0)),
            (Count, "", "5 %", None),
            (Plain, "", "-1.5", Some(-1.5)),
            (Time, "us", "nan", None),
            (Time, "us", "1e400", None),
        ] {
            assert_eq!(read_in(quantity, heading, text), value, "{text} of {heading}");
        }
    }
}
