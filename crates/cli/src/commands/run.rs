//! `plumb run`: measures a scenario and reports the results.

mod change;
mod counted;
mod job;
pub(crate) mod probe;
mod recreate;
mod remedies;
mod resume;
mod shown;

use std::{cell::RefCell, collections::BTreeMap, path::PathBuf, sync::Arc};

use ::scenario::{Access, Host, Plan, ResultId, Scenario};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use fleet::{Controller, Presence};
use lab::{Attachments, ExistingHostUse, Inside, Request, RunError, Stop};
use machine::Rights;
use samples::{Objective, ProbeKind, SkippedResult};
use store::{PatientStore, Store};
use units::Nanos;

pub(super) use self::job::planned;
use self::{job::Job, shown::Shown};
use crate::{
    attached,
    commands::report::{self, OBJECTIVES},
    contest::Sides,
    exit::Exit,
    failure::NoRights,
    fleet_file::FleetFile,
    global_flags::GlobalFlags,
    interrupt, output,
    program::{PROGRAM, TOOL},
    remedy_results,
    settings::Settings,
    source::Source,
    store_path,
    value_parsers::one_of,
    variants::Variants,
};

#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// A built-in scenario's name, a scenario file, or a stored run to repeat
    #[arg(required_unless_present = "resume")]
    scenario: Option<String>,
    #[command(flatten)]
    variants: Variants,
    /// Resume an interrupted run [default: the latest unfinished one, of SCENARIO if given]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Trials per result, overriding the scenario. With --budget or --precision, this is the maximum [default
    /// with these flags: 20, with --count: 6]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: Option<u32>,
    /// Time budget for all trials, e.g. 10m. Trials are spent where the outcome is still open
    #[arg(long, value_name = "TIME", conflicts_with = "resume", value_parser = job::budget)]
    budget: Option<Nanos>,
    /// Stop measuring a result once its median is known to within this share, e.g. 2%
    #[arg(long, value_name = "SHARE", conflicts_with = "resume", value_parser = job::precision)]
    precision: Option<f64>,
    /// Objective of the recommendation. With --budget or --precision, it also guides the choice of trials
    /// [default: the scenario's, or efficient]
    #[arg(long, value_parser = one_of(OBJECTIVES), conflicts_with = "resume")]
    objective: Option<Objective>,
    /// Probes to use, e.g. cpu,syscalls,packet-way, or all, or none. Each result is also measured with these
    /// probes in the first blocks [default: the scenario's]
    #[arg(long, value_name = "PROBES", conflicts_with = "resume", value_parser = probe::chosen)]
    probe: Option<probe::Chosen>,
    /// Where to run: on this machine, or in a virtual hypervisor (an emulated machine with KVM and vhost-net)
    /// [default: in a hypervisor if the guests need features that this machine lacks]
    #[arg(long, value_enum, value_name = "WHERE")]
    inside: Option<Place>,
    /// Count executed instructions in an emulated machine instead of measuring times. Other load does not
    /// change the counts. Only for streams and ping-pong between namespaces
    #[arg(long, conflicts_with_all = ["inside", "probe", "firecracker", "try_remedies", "budget", "precision", "resume"])]
    count: bool,
    /// Firecracker binary [default: firecracker on the PATH]
    #[arg(long, value_name = "PATH")]
    firecracker: Option<PathBuf>,
    /// Seed for the trial order [default: the scenario's, or derived from the clock]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Measure only this path and the baseline (may be repeated)
    #[arg(long = "path", value_name = "PATH", conflicts_with = "resume")]
    paths: Vec<String>,
    /// Measure only this workload (may be repeated)
    #[arg(long = "workload", value_name = "WORKLOAD", conflicts_with = "resume")]
    workloads: Vec<String>,
    /// Keep trials disturbed by other CPU load, instead of repeating them (repeats take up to a third of the run's
    /// time)
    #[arg(long, env = "PLUMB_KEEP_DISTURBED", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    keep_disturbed: bool,
    /// Remove plumb's binary from SSH hosts after starting it, instead of keeping it for the next run
    #[arg(long)]
    no_cache: bool,
    /// Fail if another run is using one of the interfaces, instead of waiting
    #[arg(long)]
    no_wait: bool,
    /// Print the plan and its duration without measuring
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// After the run, test each recommended remedy that the lab can apply, by measuring with and without it
    /// in interleaved blocks
    #[arg(long)]
    try_remedies: bool,
    /// Also write the report to this file; its extension selects the format: .html, .md, .json, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the run's name instead of the report
    #[arg(long, short)]
    quiet: bool,
    /// Print plain lines instead of the live view
    #[arg(long, env = PLAIN, hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    plain: bool,
    /// The results that `plumb vs` measures. The value is `true` for results of A.
    #[arg(skip)]
    results: BTreeMap<ResultId, bool>,
    #[arg(skip)]
    sides: Option<Sides>,
}

const PLAIN: &str = "PLUMB_PLAIN";

impl RunArgs {
    pub(super) fn of_between(trials: u32, hops: bool, output: Option<PathBuf>) -> Self {
        let probe = hops.then(|| probe::Chosen(vec![ProbeKind::PacketWay]));
        Self { trials: Some(trials), probe, output, ..Self::default() }
    }

    pub(super) fn of_vs(
        scenario: &str,
        trials: Option<u32>,
        output: Option<PathBuf>,
        results: BTreeMap<ResultId, bool>,
        sides: Sides,
    ) -> Self {
        Self {
            scenario: Some(scenario.to_owned()),
            trials,
            output,
            results,
            sides: Some(sides),
            ..Self::default()
        }
    }

    /// Measures times in `time` trials per result. Without `time`, counts instructions.
    pub(super) fn of_bisect(
        scenario: &str,
        time: Option<u32>,
        paths: &[String],
        workloads: &[String],
    ) -> Self {
        Self {
            scenario: Some(scenario.to_owned()),
            // The median of three ignores one lab with a hash collision.
            trials: time.or(Some(3)),
            count: time.is_none(),
            paths: paths.to_vec(),
            workloads: workloads.to_vec(),
            ..Self::default()
        }
    }

    /// Applies the user's config file where no flag or environment variable is set, except to the plan of a resumed
    /// run.
    pub(crate) fn fill(&mut self, settings: &Settings) {
        if std::env::var_os(PLAIN).is_none() {
            self.plain |= settings.plain.unwrap_or(false);
        }
        if self.resume.is_none() {
            self.trials = self.trials.or(settings.trials);
            self.probe = self.probe.take().or_else(|| settings.probe.clone());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// On this machine. Results that it cannot measure are skipped
    Here,
    /// In a virtual hypervisor
    Hypervisor,
}

pub(crate) fn run(args: &RunArgs, shared: &GlobalFlags) -> Result<Exit> {
    let output = args.output.as_deref().map(report::Destination::parse).transpose()?;
    // Plan before acquiring privileges, because `--dry-run` does not need them.
    let new = if args.resume.is_none() { Some(job::planned(args, shared)?) } else { None };
    if let Some((source, plan)) = new.as_ref().filter(|_| args.dry_run) {
        super::scenario::print_plan(&source.scenario, plan)?;
        return Ok(Exit::Success);
    }
    let mut store = store_path::open(shared.db.as_deref())?;
    let job = match new {
        Some((source, plan)) => job::fresh(source, plan, &store)?,
        None => resume::resumed(args, args.resume.as_deref().unwrap_or_default(), &store, shared)?,
    };
    let endpoints = attached::open(&job.source.scenario.lab)?;
    let attachments = Arc::new(Attachments { endpoints, ..Attachments::default() });
    execute(args, &job, &attachments, &mut store, output.as_ref())
}

pub(super) fn between(
    args: &RunArgs,
    source: Source,
    confirm: impl FnOnce(&Plan) -> Result<()>,
    attachments: &Arc<Attachments>,
    shared: &GlobalFlags,
) -> Result<Exit> {
    let output = args.output.as_deref().map(report::Destination::parse).transpose()?;
    let plan = job::plan(args, &source.scenario)?;
    confirm(&plan)?;
    let mut store = store_path::open(shared.db.as_deref())?;
    let job = job::fresh(source, plan, &store)?;
    execute(args, &job, attachments, &mut store, output.as_ref())
}

fn execute(
    args: &RunArgs,
    job: &Job,
    attachments: &Arc<Attachments>,
    store: &mut Store,
    output: Option<&report::Destination>,
) -> Result<Exit> {
    // Only a single-threaded process can enter a user namespace, so do this before starting any thread. If the lab
    // creates no hosts, stay in the user's namespace, so that `ssh` runs as the calling user.
    let makes_hosts = !job.source.scenario.lab.outside().hosts.is_empty();
    let rights = makes_hosts.then(Rights::acquire).transpose().context(NoRights)?;
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let measure = |job: &Job, store: &mut Store| measure(job, args, rights, attachments, store, &stop);
    let skipped = match measure(job, store) {
        Err(error) if ended_early(&error) => {
            summarise(args, job, store)?;
            return Err(error);
        }
        measured => measured?,
    };
    if args.try_remedies && job.remedy_trials.is_none() {
        let main = store.load(&job.id)?;
        if let Some(remedy_trials) = remedies::job(&main, store)? {
            measure(&remedy_trials, store)?;
        }
    }
    finish(args, job, store, &skipped, output)
}

fn measure(
    job: &Job,
    args: &RunArgs,
    rights: Option<Rights>,
    attachments: &Arc<Attachments>,
    store: &mut Store,
    stop: &Stop,
) -> Result<Vec<SkippedResult>> {
    let mut progress = Shown::of(job, args.plain, args.keep_disturbed, stop);
    // Ignore errors, because other runs only use the announcement for a warning.
    let _presence = Presence::announce(&job.id.0);
    show_notices(job, rights, &mut progress);
    let request = Request {
        scenario: &job.source.scenario,
        text: &job.source.text,
        plan: &job.plan,
        id: job.id.clone(),
        remedy_trials: job.remedy_trials.as_ref(),
        resume: job.resume.as_ref(),
        agent: PROGRAM.into(),
        firecracker: args.firecracker.clone(),
        tool: TOOL,
        keep_disturbed: args.keep_disturbed,
        hosts: ExistingHostUse { cache: !args.no_cache, wait: !args.no_wait },
        fleet: fleet_of(&job.source.scenario, stop)?,
        attachments: Arc::clone(attachments),
        inside: None,
    };
    let inside = hypervisor_reason(job, args);
    if let Some(Inside { reason, .. }) = &inside {
        progress.notice(&format!("running in an emulated virtual hypervisor: {reason}"));
    }
    let progress = RefCell::new(progress);
    let mut observer = |event: &lab::Event<'_>| progress.borrow_mut().event(event);
    let (notify, is_stopped) = (|text: &str| progress.borrow_mut().notice(text), || stop.is_asked());
    let mut store = PatientStore::new(store, &notify, &is_stopped);
    let outcome = match inside {
        Some(inside) => lab::run_inside(&request, &inside, &mut store, &mut observer, stop),
        None => lab::run(&request, &mut store, &mut observer, stop),
    };
    Ok(outcome?.skipped)
}

fn show_notices(job: &Job, rights: Option<Rights>, progress: &mut Shown) {
    if rights == Some(Rights::UserNamespace) {
        progress.notice("running without root, in a user namespace; `plumb doctor` lists missing features");
    }
    for other in Presence::others(&job.id.0) {
        progress.notice(&format!("{other} is also measuring on this machine and shares its CPUs"));
    }
    for warning in scenario::uneven_networks(&job.source.scenario.lab) {
        progress.notice(&warning);
    }
    if let Some(warning) = super::scenario::too_few_trials(&job.plan) {
        progress.notice(&warning);
    }
}

fn fleet_of(scenario: &Scenario, stop: &Stop) -> Result<Option<Arc<Controller>>> {
    let by_member =
        |host: &Host| matches!(&host.existing, Some(found) if matches!(found.access, Access::Member { .. }));
    if !scenario.lab.hosts.iter().any(by_member) {
        return Ok(None);
    }
    let FleetFile { access, .. } = FleetFile::of_user()?;
    // Discard progress lines, because they would corrupt the live view. Errors already report disconnected agents.
    Ok(Some(Arc::new(Controller::open(&access, &stop.flag(), |_| ())?)))
}

fn ended_early(error: &anyhow::Error) -> bool {
    let of_run: Option<&RunError> = error.downcast_ref();
    of_run.is_some_and(|error| error.is_interrupted() || matches!(error, RunError::LeftOut { .. }))
}

fn summarise(args: &RunArgs, job: &Job, store: &Store) -> Result<()> {
    let record = store.load(&job.id);
    let Some(record) = record.ok().filter(|record| !args.quiet && !record.trials.is_empty()) else {
        return Ok(());
    };
    let findings = analysis::analyse(&record);
    Ok(output::coloured(&report::for_terminal(&findings, &record)?)?)
}

/// Returns why the run uses a virtual hypervisor, or `None` if it does not. A resumed run stays where it started.
fn hypervisor_reason(job: &Job, args: &RunArgs) -> Option<Inside> {
    if counted::is_counted(&job.plan) {
        return Some(Inside { reason: "to count instructions".to_owned(), counts: true, kernel: None });
    }
    let requested = (args.inside == Some(Place::Hypervisor)).then(|| "requested with --inside".to_owned());
    let resumed = || job.resume.as_ref()?.header.environment.as_ref()?.inside.clone();
    let lacking = || {
        let (scenario, firecracker) = (&job.source.scenario, args.firecracker.as_deref());
        lab::missing_here(scenario, &job.plan, firecracker).filter(|_| args.inside.is_none())
    };
    let reason = requested.or_else(resumed).or_else(lacking)?;
    Some(Inside { reason, counts: false, kernel: None })
}

fn finish(
    args: &RunArgs,
    job: &Job,
    store: &Store,
    skipped: &[SkippedResult],
    output: Option<&report::Destination>,
) -> Result<Exit> {
    let (record, findings) = remedy_results::findings(store, store.load(&job.id)?)?;
    if args.quiet {
        output::line(&job.id)?;
    } else {
        output::coloured(&report::for_terminal(&findings, &record)?)?;
    }
    if let Some(destination) = output {
        destination.write(&findings, &record)?;
        output::aside(format_args!("report written to {}", destination.path().display()));
    }
    if let Some(sides) = &args.sides {
        sides.print(&findings)?;
    }
    let nothing = record.trials.is_empty() && !skipped.is_empty();
    Ok(if nothing { Exit::Unable } else { Exit::Success })
}
