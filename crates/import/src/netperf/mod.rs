//! Reads the output of netperf 2.x: classic tests with or without headings (`-P 0`), interim results (`-D`), and
//! selected values as `NAME=value` lines (`-k`) or CSV (`-o`).
//!
//! A row without headings is read only below its command line or a heading of the same test.

mod banner;
mod classic;
mod interim;
mod rows;
mod selected_values;
mod value_names;

use workload::Quantity;

use self::{
    banner::{Banner, banner, command},
    classic::{Classic, LineOutcome},
    selected_values::{Chosen, Fit, columns, is_heading},
};
use crate::{
    format::{Claim, Format, Line, Out},
    places::Places,
    quantity::leading_number,
    unit::unit,
};

#[derive(Debug, Default)]
pub(crate) struct Netperf {
    test: Option<Classic>,
    chosen: Option<Chosen>,
    latest: Option<Banner>,
    first: u64,
    headings: Vec<String>,
    misfits: Places,
}

impl Format for Netperf {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if let Some(mut banner) = banner(line.text) {
            // The command above may already announce this test.
            let announced =
                self.latest.take().filter(|_| self.test.as_ref().is_some_and(Classic::is_only_announced));
            self.test = self.test.take().filter(|test| !test.is_only_announced());
            self.end(out);
            if let Some(command) = announced.filter(|command| command.kind == banner.kind) {
                (banner.unit, banner.selectors) = (command.unit, command.selectors);
                banner.bare |= command.bare;
            }
            self.begin(Classic::new(banner.clone(), line.number), banner, line);
            return Claim::Claimed;
        }
        if let Some(banner) = command(line.text) {
            self.end(out);
            self.begin(Classic::announced(banner.clone(), line.number), banner, line);
            return Claim::Declined;
        }
        if self.chosen_value(line, out) == Claim::Claimed {
            return Claim::Claimed;
        }
        let Some(test) = &mut self.test else { return Claim::Declined };
        match test.line(line, out) {
            LineOutcome::Something => Claim::Claimed,
            LineOutcome::Nothing if is_row(line.text) && line.whole => {
                self.misfits.add(line.number);
                Claim::Claimed
            }
            LineOutcome::Nothing => Claim::Declined,
        }
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(chosen) = self.chosen.take() {
            chosen.finish(self.latest.as_ref(), out);
        }
        let misfits = std::mem::take(&mut self.misfits);
        if !misfits.is_empty() {
            let first = self.first;
            out.note(format!(
                "netperf test at line {first}: skipped rows that do not match its columns: {misfits}."
            ));
        }
        if let Some(test) = self.test.take() {
            test.finish(out);
        }
        self.latest = None;
        self.headings.clear();
    }
}

impl Netperf {
    fn begin(&mut self, test: Classic, banner: Banner, line: &Line<'_>) {
        (self.test, self.latest, self.first) = (Some(test), Some(banner), line.number);
    }

    fn chosen_value(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let banner = self.latest.as_ref();
        if let Some(chosen) = &mut self.chosen {
            if chosen.line(line, banner, out) == Fit::Yes {
                return self.claimed();
            }
            if matches!(chosen, Chosen::Pairs { .. }) {
                self.chosen.take().into_iter().for_each(|chosen| chosen.finish(banner, out));
            }
        }
        if let Some(begun) = Chosen::begin(line, banner) {
            self.chosen = Some(begun);
            return self.claimed();
        }
        let Some(banner) = banner else { return Claim::Declined };
        if !is_row(line.text) {
            if self.headings.len() < MOST_HEADINGS {
                self.headings.push(line.text.to_owned());
            }
            if !is_heading(line.text) || self.chosen.is_some() {
                return Claim::Declined;
            }
            // The line may also be a heading of a classic test.
            if line.text.starts_with(|sign: char| !sign.is_ascii_digit()) {
                let _ = self.test.as_mut().map(|test| test.line(line, out));
            }
            return Claim::Claimed;
        }
        if self.chosen.is_some() {
            return Claim::Declined;
        }
        let words = line.text.split_whitespace().count();
        let of_command = Some(&banner.selectors).filter(|names| names.len() == words && line.whole);
        let names = columns(&self.headings, line.text).or_else(|| of_command.cloned());
        let Some(mut rows) = names.map(|names| Chosen::rows(self.first, names)) else {
            return Claim::Declined;
        };
        if rows.line(line, self.latest.as_ref(), out) == Fit::No {
            return Claim::Declined;
        }
        self.chosen = Some(rows);
        self.headings.clear();
        self.claimed()
    }

    fn claimed(&mut self) -> Claim {
        if let Some(test) = &mut self.test {
            test.has_chosen_values();
        }
        Claim::Claimed
    }
}

const MOST_HEADINGS: usize = 6;

fn is_row(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    let is_value = |word: &str| {
        leading_number(word).is_some_and(|(_, rest)| rest.is_empty())
            || unit(word).is_some_and(|unit| matches!(unit.quantity, Quantity::BitRate | Quantity::PerSecond))
    };
    text.trim().starts_with(|sign: char| sign.is_ascii_digit())
        && words.peek().is_some()
        && words.all(is_value)
}

#[cfg(test)]
mod tests;
