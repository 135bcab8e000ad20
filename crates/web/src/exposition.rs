//! The Prometheus text format. Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;

#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    pub fn gauge(&mut self, name: &str, help: &str, values: impl Iterator<Item = (String, f64)>) {
        self.family(name, help, "gauge", values);
    }

    /// Writes a counter. Its name must end in `_total`.
    pub fn counter(&mut self, name: &str, help: &str, values: impl Iterator<Item = (String, f64)>) {
        self.family(name, help, "counter", values);
    }

    fn family(&mut self, name: &str, help: &str, kind: &str, values: impl Iterator<Item = (String, f64)>) {
        let mut values = values.peekable();
        if values.peek().is_some() {
            let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        }
        for (labels, value) in values {
            let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

#[must_use]
pub fn labels(all: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| {
        format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    };
    all.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_help_once_and_leaves_out_empty_families() {
        let mut text = Exposition::default();
        text.gauge("a_bytes", "Size.", [(String::new(), 1.5)].into_iter());
        text.gauge("b", "Nothing.", std::iter::empty());
        let values = [("x", 1.0), ("y", 2.0)].map(|(of, value)| (labels(&[("of", of)]), value));
        text.counter("c_total", "Count.", values.into_iter());
        assert_eq!(
            text.into_text(),
            "# HELP a_bytes Size.\n# TYPE a_bytes gauge\na_bytes 1.5\n\
             # HELP c_total Count.\n# TYPE c_total counter\nc_total{of=\"x\"} 1\nc_total{of=\"y\"} 2\n"
        );
    }

    #[test]
    fn escapes_label_values() {
        assert_eq!(labels(&[("a", "x\"\\\n"), ("b", "y")]), r#"a="x\"\\\n",b="y""#);
    }
}
