//! CSV (RFC 4180) with one row per result or trial. Column names are stable and include units. The last columns are
//! factors (`factor.NAME`), values from other tools (`reported.NAME`, in base units) and CPU usage (`consumer.NAME`).

mod comparison;
mod results;
mod table;
mod trials;

pub(crate) use comparison::{comparison, verdict};
pub(crate) use results::results;
pub(crate) use trials::trials;

use findings::{Basis, Distribution};
use workload::{Metric, Quantity};

pub(crate) fn line(fields: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<String> = fields.into_iter().map(|field| quoted(&field)).collect();
    quoted.join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

pub(crate) fn word(metric: Metric) -> String {
    metric.name().replace(' ', "-")
}

pub(crate) const fn unit(metric: Metric) -> &'static str {
    match metric.quantity() {
        Quantity::BitRate => "bit/s",
        Quantity::ByteRate => "B/s",
        Quantity::Time => "ns",
        Quantity::PerSecond => "1/s",
        Quantity::Size => "B",
        Quantity::Share | Quantity::Count | Quantity::Plain => "",
    }
}

pub(crate) const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Trials => "trials",
        Basis::Intervals => "intervals",
    }
}

pub(crate) fn at(times: &Distribution, share: f64) -> Option<String> {
    times.at(share).map(|time| time.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_fields_with_separators() {
        let fields = ["plain", "a,b", "say \"x\"", "two\nlines", ""].map(str::to_owned);
        assert_eq!(line(fields), "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\r\n");
    }
}
