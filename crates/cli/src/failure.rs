//! Errors as people see them: what, where, what to do; and the exit status that goes with each.

use std::{env, fmt, fs, io};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use lab::RunError;
use machine::{FirecrackerError, GuestError, MachineError, QemuError};
use probe::ProbeError;
use scenario::Diagnosis;

use crate::{commands::iperf3_flags, exit::Exit, misread::Misread, output};

/// A usage error.
#[derive(Debug)]
pub(crate) struct Misuse {
    message: String,
    hint: Option<String>,
}

impl Misuse {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misuse {}

/// The context of an error that keeps any lab from being raised.
#[derive(Debug)]
pub(crate) struct NoRights;

impl fmt::Display for NoRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a lab needs root, or a host that allows user namespaces")
    }
}

/// The context of an error that keeps a run from being checked: its exit status says nothing of a loss.
#[derive(Debug)]
pub(crate) struct CheckFailure;

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the run could not be checked")
    }
}

/// The context of an error that ended a guest by itself: no run is concerned.
#[derive(Debug)]
pub(crate) struct NoGuest;

impl fmt::Display for NoGuest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the guest did not come up")
    }
}

/// Prints what clap has to say: help and version are no failures.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    if let Some(said) = of_iperf3(error) {
        return show(&Misuse::new(said).into());
    }
    let plain = error.to_string();
    if output::harmless(&plain) == plain {
        // Nothing is left to be done when the terminal is gone.
        let _ = error.print();
    } else {
        output::aside(plain.trim_end());
    }
    if error.use_stderr() { Exit::Misuse } else { Exit::Success }
}

/// What to use instead of a flag that iperf3 has and plumb has not.
fn of_iperf3(error: &clap::Error) -> Option<String> {
    let measures = is_command("client") || is_command("server");
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if measures && error.kind() == ErrorKind::UnknownArgument => {
            iperf3_flags::instead(flag)
        }
        _ => None,
    }
}

/// Prints an error with all its causes and a hint.
pub(crate) fn show(error: &anyhow::Error) -> Exit {
    let diagnosis = error.downcast_ref::<Diagnosis>().map(|it| it as &dyn miette::Diagnostic);
    if let Some(wrong) = diagnosis.or_else(|| error.downcast_ref::<Misread>().map(|it| it as _)) {
        output::coloured_aside(&underlined(wrong));
        return Exit::Misuse;
    }
    said(error).iter().for_each(|line| output::coloured_aside(line));
    status(error)
}

/// The error, and a hint where there is one.
fn said(error: &anyhow::Error) -> Vec<String> {
    let label = console::style("error:").red().bold().for_stderr();
    let mut lines = vec![format!("{label} {}", output::harmless(&causes(error)))];
    lines.extend(hint(error).map(|hint| {
        let label = console::style("hint:").cyan().bold().for_stderr();
        format!("{label} {}", output::harmless(&hint))
    }));
    lines
}

/// What is wrong with a document, under its lines; without colours where the document has something that a terminal would obey.
fn underlined(diagnosis: &dyn miette::Diagnostic) -> String {
    let said = |colours: bool| {
        let handler = miette::MietteHandlerOpts::new();
        let handler = if colours { handler } else { handler.color(false) }.build();
        fmt::from_fn(|f| miette::ReportHandler::debug(&handler, diagnosis, f)).to_string()
    };
    let plain = said(false);
    match output::harmless(&plain) {
        shown if shown == plain => said(console::colors_enabled_stderr()),
        shown => shown.into_owned(),
    }
}

fn status(error: &anyhow::Error) -> Exit {
    match error.downcast_ref::<RunError>() {
        Some(error) if error.is_interrupted() => Exit::Interrupted,
        Some(RunError::Lacks { .. }) => Exit::Unable,
        _ if error.is::<Misuse>() => Exit::Misuse,
        _ if error.is::<CheckFailure>() => Exit::NotChecked,
        _ if error.is::<NoRights>() || lacks_for_guests(error) => Exit::Unable,
        _ if matches!(error.downcast_ref(), Some(ProbeError::Unavailable { .. })) => Exit::Unable,
        _ if matches!(error.downcast_ref(), Some(traffic::Error::Setting { .. })) => Exit::Misuse,
        _ if error.downcast_ref::<traffic::Error>().is_some_and(traffic::Error::is_unsupported) => {
            Exit::Unable
        }
        _ => Exit::Failure,
    }
}

/// Whether it is for want of what this machine would need for any guest.
fn lacks_for_guests(error: &anyhow::Error) -> bool {
    let started = error.downcast_ref::<RunError>().is_some_and(|error| {
        matches!(error, RunError::Machine(MachineError::Qemu { source: QemuError::NotInstalled, .. }))
    });
    started
        || matches!(error.downcast_ref(), Some(GuestError::NoKernel { .. }))
        || matches!(error.downcast_ref(), Some(QemuError::NoKvm(_)))
        || matches!(
            error.downcast_ref(),
            Some(FirecrackerError::NotInstalled { .. } | FirecrackerError::NoKvm(_))
        )
}

/// The error and its causes in one line, each said once.
pub(crate) fn causes(error: &anyhow::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if !said.iter().any(|earlier| earlier.contains(&text)) {
            said.push(text);
        }
    }
    said.join(": ")
}

fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(misuse) = error.downcast_ref::<Misuse>() {
        return misuse.hint.clone();
    }
    if let Some(error) = error.downcast_ref::<traffic::Error>() {
        return of_traffic(error);
    }
    if error.is::<NoGuest>() {
        return of_guest(error.downcast_ref()?);
    }
    error.chain().filter_map(|cause| cause.downcast_ref::<RunError>()).find_map(|cause| match cause {
        RunError::Interrupted => Some("finished trials are kept: `plumb run --resume` goes on".to_owned()),
        RunError::LeftOut { .. } => {
            Some("all else is kept: `plumb run --resume` measures what is missing".to_owned())
        }
        RunError::Agent { .. } | RunError::Silent { .. } | RunError::Refused { .. } | RunError::Read(_) => {
            let hint =
                "finished trials are kept: `plumb run --resume` goes on; `plumb doctor` checks this machine";
            Some(hint.to_owned())
        }
        _ => None,
    })
}

/// What to do about a guest.
fn of_guest(error: &RunError) -> Option<String> {
    match error {
        RunError::Silent { .. } => Some(
            "an emulated guest now and then hangs as it boots, and takes long beside other work: try again; \
             `plumb doctor` checks this machine"
                .to_owned(),
        ),
        RunError::Agent { said, .. } if said.is_empty() => Some(
            "it had said nothing: something killed QEMU, perhaps the kernel for want of memory (`dmesg` tells)"
                .to_owned(),
        ),
        RunError::Agent { .. } => Some(
            "the last output is that of QEMU and of the guest's console; a kernel needs the modules of its own \
             release (--kernel, --modules), and more than a little memory (--memory)"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Congestion controls that the kernel has, or has loaded.
const CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Who answers a ping.
const ROUND_TRIPS: &str =
    "a ping needs `plumb server` there, or `sockperf server` with --sockperf: iperf3 answers no round trips";

/// Whether this is that subcommand.
fn is_command(name: &str) -> bool {
    env::args().nth(1).is_some_and(|typed| typed == name)
}

/// What to look at when a server does not answer.
fn of_traffic(error: &traffic::Error) -> Option<String> {
    match error {
        // The kernel's own refusal; a server that closes a connection is there.
        traffic::Error::Socket { source, .. }
            if source.kind() == io::ErrorKind::ConnectionRefused && source.raw_os_error().is_some() =>
        {
            let hint = "nobody listens there: is the server running, on this port (-p)?";
            Some(if is_command("ping") { format!("{hint} {ROUND_TRIPS}") } else { hint.to_owned() })
        }
        traffic::Error::Socket { source, .. }
            if source.kind() == io::ErrorKind::AddrInUse && is_command("server") =>
        {
            let hint =
                "another program has this port: choose another one with -p; `ss -lntup`, as root, names it";
            Some(hint.to_owned())
        }
        traffic::Error::Socket { source, .. } if source.kind() == io::ErrorKind::AddrNotAvailable => {
            Some("this machine has no such address: `ip address` lists those that it has".to_owned())
        }
        traffic::Error::System(error) if error.is_unsupported() && error.operation.contains("congestion") => {
            let known = fs::read_to_string(CONGESTION_CONTROLS).ok()?;
            Some(format!("this kernel has {}", known.split_whitespace().collect::<Vec<_>>().join(", ")))
        }
        traffic::Error::Silent { .. } => {
            let hint = "a firewall may drop what is sent, or the server may be another program";
            Some(if is_command("ping") { format!("{hint}: {ROUND_TRIPS}") } else { hint.to_owned() })
        }
        traffic::Error::CutShort { .. } => Some(
            "the server did not say why: see what it printed, whether it still runs, and whether a firewall between \
             resets connections"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::ChannelError;

    #[test]
    fn what_a_guest_or_an_agent_says_is_shown_and_not_obeyed() {
        let obeyed = ["\u{1b}[2J", "\u{9b}31m", "\u{1b}[8m", "\u{202e}", "\r"];
        for sequence in obeyed {
            let said = || format!("panic{sequence} - not syncing");
            let errors = [
                RunError::Agent { host: "vm1".into(), source: ChannelError::Closed, said: said() },
                RunError::Silent { host: said(), what: "greet", seconds: 1.0, said: String::new() },
                RunError::Refused { host: "vm1".into(), what: "run", because: said(), unsupported: false },
                RunError::Inside { because: said() },
            ];
            let hinted = Misuse::new(said()).hint(said());
            for error in errors.map(anyhow::Error::from).into_iter().chain([hinted.into()]) {
                let lines = super::said(&error);
                let shown = format!("\\u{:04x}", u32::from(sequence.chars().next().expect("it has one")));
                assert!(lines[0].contains(&shown), "{lines:?}");
                assert!(lines.iter().all(|line| output::harmless(line) == *line), "{lines:?}");
            }
        }
    }

    #[test]
    fn a_document_with_such_signs_is_underlined_without_colours() {
        let text = "schema = 1\nname = \"x\u{9b}31m\"\n\u{1b}[2J";
        let diagnosis = scenario::Scenario::parse("file\u{202e}.toml", text).expect_err("it is none");
        let shown = underlined(&diagnosis);
        assert_eq!(output::harmless(&shown), shown);
        assert!(shown.contains("\\u202e"), "{shown}");
    }
}
