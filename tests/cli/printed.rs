//! Numbers as pages print them, with the rounding that their digits imply.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    half: f64,
}

/// Half a unit in the last digit of a change is at least this fraction of the range that the two rounded values allow.
/// The minimum is one decimal of a change from 1.00 to 1.99.
const FINEST: f64 = 1.0 / 60.0;

/// Replaces an escaped pipe.
const PIPE: &str = "\u{1}";

impl Printed {
    pub(crate) fn read(text: &str) -> Option<(Self, &str)> {
        let text = text.trim_start();
        let sign = if text.starts_with('−') { -1.0 } else { 1.0 };
        let text = text.trim_start_matches(['−', '+']);
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let value: f64 = digits.parse().ok()?;
        Some((Self { value: sign * value, half: 0.5 * 0.1_f64.powi(decimals as i32) }, rest))
    }

    /// Reads e.g. `−3.99 Gbit/s, unclear`, and returns the text after the unit.
    pub(crate) fn quantity(text: &str) -> Option<(Self, &str)> {
        let (number, rest) = Self::read(text)?;
        let rest = rest.trim_start();
        let (unit, rest) = rest.split_at(rest.find([' ', ',', ';', ')']).unwrap_or(rest.len()));
        let factor = match unit {
            "Gbit/s" | "G/s" | "G" => 1e9,
            "Mbit/s" | "M/s" | "M" => 1e6,
            "kbit/s" | "k/s" | "k" => 1e3,
            "bit/s" | "/s" => 1.0,
            "s" => 1e9,
            "ms" => 1e6,
            "µs" => 1e3,
            "ns" => 1.0,
            _ => return None,
        };
        Some((Self { value: number.value * factor, half: number.half * factor }, rest))
    }

    /// Reads a change such as `−20.0 %`, a share such as `80.0 %`, or a multiple such as `2.31x`.
    pub(crate) fn ratio(text: &str) -> Option<(Self, &str)> {
        let text = text.trim_start();
        let (Self { value, half }, rest) = Self::read(text)?;
        if let Some(rest) = rest.strip_prefix('x') {
            return Some((Self { value, half }, rest));
        }
        let from = if text.starts_with(['−', '+']) { 1.0 } else { 0.0 };
        Some((Self { value: from + value / 100.0, half: half / 100.0 }, rest.trim_start().strip_prefix('%')?))
    }

    pub(crate) fn rounds(self, exact: f64) -> bool {
        (self.value - exact).abs() <= self.half * (1.0 + 1e-6) + 1e-9 * exact.abs()
    }

    /// Checks the ratio of two printed values.
    pub(crate) fn check_ratio(self, own: Self, reference: Self) {
        let [least, most] = reference.range().map(|it| it.max(f64::MIN_POSITIVE));
        let [low, high] = [own.range()[0] / most, own.range()[1] / least];
        assert!(self.allows(low, high), "{self:?}: {own:?} of {reference:?}");
        // Values have three digits, and so have ratios, but changes have one decimal also from 0 to 100 %.
        let digits = if self.value < 2.0 { self.value.min(1.0) } else { self.value };
        let finest = f64::max(0.0005 * digits, (high - low) * FINEST);
        assert!(self.half >= finest * (1.0 - 1e-9), "too many digits: {self:?}: {own:?} of {reference:?}");
    }

    /// Checks the difference of two printed values.
    pub(crate) fn check_difference(self, own: Self, reference: Self) {
        let [low, high] = [own.range()[0] - reference.range()[1], own.range()[1] - reference.range()[0]];
        assert!(self.allows(low, high), "{self:?}: {own:?} less {reference:?}");
        let finest = own.half.max(reference.half);
        assert!(self.half >= finest * (1.0 - 1e-9), "too many digits: {self:?}: {own:?} less {reference:?}");
    }

    fn range(self) -> [f64; 2] {
        [self.value - self.half, self.value + self.half]
    }

    pub(crate) fn allows(self, low: f64, high: f64) -> bool {
        let slack = 1e-9 * high.abs();
        self.value + self.half + slack >= low && self.value - self.half - slack <= high
    }
}

/// Returns a page's text in one line, without markup.
pub(crate) fn words(format: &str, page: &str) -> String {
    let mut text = page.replace('\u{a0}', " ").replace(['\u{200b}', '█', '●', '├', '┤', '─'], "");
    match format {
        "html" => {
            let is_inline =
                |tag: &str| ["span", "strong", "code"].contains(&tag.split(' ').next().unwrap_or_default());
            let text_of = |part: &str| match part.split_once('>') {
                Some((tag, text)) if is_inline(tag.trim_start_matches('/')) => text.to_owned(),
                Some((_, text)) => format!(" {text}"),
                None => String::new(),
            };
            text = text.replace("<wbr>", "").split('<').map(text_of).collect();
            for (escaped, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
                text = text.replace(escaped, sign);
            }
        }
        "latex" => {
            text = text
                .replace("$-$", "−")
                .replace("\\textmu{}", "µ")
                .replace("$\\rightarrow$", "→")
                .replace("$\\cdot$", "·");
            text = text.replace("{-}", "-").replace(" & ", " ").replace("\\\\", " ").replace(['\\', '$'], "");
            text = text.replace('~', " ");
        }
        "markdown" => {
            text = text.replace("\\|", PIPE).replace('|', " ").replace(PIPE, "|");
            text = text.replace("**", "").replace(['\\', '`'], "");
        }
        _ => {}
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) section: String,
    head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn all(markdown: &str) -> Vec<Self> {
        let (mut tables, mut section, mut within) = (Vec::<Self>::new(), String::new(), false);
        for line in markdown.lines() {
            section = line.strip_prefix("## ").map_or(section, str::to_owned);
            match (line.strip_prefix('|'), tables.last_mut().filter(|_| within)) {
                (Some(line), None) => {
                    tables.push(Self { section: section.clone(), head: cells(line), rows: Vec::new() });
                }
                (Some(line), Some(table)) if line.contains(|sign| !"|:- ".contains(sign)) => {
                    table.rows.push(cells(line));
                }
                _ => {}
            }
            within = line.starts_with('|');
        }
        tables
    }

    pub(crate) fn column(&self, title: &str) -> Option<usize> {
        self.head.iter().position(|head| head == title || head.starts_with(&format!("{title} (")))
    }
}

fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", PIPE);
    let cells = line.trim_end_matches('|').split('|');
    cells.map(|cell| words("markdown", cell).replace(PIPE, "|")).collect()
}
