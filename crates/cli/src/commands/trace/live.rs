//! Shows the events of the last interval on a terminal, updated in place.

use ::report::SingleFormat;
use analysis::CallGrouping;
use console::Term;
use samples::{ProbeResults, Trace};

use super::{flags::TraceArgs, rendering, session::Observations};
use crate::{destination, output};

const FREE: usize = 1;
/// Number of tables, lines used by everything except table rows, and minimum rows per table.
const TABLES: usize = 3;
const AROUND: usize = 34;
const LEAST: usize = 3;

pub(super) struct Live {
    terminal: Option<Term>,
    by: CallGrouping,
    top: usize,
    shown: usize,
    before: Option<ProbeResults>,
}

impl Live {
    pub(super) fn new(args: &TraceArgs) -> Self {
        let terminal = Some(Term::stderr()).filter(|term| term.is_term() && args.command.is_empty());
        Self {
            terminal,
            by: rendering::grouping(args),
            top: usize::from(args.output.top),
            shown: 0,
            before: None,
        }
    }

    pub(super) fn show(
        &mut self,
        observations: Observations,
        trace: impl FnOnce(Observations) -> Trace,
    ) -> anyhow::Result<()> {
        let Some(terminal) = &self.terminal else { return Ok(()) };
        let all = observations.observed.clone();
        let passed = match &self.before {
            Some(before) => analysis::observed_since(&all, before),
            None => all.clone(),
        };
        self.before = Some(all);
        // Omit device and queue counters, because they are cumulative.
        let trace =
            trace(Observations { observed: passed, devices: Vec::new(), softnet: None, ..observations });
        let summary = analysis::trace(&trace, self.by);
        let rows = usize::from(terminal.size().0).saturating_sub(FREE);
        let top = (rows.saturating_sub(AROUND) / TABLES).clamp(LEAST, self.top.max(LEAST));
        let page = ::report::render_trace(&summary, top, SingleFormat::Terminal, &destination::here());
        let lines: Vec<&str> = page.lines().take(rows).collect();
        terminal.clear_last_lines(self.shown)?;
        terminal.write_line(&output::only_colours(&lines.join("\n")))?;
        self.shown = lines.len();
        Ok(())
    }

    pub(super) fn end(&mut self) {
        if let Some(terminal) = self.terminal.take() {
            // The trace must continue even if the terminal was closed.
            if let Err(error) = terminal.clear_last_lines(self.shown) {
                output::aside(error);
            }
        }
    }
}
