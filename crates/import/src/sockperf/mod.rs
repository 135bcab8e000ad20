//! Reads the output and the full log (`--full-log`) of sockperf 3.x.
//!
//! In ping-pong and under-load mode, sockperf prints half of each round trip unless `--full-rtt` is given. These values
//! are doubled, with a note. The full log contains send and receive times.

mod samples_log;
mod summary;

use self::{
    samples_log::SamplesLog,
    summary::{LineOutcome, Summary},
};
use crate::format::{Claim, Format, Line, Out};

#[derive(Debug, Default)]
pub(crate) struct Sockperf {
    summary: Option<Summary>,
    log: Option<SamplesLog>,
    noted_halves: bool,
}

impl Format for Sockperf {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if self.log_line(line, out) == Claim::Claimed {
            return Claim::Claimed;
        }
        if Summary::begins(line.text, self.summary.is_some()) {
            self.finish(out);
            self.summary = Some(Summary::new(line.number));
        }
        let Some(summary) = &mut self.summary else { return Claim::Declined };
        match summary.line(line, out) {
            LineOutcome::No => Claim::Declined,
            LineOutcome::More => Claim::Claimed,
            LineOutcome::All => {
                self.finish(out);
                Claim::Claimed
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(log) = self.log.take() {
            log.finish(false, out);
        }
        self.finish(out);
    }
}

impl Sockperf {
    fn log_line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if SamplesLog::begins(line.text) {
            if let Some(log) = self.log.take() {
                log.finish(false, out);
            }
            // The summary above covers the same messages and is not a separate test.
            self.log = Some(SamplesLog::new(line.number, self.summary.take()));
            return Claim::Claimed;
        }
        let Some(log) = &mut self.log else { return Claim::Declined };
        if line.text.starts_with("-----") {
            if let Some(log) = self.log.take() {
                log.finish(true, out);
            }
            return Claim::Claimed;
        }
        if line.text.starts_with(|c: char| c.is_ascii_digit()) {
            log.row(line);
            return Claim::Claimed;
        }
        if let Some(log) = self.log.take() {
            log.finish(false, out);
        }
        Claim::Declined
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(summary) = self.summary.take() {
            self.noted_halves |= summary.finish(self.noted_halves, out);
        }
    }
}

#[cfg(test)]
mod tests;
