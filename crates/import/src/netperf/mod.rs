//! Output of netperf 2.x: classic tests with and without headings (`-P 0`), interim results (`-D`), and selected
//! values as `NAME=value` lines (`-k`) or CSV (`-o`).
//!
//! A row without headings is read only below a heading of the same test or its command line.

mod banner;
mod classic;
mod interim;
mod rows;
mod selected_values;

use self::{
    banner::{Banner, banner, command},
    classic::{Classic, LineOutcome},
    selected_values::Chosen,
};
use crate::format::{Claim, Format, Line, Out};

/// Parses client output.
#[derive(Debug, Default)]
pub(crate) struct Netperf {
    test: Option<Classic>,
    chosen: Option<Chosen>,
    /// The last heading, which applies to selected values below it.
    latest: Option<Banner>,
}

impl Format for Netperf {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if let Some(banner) = banner(line.text) {
            // The command above announced the same test.
            self.test = self.test.take().filter(|test| !test.is_only_announced());
            self.end(out);
            self.latest = Some(banner.clone());
            self.test = Some(Classic::new(banner, line.number));
            return Claim::Claimed;
        }
        if let Some(banner) = command(line.text) {
            self.end(out);
            self.latest = Some(banner.clone());
            self.test = Some(Classic::announced(banner, line.number));
            return Claim::Declined;
        }
        if self.chosen_value(line, out) == Claim::Claimed {
            return Claim::Claimed;
        }
        let Some(test) = &mut self.test else { return Claim::Declined };
        match test.line(line, out) {
            LineOutcome::Nothing => Claim::Declined,
            LineOutcome::Something => Claim::Claimed,
        }
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(chosen) = self.chosen.take() {
            chosen.finish(self.latest.as_ref(), out);
        }
        if let Some(test) = self.test.take() {
            test.finish(out);
        }
        self.latest = None;
    }
}

impl Netperf {
    fn chosen_value(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let taken = match &mut self.chosen {
            Some(chosen) => chosen.line(line),
            None => {
                self.chosen = Chosen::begin(line);
                self.chosen.is_some()
            }
        };
        if taken {
            if let Some(test) = &mut self.test {
                test.has_chosen_values();
            }
            return Claim::Claimed;
        }
        if let Some(chosen) = self.chosen.take() {
            chosen.finish(self.latest.as_ref(), out);
        }
        self.chosen = Chosen::begin(line);
        if self.chosen.is_some() { Claim::Claimed } else { Claim::Declined }
    }
}

#[cfg(test)]
mod tests;
