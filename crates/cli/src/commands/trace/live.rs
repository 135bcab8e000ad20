//! What happened in the last interval, shown in place on a terminal. Must not know how a page is made.

use ::report::SingleFormat;
use analysis::CallGrouping;
use console::Term;
use samples::{ProbeResults, Trace};

use super::{flags::TraceArgs, rendering, session::Observations};
use crate::{destination, output};

/// Lines of a terminal that stay free.
const FREE: usize = 1;
/// Tables of a page, lines around their rows, and rows that each has at least.
const TABLES: usize = 3;
const AROUND: usize = 34;
const LEAST: usize = 3;

/// The page that is shown meanwhile, on standard error.
pub(super) struct Live {
    /// `None` where nobody looks on.
    terminal: Option<Term>,
    by: CallGrouping,
    top: usize,
    shown: usize,
    before: Option<ProbeResults>,
}

impl Live {
    /// A program that was started has the terminal for itself.
    pub(super) fn new(args: &TraceArgs) -> Self {
        let terminal = Some(Term::stderr()).filter(|term| term.is_term() && args.command.is_empty());
        Self { terminal, by: rendering::by(args), top: usize::from(args.output.top), shown: 0, before: None }
    }

    /// Shows what was seen since the last time.
    pub(super) fn show(
        &mut self,
        seen: Observations,
        trace: impl FnOnce(Observations) -> Trace,
    ) -> anyhow::Result<()> {
        let Some(terminal) = &self.terminal else { return Ok(()) };
        let all = seen.observed.clone();
        let passed = match &self.before {
            Some(before) => analysis::observed_since(&all, before),
            None => all.clone(),
        };
        self.before = Some(all);
        // Devices and queues count from the beginning; the end shows them.
        let trace = trace(Observations { observed: passed, devices: Vec::new(), softnet: None, ..seen });
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

    /// Takes it away.
    pub(super) fn end(&mut self) {
        if let Some(terminal) = self.terminal.take() {
            // A terminal that is gone must not end a trace.
            if let Err(error) = terminal.clear_last_lines(self.shown) {
                output::aside(error);
            }
        }
    }
}
