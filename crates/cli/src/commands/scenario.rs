//! `plumb scenario`: lists, shows, creates and checks scenarios.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use ::scenario::{Diagnosis, PathName, Plan, PlanOptions, Scenario, builtin, template, variant};
use anyhow::{Context, Result};
use clap::{
    Args, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser},
};
use comfy_table::{ContentArrangement, Table, presets};
use lab::Forecast;
use samples::{Arm, Objective};
use serde_json::json;
use sys::output_file;
use units::{Nanos, Share};

use crate::{
    exit::Exit,
    failure::Misuse,
    global_flags::GlobalFlags,
    list_format::{self, ListFormat},
    output, source,
    variants::Variants,
    width,
};

#[derive(Debug, Subcommand)]
pub(crate) enum ScenarioCommand {
    /// List the built-in scenarios
    List(ListFormat),
    /// Write a commented scenario as a starting point
    New(NewArgs),
    /// Print a scenario file
    Show {
        /// A built-in scenario's name, a scenario file, or a stored run
        #[arg(value_name = "NAME")]
        scenario: String,
        #[command(flatten)]
        variants: Variants,
    },
    /// Check a scenario and show what it would measure
    Check {
        /// A scenario file, or a built-in scenario's name
        #[arg(value_name = "FILE")]
        scenario: String,
        #[command(flatten)]
        variants: Variants,
        /// Format of errors
        #[arg(long, value_enum, default_value = "text")]
        format: CheckFormat,
    },
    /// Print the JSON Schema of scenario files, for editors
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the scenario and its file: NAME.toml
    name: String,
    /// Contents of the lab
    #[arg(long, value_name = "LAB", default_value = "two-guests", value_parser = a_template())]
    with: String,
    /// Write to this file instead. `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text with the location underlined
    Text,
    /// One `FILE:LINE:COLUMN: message` per line
    Short,
    /// A JSON array
    Json,
}

pub(crate) fn run(command: &ScenarioCommand, shared: &GlobalFlags) -> Result<Exit> {
    match command {
        ScenarioCommand::List(format) => list(*format)?,
        ScenarioCommand::New(args) => new(args)?,
        ScenarioCommand::Show { scenario, variants } => {
            output::text(scenario_text(scenario, variants, shared)?)?;
        }
        ScenarioCommand::Check { scenario, variants, format } => {
            return check(scenario, variants, *format, shared);
        }
        ScenarioCommand::Schema => super::schema::print(&::scenario::schema())?,
    }
    Ok(Exit::Success)
}

fn a_template() -> PossibleValuesParser {
    let value = |template: &template::Template| PossibleValue::new(template.name).help(template.about);
    PossibleValuesParser::new(template::ALL.iter().map(value))
}

fn new(args: &NewArgs) -> Result<()> {
    let NewArgs { name, with, output } = args;
    let chosen = template::ALL.iter().find(|template| template.name == with);
    let text = chosen.context("clap accepts only these names")?.named(name);
    let _ = Scenario::parse(name, &text)?;
    write_new(name, &text, output.as_deref())
}

pub(super) fn write_new(name: &str, text: &str, output: Option<&Path>) -> Result<()> {
    let path = output.map(Path::to_owned).unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    if path.as_os_str() == "-" {
        return Ok(output::text(text)?);
    }
    if let Err(error) = output_file::write_new(&path, text.as_bytes(), 0o666) {
        return Err(Misuse::new(error.to_string()).hint("choose another name, or use --output FILE").into());
    }
    let path = if path.components().count() > 1 { path } else { Path::new(".").join(path) };
    let shown = path.display();
    Ok(output::prose(&format!(
        "wrote {shown}; next: `plumb scenario check {shown}`, then `plumb run {shown}`"
    ))?)
}

/// Does not validate the scenario unless variants have to be applied.
fn scenario_text(name: &str, variants: &Variants, shared: &GlobalFlags) -> Result<String> {
    if variants.are_none() {
        Ok(source::text(name, shared)?.1)
    } else {
        Ok(source::load_variant(name, variants, shared)?.text)
    }
}

struct Listed {
    scenario: Scenario,
    variants: Vec<String>,
    takes: Nanos,
}

fn list(format: ListFormat) -> Result<()> {
    let listed = |builtin: &builtin::Builtin| -> Result<Listed> {
        let scenario = Scenario::parse(builtin.name, builtin.text)?;
        let plan = Plan::expand(&scenario, 0, &PlanOptions::default());
        let takes = lab::run_time(&scenario, &plan, Nanos(0), false);
        Ok(Listed { scenario, variants: variant::names(builtin.text), takes })
    };
    let all: Vec<Listed> = builtin::all().iter().map(listed).collect::<Result<_>>()?;
    if format.json {
        return list_format::json(all.iter().map(|Listed { scenario, variants, takes }| {
            let (name, title, seconds) = (&scenario.name, &scenario.title, takes.seconds());
            json!({ "scenario": name, "title": title, "variants": variants, "takes_seconds": seconds })
        }));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if let Some(columns) = width::of_output().and_then(|columns| u16::try_from(columns).ok()) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    }
    table.set_header(["SCENARIO", "VARIANTS", "DURATION", "DESCRIPTION"]);
    for Listed { scenario, variants, takes } in all {
        table.add_row([scenario.name, variants.join(", "), minutes(takes.seconds()), scenario.title]);
    }
    Ok(output::line(table)?)
}

fn check(name: &str, variants: &Variants, format: CheckFormat, shared: &GlobalFlags) -> Result<Exit> {
    match checked(name, variants, shared)? {
        CheckResult::Consistent(scenario) => {
            if format == CheckFormat::Json {
                output::line("[]")?;
            } else {
                print_plan(&scenario, &Plan::expand(&scenario, 0, &PlanOptions::default()))?;
            }
            Ok(Exit::Success)
        }
        CheckResult::Wrong(diagnosis) => refuse(diagnosis, format),
    }
}

enum CheckResult {
    Consistent(Box<Scenario>),
    Wrong(Diagnosis),
}

impl From<Result<Scenario, Diagnosis>> for CheckResult {
    fn from(parsed: Result<Scenario, Diagnosis>) -> Self {
        parsed.map_or_else(Self::Wrong, |scenario| Self::Consistent(Box::new(scenario)))
    }
}

fn checked(name: &str, variants: &Variants, shared: &GlobalFlags) -> Result<CheckResult> {
    let (source_name, text) = source::text(name, shared)?;
    let plain = match Scenario::parse(&source_name, &text) {
        Ok(scenario) => scenario,
        Err(diagnosis) => return Ok(CheckResult::Wrong(diagnosis)),
    };
    for known in variant::names(&text) {
        let (source_name, text) = Variants::named(&[known]).of(&source_name, &text, &plain)?;
        if let Err(diagnosis) = Scenario::parse(&source_name, &text) {
            return Ok(CheckResult::Wrong(diagnosis));
        }
    }
    let (source_name, text) = variants.of(&source_name, &text, &plain)?;
    Ok(Scenario::parse(&source_name, &text).into())
}

fn refuse(diagnosis: Diagnosis, format: CheckFormat) -> Result<Exit> {
    match format {
        CheckFormat::Text => return Err(diagnosis.into()),
        CheckFormat::Short => {
            for place in diagnosis.problems() {
                let (name, message) = (diagnosis.source_name(), &place.message);
                output::line(format_args!("{name}:{}:{}: {message}", place.line, place.column))?;
            }
        }
        CheckFormat::Json => {
            let places: Vec<_> = diagnosis.problems().collect();
            output::line(serde_json::to_string_pretty(&places)?)?;
        }
    }
    Ok(Exit::Misuse)
}

pub(crate) fn print_plan(scenario: &Scenario, plan: &Plan) -> io::Result<()> {
    output::line(format_args!("{}: {}", scenario.name, scenario.title))?;
    output::line("paths:")?;
    // If a workload lists hosts, the first host is its baseline.
    let baselines: HashSet<&PathName> =
        plan.results.iter().filter(|result| result.baseline).map(|result| &result.path).collect();
    for path in &scenario.paths {
        let is_baseline = path.baseline || baselines.contains(&path.name);
        print_path(path, if is_baseline { "  (baseline)" } else { "" })?;
    }
    for warning in scenario::uneven_networks(&scenario.lab) {
        output::line(format_args!("warning: {warning}"))?;
    }
    for workload in scenario::unpinned_workloads(scenario, plan) {
        output::prose(&format!(
            "warning: workload `{workload}` is not pinned: the scheduler may move its client and server to \
                other CPUs, which often makes results bimodal; use placement = \"cross-cpu\", or \"same-cpu\" for latency"
        ))?;
    }
    output::line("results:")?;
    for result in &plan.results {
        output::line(format_args!("  {}", result.id))?;
    }
    print_size(plan)?;
    let boots = match lab::guests(scenario, plan) {
        0 => return Ok(()),
        1 => "boot time of its guest".to_owned(),
        some => format!("boot time of {some} guests"),
    };
    output::line(format_args!("plus the {boots}: `plumb doctor` boots one and estimates the duration here"))
}

fn print_path(path: &scenario::Path, mark: &str) -> io::Result<()> {
    if path.is_host() {
        return output::line(format_args!("  {}: single host{mark}", path.name));
    }
    let layers: Vec<&str> = path.layers.iter().map(|layer| layer.word()).collect();
    let (from, to) = (&path.from.device, &path.to.device);
    output::line(format_args!("  {}: {from} -> {to} via {}{mark}", path.name, layers.join(", ")))
}

fn print_size(plan: &Plan) -> io::Result<()> {
    let results = match plan.results.len() {
        1 => "1 result".to_owned(),
        some => format!("{some} results"),
    };
    let trials = plan.trials.len();
    let blocks = plan.trials.last().map_or(0, |trial| trial.block + 1);
    let times = format!("each result once in each of {blocks} blocks, baselines twice{}", probed(plan));
    match lab::forecast(plan) {
        Some(forecast) => {
            output::prose(&format!("up to {trials} trials of {results}: {times}"))?;
            print_design(plan, &forecast)
        }
        None => {
            let takes = minutes(plan.duration_estimate().seconds());
            output::prose(&format!("{trials} trials of {results}, about {takes}: {times}"))
        }
    }?;
    too_few_trials(plan).map_or(Ok(()), output::line)
}

pub(crate) fn too_few_trials(plan: &Plan) -> Option<String> {
    let least = lab::trials_lacking(plan)?;
    let trials = match plan.trials.last().map_or(0, |trial| trial.block + 1) {
        1 => "with 1 trial per result,".to_owned(),
        trials => format!("with {trials} trials per result,"),
    };
    Some(format!("{trials} no difference can be established: at least {least} are needed"))
}

fn probed(plan: &Plan) -> String {
    let probed = plan.trials.iter().filter(|trial| trial.arm == Arm::Probed);
    let Some(last) = probed.map(|trial| trial.block).max() else { return String::new() };
    let probes: Vec<&str> = plan.probes.iter().map(|kind| kind.word()).collect();
    format!("; once more with probes ({}) in the first {}", probes.join(", "), last + 1)
}

fn print_design(plan: &Plan, forecast: &Forecast) -> io::Result<()> {
    let (design, screening) = (plan.design, minutes(forecast.screening.seconds()));
    let times = match forecast.screening_blocks {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        blocks => format!("{blocks} times"),
    };
    output::line("trials are chosen during the run:")?;
    let first = forecast.screening_trials;
    output::line(format_args!("  first every result {times}: {first} trials, about {screening}"))?;
    if design.until_clear {
        output::line("  then only results in undecided comparisons, until all are decided")?;
    } else {
        output::line(format_args!(
            "  then only results that can still be {}, or where a curve may flatten",
            sought(design.objective)
        ))?;
    }
    if let Some(precision) = design.precision.map(Share) {
        output::line(format_args!("  a result is complete when its median is known to within ±{precision}"))?;
    }
    let most = minutes(forecast.most.seconds());
    let bound = match design.budget {
        Some(budget) if budget == forecast.most => "the budget",
        Some(_) => "even all trials take less than the budget",
        None => "if no result is complete earlier",
    };
    output::line(format_args!("  up to {most} in total: {bound}"))?;
    if forecast.is_too_short() {
        let least = minutes(forecast.pass.seconds().ceil());
        output::line(format_args!(
            "  `plumb run` refuses this budget: measuring every result once takes about {least}"
        ))?;
    }
    Ok(())
}

fn sought(objective: Objective) -> &'static str {
    match objective {
        Objective::Max => "the best",
        Objective::Efficient => "the most efficient within 10 % of the best",
        Objective::LowCpu => "the cheapest that reaches at least half of the best",
    }
}

pub(crate) fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.1} min", seconds / 60.0) }
}
