//! Trials of `plumb client` and `plumb ping` as a run that is kept, so that it is reported and compared like any other.
//! Must not know how a trial is made.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ::workload::WorkloadSettings;
use clap::Args;
use findings::SingleMeasurement;
use jiff::Timestamp;
use samples::{
    CellRecord, Design, Origin, PathRecord, RunHeader, RunId, RunState, SCHEMA, ScenarioRecord, Sink, Trial,
    WorkloadSource,
};
use store::{Claim, PatientStore, Store};
use traffic::Stop;
use units::Nanos;

use crate::{
    amount, commands::TOOL, commands::report, exit::Exit, output, remedy_results, store_path, trial,
};

/// So soon a request to stop is seen between two trials.
const ASKED: Duration = Duration::from_millis(50);

/// How often it is measured, and whether that is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Repetition")]
pub(crate) struct Repetition {
    /// Measure so many times: trials of one run, whose interval stands at the end
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Wait so long before each further time
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pause: Nanos,
    /// Keep no run of it
    #[arg(long)]
    no_keep: bool,
    /// Print the name of the run that is kept, and no result
    #[arg(long, short, conflicts_with_all = ["no_keep", "json"])]
    quiet: bool,
}

/// What is printed of each trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrialOutput {
    /// A JSON document.
    Document,
    Nothing,
    /// A line: what all of them come to follows.
    Line,
    /// Its lines while it is measured, and everything about it.
    Page,
}

impl Repetition {
    /// What is printed of each, with or without `--json`.
    pub(crate) const fn output(&self, json: bool) -> TrialOutput {
        match (json, self.quiet, self.repeat) {
            (true, ..) => TrialOutput::Document,
            (_, true, _) => TrialOutput::Nothing,
            (.., 1) => TrialOutput::Page,
            _ => TrialOutput::Line,
        }
    }
}

/// Measures as often as was asked, and ends with all of it; a trial that fails, or is interrupted, is the last one.
pub(crate) fn repeat(
    flags: &Repetition,
    mut kept: KeptTrials,
    stop: &Stop,
    mut once: impl FnMut(&mut KeptTrials) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    kept.stop = Some(stop.clone());
    for round in 0..flags.repeat {
        if round > 0 && !paused(flags.pause, stop) {
            break;
        }
        kept.round = round + 1;
        match once(&mut kept) {
            Ok(Exit::Success) => {}
            other => {
                kept.end()?;
                return other;
            }
        }
    }
    kept.end()?;
    Ok(if stop.is_asked() { Exit::Interrupted } else { Exit::Success })
}

/// Whether nobody asked to stop in the meantime.
fn paused(pause: Nanos, stop: &Stop) -> bool {
    let until = Instant::now() + Duration::from(pause);
    while !stop.is_asked() && Instant::now() < until {
        thread::sleep(ASKED.min(until.saturating_duration_since(Instant::now())));
    }
    !stop.is_asked()
}

/// The run that trials are kept in, from the first one on.
pub(crate) struct KeptTrials {
    /// The subcommand, which the run is called by.
    name: &'static str,
    db: Option<PathBuf>,
    wanted: bool,
    planned: u32,
    /// Which time it is, from 1.
    round: u32,
    /// What is printed of each trial.
    pub(crate) output: TrialOutput,
    /// By which the user asks for the end.
    stop: Option<Stop>,
    run: Option<Run>,
}

struct Run {
    store: Store,
    id: RunId,
    made: u32,
    _claim: Claim,
}

impl KeptTrials {
    pub(crate) fn new(name: &'static str, db: Option<&Path>, flags: &Repetition, json: bool) -> Self {
        Self {
            name,
            db: db.map(Path::to_owned),
            wanted: !flags.no_keep,
            planned: flags.repeat,
            round: 0,
            output: flags.output(json),
            stop: None,
            run: None,
        }
    }

    /// The trial that was just made in a line, before what all of them come to.
    pub(crate) fn line(&self, solo: &SingleMeasurement) -> String {
        format!("trial {} of {}: {}", self.round, self.planned, ::report::solo_line(solo))
    }

    /// Keeps a trial of this load; what cannot be kept was measured all the same, so that is said and no more.
    pub(crate) fn keep(&mut self, begun: &trial::Trial, load: &WorkloadSettings, made: Trial) {
        if self.wanted
            && let Err(error) = self.kept(begun, load, made)
        {
            self.wanted = false;
            output::aside(format_args!("not kept: {error:#}"));
        }
    }

    fn kept(&mut self, begun: &trial::Trial, load: &WorkloadSettings, made: Trial) -> anyhow::Result<()> {
        let run = match &mut self.run {
            Some(run) => run,
            None => {
                let mut store = store_path::open(self.db.as_deref())?;
                let stamp = Timestamp::now().strftime("%Y%m%d-%H%M%S");
                let (id, claim) = store.claim_new(&format!("{}-{stamp}", self.name))?;
                store.begin(&self.header(&id, begun, load))?;
                // There is nothing to resume.
                store.complete(&id)?;
                self.run.insert(Run { store, id, made: 0, _claim: claim })
            }
        };
        let placed = Trial { index: run.made, block: run.made, cell: cell(begun, load), ..made };
        let (tell, stop) = (|text: &str| output::aside(format_args!("note: {text}")), self.stop.clone());
        let is_stopped = || stop.as_ref().is_some_and(Stop::is_asked);
        PatientStore::new(&mut run.store, &tell, &is_stopped).trial(&run.id, &placed)?;
        run.made += 1;
        Ok(())
    }

    fn header(&self, id: &RunId, begun: &trial::Trial, load: &WorkloadSettings) -> RunHeader {
        // An address of a server has a password in it.
        let shown = |word: String| match word.strip_prefix("--db=") {
            Some(place) => format!("--db={}", store_path::shown(Path::new(place))),
            None if word.contains("://") => store_path::shown(Path::new(&word)),
            None => word,
        };
        let words: Vec<String> = env::args().skip(1).map(shown).collect();
        let text = format!("plumb {}", words.join(" "));
        let (peer, workload) = (begun.peer().to_owned(), workload(load));
        let path = PathRecord {
            name: peer.clone(),
            about: String::new(),
            from: "this machine".to_owned(),
            to: peer.clone(),
            layers: Vec::new(),
            devices: begun.devices().iter().map(|device| device.device.clone()).collect(),
            baseline: false,
        };
        let cell = CellRecord {
            id: cell(begun, load),
            path: peer.clone(),
            workload: workload.clone(),
            levels: BTreeMap::new(),
            sent: WorkloadSource::Load(load.clone()),
            placement: begun.placement().to_string(),
            baseline: false,
        };
        RunHeader {
            schema: SCHEMA,
            id: id.clone(),
            scenario: ScenarioRecord {
                name: self.name.to_owned(),
                title: format!("{} to {peer}", measured(load)),
                about: String::new(),
                digest: scenario::digest(&text),
                text,
            },
            seed: 0,
            blocks: self.planned,
            planned: self.planned,
            started: begun.started(),
            state: RunState::Unfinished,
            tool: TOOL.to_owned(),
            origin: Origin::Measured,
            design: Design::default(),
            tries: None,
            probes: Vec::new(),
            missing_probes: Vec::new(),
            machines: Vec::new(),
            environment: Some(begun.environment().clone()),
            paths: vec![path],
            cells: vec![cell],
        }
    }

    /// Says what was kept; of several trials what they come to.
    fn end(self) -> anyhow::Result<()> {
        let Some(run) = self.run else { return Ok(()) };
        if self.output == TrialOutput::Nothing {
            return Ok(output::line(&run.id)?);
        }
        if run.made > 1 && self.output != TrialOutput::Document {
            let (record, findings) = remedy_results::findings(&run.store, run.store.load(&run.id)?)?;
            output::coloured(&format!("\n{}", report::for_terminal(&findings, &record)?))?;
        }
        output::aside(format_args!("kept as {}", run.id));
        Ok(())
    }
}

/// The identity of the only cell.
fn cell(begun: &trial::Trial, load: &WorkloadSettings) -> String {
    format!("{}/{}", begun.peer(), workload(load))
}

/// `throughput`, `median round trip`.
fn measured(load: &WorkloadSettings) -> &'static str {
    let said = load.kind().metric().measured_in();
    said.split_once(',').map_or(said, |(metric, _)| metric)
}

/// What the workload is called: by what it is judged by.
fn workload(load: &WorkloadSettings) -> String {
    measured(load).replace(' ', "-")
}
