//! `plumb lab`: creates and removes persistent labs, and runs commands in them.

use std::{env, io, path::PathBuf, process::Command, time::Duration};

use ::lab::{PersistentHost, PersistentLab, Registry, Stop};
use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use machine::{Holder, Rights};
use probe::LabelledProcess;
use samples::TracedProcess;
use serde_json::json;

use crate::{
    exit::Exit,
    failure::{Misuse, NoRights},
    global_flags::GlobalFlags,
    interrupt,
    list_format::{self, ListFormat},
    output,
    program::PROGRAM,
    source,
};

/// `lab shell` sets this variable to the lab holder's PID/START_TIME.
const LABEL: &str = "PLUMB_LAB_HOLDER";
/// Time for a process to exit before it is killed.
const GRACE: Duration = Duration::from_secs(2);
const READY: &str = "ready";

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Create a scenario's lab and leave it running
    Up(UpArgs),
    /// List the running labs
    List(ListFormat),
    /// Run a shell or a command in a host of a running lab
    Shell(ShellArgs),
    /// Remove labs
    Down {
        /// Names of labs [default: the only running lab]
        #[arg(value_name = "LAB")]
        names: Vec<String>,
        /// Remove all labs
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Clean up after a crash
    Gc,
}

#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// A built-in scenario, a scenario file, or a stored run
    scenario: String,
    /// Name of the lab [default: the scenario's name]
    #[arg(long)]
    name: Option<String>,
    /// Run in the foreground, and remove the lab on exit
    #[arg(long)]
    foreground: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// The host
    host: String,
    /// The lab, if several are running
    #[arg(long)]
    lab: Option<String>,
    /// Command to run instead of a shell
    #[arg(last = true)]
    command: Vec<String>,
}

pub(crate) fn run(command: &LabCommand, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let registry = registry(matches!(command, LabCommand::Up(_)))?;
    match command {
        LabCommand::Up(args) if args.foreground => keep(&registry, args, shared)?,
        LabCommand::Up(args) => up(&registry, args, shared)?,
        LabCommand::List(format) => list(&registry, *format)?,
        LabCommand::Shell(args) => return Err(shell(&registry, args)?),
        LabCommand::Down { names, all } => return down(&registry, names, *all),
        LabCommand::Gc => gc(&registry)?,
    }
    Ok(Exit::Success)
}

/// Opens the directory that lists labs. Like the labs, it does not survive a reboot. Call this before entering a user
/// namespace, where root and other users cannot be distinguished.
fn registry(shall_be: bool) -> anyhow::Result<Registry> {
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = machine::runtime_folder(named, &env::temp_dir()).join("plumb/labs");
    let registry = if shall_be { Registry::create(&folder) } else { Registry::open(&folder) };
    registry.with_context(|| {
        format!("cannot list labs in {} (root uses /run, other users XDG_RUNTIME_DIR)", folder.display())
    })
}

fn up(registry: &Registry, args: &UpArgs, shared: &GlobalFlags) -> anyhow::Result<()> {
    let name = name_of(args, shared)?;
    let mut holder = Command::new(PROGRAM);
    holder.args(["lab", "up", "--foreground", "--name", &name, &args.scenario]);
    holder.envs(shared.db.iter().map(|file| ("PLUMB_DB", file)));
    let answer = Holder::start(&mut holder, "the lab's holder")?;
    if answer != READY {
        return Err(anyhow!(if answer.is_empty() {
            "the lab's holder exited without a message".to_owned()
        } else {
            answer
        }));
    }
    Ok(show(&registry.find(Some(&name))?)?)
}

fn keep(registry: &Registry, args: &UpArgs, shared: &GlobalFlags) -> anyhow::Result<()> {
    let result = try_keep(registry, args, shared);
    if let Err(error) = &result {
        // The parent command expects one line: this error or READY.
        output::line(watch::causes(error))?;
    }
    result
}

fn try_keep(registry: &Registry, args: &UpArgs, shared: &GlobalFlags) -> anyhow::Result<()> {
    let name = name_of(args, shared)?;
    let scenario = source::load(&args.scenario, shared)?.scenario;
    Rights::acquire().context(NoRights)?;
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    registry.keep(&name, &scenario, &stop, |_| {
        // The lab keeps running even if the parent command has exited.
        let _ = output::line(READY);
    })?;
    Ok(())
}

fn name_of(args: &UpArgs, shared: &GlobalFlags) -> anyhow::Result<String> {
    // Load the scenario here, too, so that this command reports its errors.
    let scenario = source::load(&args.scenario, shared)?.scenario;
    let name = args.name.clone().unwrap_or(scenario.name);
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(fine) {
        let message = format!("invalid lab name `{name}`");
        return Err(Misuse::new(message).hint("use letters, digits, dashes and underscores").into());
    }
    Ok(name)
}

fn show(lab: &PersistentLab) -> io::Result<()> {
    let PersistentLab { name, scenario, holder, .. } = lab;
    output::line(format_args!("lab {name} is running (scenario {scenario}, holder process {})", holder.pid))?;
    for host in &lab.hosts {
        output::line(format_args!("  {:<12} {}", host.name, host.addresses.join(", ")))?;
    }
    for missing in &lab.missing {
        output::line(format_args!("  missing: {missing}"))?;
    }
    let Some(host) = lab.hosts.first() else { return Ok(()) };
    let (enter, leave) = (format!("plumb lab shell {}", host.name), format!("plumb lab down {name}"));
    output::line(format_args!("enter it with `{enter}`, remove it with `{leave}`"))
}

fn list(registry: &Registry, format: ListFormat) -> anyhow::Result<()> {
    let labs = registry.list()?;
    if format.json {
        return list_format::json(labs.iter().map(|lab| {
            let hosts: Vec<&str> = lab.hosts.iter().map(|host| host.name.as_str()).collect();
            let holder = lab.holder.is_alive().then_some(lab.holder.pid);
            json!({ "lab": lab.name, "scenario": lab.scenario, "hosts": hosts, "holder": holder })
        }));
    }
    if labs.is_empty() {
        return Ok(output::line("no lab is up; `plumb lab up SCENARIO` creates one")?);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["LAB", "SCENARIO", "HOSTS", "HOLDER"]);
    for lab in &labs {
        let hosts: Vec<&str> = lab.hosts.iter().map(|host| host.name.as_str()).collect();
        let holder = if lab.holder.is_alive() {
            format!("process {}", lab.holder.pid)
        } else {
            "gone; run `plumb lab gc`".to_owned()
        };
        table.add_row([lab.name.clone(), lab.scenario.clone(), hosts.join(" "), holder]);
    }
    Ok(output::line(table)?)
}

/// Returns only if exec fails.
fn shell(registry: &Registry, args: &ShellArgs) -> anyhow::Result<anyhow::Error> {
    let lab = registry.find(args.lab.as_deref())?;
    let host = lab.hosts.iter().find(|host| host.name == args.host).ok_or_else(|| {
        let known: Vec<&str> = lab.hosts.iter().map(|host| host.name.as_str()).collect();
        Misuse::new(format!("lab {} has no host `{}`", lab.name, args.host))
            .hint(format!("its hosts: {}", known.join(", ")))
    })?;
    let shell = env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let (program, rest) = match args.command.split_first() {
        Some((program, rest)) => (program.as_str(), rest),
        None => (shell.as_str(), &[][..]),
    };
    let mut command = Command::new(program);
    command.args(rest).env("PLUMB_LAB", &lab.name).env("PLUMB_HOST", &host.name);
    command.env(LABEL, format!("{}/{}", lab.holder.pid, lab.holder.start_time));
    let error = machine::visit(lab.holder, host.descriptor, &mut command);
    Ok(anyhow::Error::new(error)
        .context(format!("cannot run {program} in host {} of lab {}", host.name, lab.name)))
}

/// Also ends processes that `lab shell` started. Prints a warning for other processes that still use a lab's network
/// namespaces.
fn down(registry: &Registry, names: &[String], all: bool) -> anyhow::Result<Exit> {
    let labs = match (all, names) {
        (true, _) => registry.list()?.into_iter().filter(|lab| lab.holder.is_alive()).collect(),
        (false, []) => vec![registry.find(None)?],
        (false, names) => {
            names.iter().map(|name| registry.find(Some(name))).collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut exit = Exit::Success;
    for lab in labs {
        let used = |host: &PersistentHost| {
            probe::namespace(&format!("/proc/{}/fd/{}", lab.holder.pid, host.descriptor)).ok()
        };
        let used: Vec<_> = lab.hosts.iter().filter_map(|host| Some((&host.name, used(host)?))).collect();
        registry.down(&lab).with_context(|| format!("cannot remove lab {}", lab.name))?;
        output::line(format_args!("removed lab {}", lab.name))?;
        end_shells(|holder| holder == lab.holder)?;
        for (host, namespace) in used {
            for TracedProcess { name, pid } in probe::in_namespace(namespace) {
                output::aside(format_args!(
                    "warning: {name} (process {pid}) still uses the network namespace of host {host}"
                ));
                exit = Exit::Failure;
            }
        }
    }
    Ok(exit)
}

/// Ends processes that `lab shell` started in these labs, unless this command itself runs in such a shell.
fn end_shells(is_removed: impl Fn(Holder) -> bool) -> anyhow::Result<bool> {
    if env::var_os(LABEL).is_some() {
        return Ok(false);
    }
    let mut found = false;
    for LabelledProcess { process: TracedProcess { name, pid }, start_time, value } in probe::labelled(LABEL)
    {
        let holder = value.split_once('/').and_then(|(pid, start_time)| {
            Some(Holder { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
        });
        if holder.is_some_and(&is_removed) {
            Holder { pid, start_time }.end(GRACE)?;
            output::prose(&format!("ended {name} (process {pid}), which `plumb lab shell` had started"))?;
            found = true;
        }
    }
    Ok(found)
}

fn gc(registry: &Registry) -> anyhow::Result<()> {
    let swept = registry.sweep()?;
    let ended = end_shells(|holder| !holder.is_alive())?;
    for lab in &swept {
        let (name, pid) = (&lab.name, lab.holder.pid);
        output::line(format_args!("cleaned up lab {name}, which had lost its holder (process {pid})"))?;
    }
    if swept.is_empty() && !ended {
        output::line("nothing to clean up")?;
    }
    Ok(())
}
