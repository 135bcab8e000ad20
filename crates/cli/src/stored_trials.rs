//! Stores the trials of `plumb client` and `plumb ping` as a run, so that they can be reported and compared.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ::report::View;
use ::workload::WorkloadSettings;
use analysis::Single;
use anyhow::Result;
use clap::Args;
use findings::SingleMeasurement;
use jiff::Timestamp;
use samples::{
    PathRecord, ResultRecord, RunHeader, RunId, RunRecord, SCHEMA, ScenarioRecord, Sink, Trial,
    ValidityWarning, WorkloadSource,
};
use store::{Claim, PatientStore, Store};
use traffic::Stop;
use units::Nanos;

use crate::{
    amount, commands::report, contest::Sides, exit::Exit, output, program::TOOL, remedy_results, store_path,
    trial, watch::Watch,
};

const NAMES: [&str; 2] = ["client", "ping"];
const ASKED: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
#[command(next_help_heading = "Repetition")]
pub(crate) struct Repetition {
    /// Number of trials in the run. With several trials, the result has a confidence interval
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Pause between trials
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pause: Nanos,
    /// Do not store the run
    #[arg(long)]
    no_keep: bool,
    /// Print only the name of the stored run
    #[arg(long, short, conflicts_with_all = ["no_keep", "json"])]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrialOutput {
    Document,
    Nothing,
    Line,
    Page,
}

impl Repetition {
    pub(crate) const fn output(&self, json: bool) -> TrialOutput {
        match (json, self.quiet, self.repeat) {
            (true, ..) => TrialOutput::Document,
            (_, true, _) => TrialOutput::Nothing,
            (.., 1) => TrialOutput::Page,
            _ => TrialOutput::Line,
        }
    }
}

pub(crate) fn repeat(
    flags: &Repetition,
    mut trials: StoredTrials,
    stop: &Stop,
    mut once: impl FnMut(&mut StoredTrials) -> Result<Exit>,
) -> Result<Exit> {
    trials.stop = Some(stop.clone());
    for round in 0..flags.repeat {
        if round > 0 && !paused(flags.pause, stop) {
            break;
        }
        trials.round = round + 1;
        match once(&mut trials) {
            Ok(Exit::Success) => {}
            other => {
                trials.end()?;
                return other;
            }
        }
    }
    trials.end()?;
    Ok(if stop.is_asked() { Exit::Interrupted } else { Exit::Success })
}

fn paused(pause: Nanos, stop: &Stop) -> bool {
    let until = Instant::now() + Duration::from(pause);
    while !stop.is_asked() && Instant::now() < until {
        thread::sleep(ASKED.min(until.saturating_duration_since(Instant::now())));
    }
    !stop.is_asked()
}

pub(crate) struct StoredTrials {
    name: &'static str,
    db: Option<PathBuf>,
    enabled: bool,
    planned: u32,
    round: u32,
    pub(crate) output: TrialOutput,
    stop: Option<Stop>,
    run: Option<Run>,
    /// The conditions and names of both sides of `plumb vs`. The first side is the reference.
    sides: Option<([trial::Trial; 2], Sides)>,
}

struct Run {
    store: Store,
    id: RunId,
    count: u32,
    _claim: Claim,
}

impl StoredTrials {
    pub(crate) fn new(name: &'static str, db: Option<&Path>, flags: &Repetition, json: bool) -> Self {
        Self {
            name,
            db: db.map(Path::to_owned),
            enabled: !flags.no_keep,
            planned: flags.repeat,
            round: 0,
            output: flags.output(json),
            stop: None,
            run: None,
            sides: None,
        }
    }

    pub(crate) fn versus(self, sides: [trial::Trial; 2], names: Sides) -> Self {
        Self { sides: Some((sides, names)), ..self }
    }

    pub(crate) const fn round(&self) -> u32 {
        self.round
    }

    pub(crate) fn show(
        &self,
        single: &SingleMeasurement,
        watch: &Watch,
        document: impl FnOnce() -> serde_json::Result<String>,
    ) -> Result<()> {
        match self.output {
            TrialOutput::Document => output::line(document()?)?,
            TrialOutput::Nothing => {}
            TrialOutput::Line => watch.print(&self.line(single))?,
            TrialOutput::Page => watch.summarise(&trial::summary(single, self.view(single)))?,
        }
        Ok(())
    }

    /// Selects the full view if the trial is not stored, because `plumb explain` cannot show its details later.
    fn view(&self, single: &SingleMeasurement) -> View {
        let is_interrupted =
            |warning: &ValidityWarning| matches!(warning, ValidityWarning::Interrupted { .. });
        let is_stored = self.enabled && !single.warnings.iter().any(is_interrupted);
        if is_stored { View::Short } else { View::Full }
    }

    pub(crate) fn show_partial(
        &self,
        watch: &Watch,
        document: impl FnOnce(&[String]) -> serde_json::Result<String>,
    ) -> Result<Exit> {
        let totals = watch.totals();
        match self.output {
            TrialOutput::Document => output::line(document(&totals)?)?,
            TrialOutput::Nothing => {}
            TrialOutput::Line | TrialOutput::Page => watch.print_partial(&totals)?,
        }
        Ok(Exit::Interrupted)
    }

    fn line(&self, single: &SingleMeasurement) -> String {
        format!("trial {} of {}: {}", self.round, self.planned, ::report::measurement_line(single))
    }

    /// On failure, only prints a warning, because the measurement itself succeeded.
    pub(crate) fn keep(&mut self, conditions: &trial::Trial, load: &WorkloadSettings, measured: Trial) {
        if self.enabled
            && let Err(error) = self.store_trial(conditions, load, measured)
        {
            self.enabled = false;
            output::aside(format_args!("the trial was not stored: {error:#}"));
        }
    }

    fn store_trial(
        &mut self,
        conditions: &trial::Trial,
        load: &WorkloadSettings,
        measured: Trial,
    ) -> Result<()> {
        let run = match &mut self.run {
            Some(run) => run,
            None => {
                let mut store = store_path::open(self.db.as_deref())?;
                let stamp = Timestamp::now().strftime("%Y%m%d-%H%M%S");
                let (id, claim) = store.claim_new(&format!("{}-{stamp}", self.name))?;
                store.begin(&self.header(&id, conditions, load))?;
                store.complete(&id)?;
                self.run.insert(Run { store, id, count: 0, _claim: claim })
            }
        };
        let placed =
            Trial { index: run.count, block: self.round - 1, result: result(conditions, load), ..measured };
        let (notify, stop) = (|text: &str| output::aside(format_args!("note: {text}")), self.stop.clone());
        let is_stopped = || stop.as_ref().is_some_and(Stop::is_asked);
        PatientStore::new(&mut run.store, &notify, &is_stopped).trial(&run.id, &placed)?;
        run.count += 1;
        Ok(())
    }

    fn header(&self, id: &RunId, conditions: &trial::Trial, load: &WorkloadSettings) -> RunHeader {
        let text = command_line();
        let both = self.sides.as_ref().map(|(sides, _)| sides.each_ref());
        let all = both.as_ref().map_or(vec![conditions], |sides| sides.to_vec());
        let peers: Vec<&str> = all.iter().map(|conditions| conditions.peer()).collect();
        RunHeader {
            schema: SCHEMA,
            id: id.clone(),
            scenario: ScenarioRecord {
                name: self.name.to_owned(),
                title: format!("{} to {}", measured(load), peers.join(" and ")),
                about: String::new(),
                digest: scenario::digest(&text),
                text,
            },
            blocks: self.planned,
            planned: self.planned * all.len() as u32,
            started: conditions.started(),
            tool: TOOL.to_owned(),
            environment: Some(conditions.environment().clone()),
            paths: all.iter().map(|conditions| path_record(conditions)).collect(),
            results: all
                .iter()
                .enumerate()
                .map(|(place, conditions)| result_record(conditions, load, both.is_some() && place == 0))
                .collect(),
            ..RunHeader::default()
        }
    }

    fn end(self) -> Result<()> {
        let Some(run) = self.run else { return Ok(()) };
        if self.output == TrialOutput::Nothing {
            return Ok(output::line(&run.id)?);
        }
        if run.count > 1 && self.output != TrialOutput::Document {
            let (record, findings) = remedy_results::findings(&run.store, run.store.load(&run.id)?)?;
            output::coloured(&format!("\n{}", report::for_terminal(&findings, &record)?))?;
            if let Some((_, names)) = &self.sides {
                names.print(&findings)?;
            }
        }
        output::aside(format_args!("stored as {}", run.id));
        Ok(())
    }
}

/// Analyses a run's only trial as if `plumb client` or `plumb ping` had just measured it.
pub(crate) fn single(record: &RunRecord) -> Option<SingleMeasurement> {
    let header = &record.header;
    let ([trial], [result]) = (&record.trials[..], &header.results[..]) else { return None };
    let WorkloadSource::Load(load) = &result.sent else { return None };
    let single = Single {
        tool: &header.tool,
        started: trial.started,
        peer: &result.path,
        load,
        placement: &result.placement,
        measurement: &trial.measurement,
        cpu: &trial.cpu,
        warnings: &trial.warnings,
        environment: header.environment.as_ref(),
        devices: &trial.devices,
        counters: trial.counters.as_ref(),
    };
    NAMES.contains(&header.scenario.name.as_str()).then(|| analysis::single_measurement(&single))
}

fn path_record(conditions: &trial::Trial) -> PathRecord {
    PathRecord {
        name: conditions.peer().to_owned(),
        from: "local host".to_owned(),
        to: conditions.peer().to_owned(),
        devices: conditions.devices().iter().map(|device| device.device.clone()).collect(),
        ..PathRecord::default()
    }
}

fn result_record(conditions: &trial::Trial, load: &WorkloadSettings, baseline: bool) -> ResultRecord {
    ResultRecord {
        id: result(conditions, load),
        path: conditions.peer().to_owned(),
        workload: workload(load),
        levels: BTreeMap::new(),
        sent: WorkloadSource::Load(load.clone()),
        placement: conditions.placement().to_string(),
        baseline,
    }
}

fn result(conditions: &trial::Trial, load: &WorkloadSettings) -> String {
    format!("{}/{}", conditions.peer(), workload(load))
}

fn measured(load: &WorkloadSettings) -> &'static str {
    let name = load.kind().metric().measured_in();
    name.split_once(',').map_or(name, |(metric, _)| metric)
}

fn workload(load: &WorkloadSettings) -> String {
    measured(load).replace(' ', "-")
}

fn command_line() -> String {
    let shown = |word: String| match word.strip_prefix("--db=") {
        Some(place) => format!("--db={}", store_path::display(Path::new(place))),
        None if word.contains("://") => store_path::display(Path::new(&word)),
        None => word,
    };
    let words: Vec<String> = env::args().skip(1).map(shown).collect();
    format!("plumb {}", words.join(" "))
}
