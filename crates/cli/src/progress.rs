//! How a run shows that it goes on: a bar on a terminal, plain lines elsewhere.

use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use lab::Event;
use samples::{EndSeries, Measurement, Trial};
use units::{BitRate, Nanos};

use crate::say;

/// The progress of one run. Writes to standard error only.
pub(crate) struct Progress {
    bar: ProgressBar,
    planned: usize,
    /// What a trial takes by the plan's estimate, in nanoseconds.
    each: u64,
    cell: String,
    last: Option<String>,
}

impl Progress {
    /// For a run of `planned` trials that takes about `estimate` in all, of which `there` were made before.
    pub(crate) fn new(planned: usize, there: usize, estimate: Nanos) -> Self {
        let bar = ProgressBar::new(planned as u64);
        let template = "{bar:24.cyan/dim} {pos}/{len}  {prefix} left  {wide_msg}";
        let style = ProgressStyle::with_template(template).expect("the template is a valid constant");
        bar.set_style(style.progress_chars("━╸─"));
        let progress =
            Self { bar, planned, each: estimate.0 / planned.max(1) as u64, cell: String::new(), last: None };
        progress.bar.set_position(there as u64);
        progress.show_left(there as u64);
        if progress.is_plain() {
            let left = Nanos(progress.each * planned.saturating_sub(there) as u64);
            let resumed =
                if there > 0 { format!("{there} of {planned} trials are there, ") } else { String::new() };
            let trials = planned.saturating_sub(there);
            say::aside(format_args!("{resumed}{trials} trials to make, about {:.0?}", Duration::from(left)));
        } else {
            progress.bar.enable_steady_tick(Duration::from_millis(200));
        }
        progress
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Step(step) => self.message((*step).to_owned()),
            Event::Begun(header) => {
                let text = format!("run {} (seed {}, {} trials)", header.id, header.seed, header.planned);
                self.line(&text);
            }
            Event::Trial { planned, cell } => {
                self.bar.set_position(u64::from(planned.index));
                self.show_left(u64::from(planned.index));
                self.cell = cell.id.to_string();
                self.message(self.cell.clone());
            }
            Event::Rate { rate, round_trips, connections, .. } => {
                self.live(*rate, *round_trips, *connections);
            }
            Event::Kept(trial) => self.kept(trial),
            Event::Skipped(skip) => self.line(&format!("skipped {}, because {}", skip.cell, skip.because)),
            Event::Notice(text) => self.notice(text),
        }
    }

    /// Says something that the user should know.
    pub(crate) fn notice(&mut self, text: &str) {
        self.line(&format!("note: {text}"));
    }

    /// Takes the bar away.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }

    fn kept(&mut self, trial: &Trial) {
        self.bar.set_position(u64::from(trial.index) + 1);
        if self.is_plain() {
            say::aside(format_args!(
                "[{}/{}] {}  {}",
                trial.index + 1,
                self.planned,
                trial.cell,
                outcome(trial)
            ));
        }
    }

    fn live(&mut self, rate: Option<BitRate>, round_trips: Option<f64>, connections: Option<f64>) {
        let now = match (rate, round_trips, connections) {
            (Some(rate), ..) => rate.to_string(),
            (_, Some(round_trips), _) => format!("{round_trips:.0} round trips/s"),
            (.., Some(connections)) => format!("{connections:.0} connections/s"),
            (None, None, None) => return,
        };
        self.last = Some(now);
        self.message(format!("{}  {}", self.last.as_deref().unwrap_or_default(), self.cell));
    }

    /// The plan's estimate is better than the pace so far: trials of different workloads take different times.
    fn show_left(&self, done: u64) {
        let left = (self.planned as u64).saturating_sub(done) * self.each;
        let left = Duration::from_secs(Duration::from_nanos(left).as_secs_f64().round() as u64);
        self.bar.set_prefix(format!("{}", HumanDuration(left)));
    }

    fn message(&self, text: String) {
        self.bar.set_message(text);
    }

    fn line(&self, text: &str) {
        if self.is_plain() {
            say::aside(format_args!("{text}"));
        } else {
            self.bar.println(text);
        }
    }

    fn is_plain(&self) -> bool {
        self.bar.is_hidden()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// What a trial came to, in a word.
fn outcome(trial: &Trial) -> String {
    match &trial.measurement {
        Measurement::Stream(stream) => {
            EndSeries::rate_together(stream.flows.iter().map(|flow| &flow.receiver)).to_string()
        }
        Measurement::Connect(connect) => match connect.rate() {
            Some(rate) => format!("{rate:.0} connections/s"),
            None => "no connection".to_owned(),
        },
        Measurement::PingPong(ping) => match ping.round_trips.quantile(0.5) {
            Some(median) => format!("{median} median round trip"),
            None => "no round trip".to_owned(),
        },
        Measurement::Reported(_) => "reported elsewhere".to_owned(),
    }
}
