//! Formats errors with their causes and hints, and chooses the exit status.

use std::{env, fmt, io};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use lab::RunError;
use machine::{FirecrackerError, GuestError, MachineError, MonitorError, QemuError};
use memory::MemoryError;
use probe::ProbeError;
use scenario::Diagnosis;
use watch::causes;

use crate::{commands::iperf3_flags, exit::Exit, misread::Misread, output};

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

#[derive(Debug)]
pub(crate) struct NoRights;

impl fmt::Display for NoRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a lab needs root privileges, or a host that allows user namespaces")
    }
}

/// Marks a check that could not run. Its exit status must differ from that of a regression.
#[derive(Debug)]
pub(crate) struct CheckFailure;

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the run could not be checked")
    }
}

#[derive(Debug)]
pub(crate) struct NoGuest;

impl fmt::Display for NoGuest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the guest failed to start")
    }
}

pub(crate) fn usage(mut error: clap::Error) -> Exit {
    remove_misleading_tips(&mut error);
    if let Some(message) = of_iperf3(&error) {
        return show(&Misuse::new(message).into());
    }
    let plain = error.to_string();
    if output::harmless(&plain) == plain {
        let _ = error.print();
    } else {
        output::aside(plain.trim_end());
    }
    if error.use_stderr() { Exit::Misuse } else { Exit::Success }
}

/// Removes two misleading suggestions: `--`, which clap suggests for every unknown flag, and subcommands with a
/// different first letter.
fn remove_misleading_tips(error: &mut clap::Error) {
    let _ = error.remove(ContextKind::Suggested);
    let (Some(ContextValue::Strings(mut similar)), Some(ContextValue::String(typed))) =
        (error.remove(ContextKind::SuggestedSubcommand), error.get(ContextKind::InvalidSubcommand))
    else {
        return;
    };
    similar.retain(|name| name.chars().next() == typed.chars().next());
    if !similar.is_empty() {
        let _ = error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(similar));
    }
}

fn of_iperf3(error: &clap::Error) -> Option<String> {
    let measures = is_command("client") || is_command("server");
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if measures && error.kind() == ErrorKind::UnknownArgument => {
            iperf3_flags::instead(flag)
        }
        _ => None,
    }
}

pub(crate) fn show(error: &anyhow::Error) -> Exit {
    let diagnosis = error.downcast_ref::<Diagnosis>().map(|it| it as &dyn miette::Diagnostic);
    if let Some(wrong) = diagnosis.or_else(|| error.downcast_ref::<Misread>().map(|it| it as _)) {
        output::coloured_aside(&underlined(wrong));
        return Exit::Misuse;
    }
    lines(error).iter().for_each(|line| output::coloured_aside(line));
    status(error)
}

fn lines(error: &anyhow::Error) -> Vec<String> {
    let label = console::style("error:").red().bold().for_stderr();
    let mut lines = vec![format!("{label} {}", output::harmless(&causes(error)))];
    lines.extend(hint(error).map(|hint| {
        let label = console::style("hint:").cyan().bold().for_stderr();
        format!("{label} {}", output::harmless(&hint))
    }));
    lines
}

/// Shows the part of a document that contains the error, and underlines the error. Omits colours if the document
/// contains terminal control characters.
fn underlined(diagnosis: &dyn miette::Diagnostic) -> String {
    let render = |colours: bool| {
        let handler = miette::MietteHandlerOpts::new();
        let handler = if colours { handler } else { handler.color(false) }.build();
        fmt::from_fn(|f| miette::ReportHandler::debug(&handler, diagnosis, f)).to_string()
    };
    let plain = render(false);
    match output::harmless(&plain) {
        shown if shown == plain => render(console::colors_enabled_stderr()),
        shown => shown.into_owned(),
    }
}

fn status(error: &anyhow::Error) -> Exit {
    match error.downcast_ref::<RunError>() {
        Some(error) if error.is_interrupted() => Exit::Interrupted,
        _ if matches!(error.downcast_ref(), Some(MonitorError::Interrupted)) => Exit::Interrupted,
        _ if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(MemoryError::Interrupted))) => {
            Exit::Interrupted
        }
        Some(RunError::Lacks { .. }) => Exit::Unable,
        _ if error.is::<Misuse>() => Exit::Misuse,
        _ if error.is::<CheckFailure>() => Exit::NotChecked,
        _ if error.is::<NoRights>() || missing_for_guests(error) => Exit::Unable,
        _ if matches!(error.downcast_ref(), Some(ProbeError::Unavailable { .. })) => Exit::Unable,
        _ if matches!(error.downcast_ref(), Some(traffic::Error::Setting { .. })) => Exit::Misuse,
        _ if error.downcast_ref::<traffic::Error>().is_some_and(traffic::Error::is_unsupported) => {
            Exit::Unable
        }
        _ => Exit::Failure,
    }
}

fn missing_for_guests(error: &anyhow::Error) -> bool {
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
        RunError::Interrupted => Some("finished trials are stored; continue with `plumb run --resume`".to_owned()),
        RunError::LeftOut { .. } => {
            Some("other results are stored; measure the missing ones with `plumb run --resume`".to_owned())
        }
        RunError::Agent { .. } | RunError::Silent { .. } | RunError::Refused { .. } | RunError::Read(_) => {
            let hint =
                "finished trials are stored; continue with `plumb run --resume`; `plumb doctor` checks \
                    this machine";
            Some(hint.to_owned())
        }
        _ => None,
    })
}

fn of_guest(error: &RunError) -> Option<String> {
    match error {
        RunError::Silent { .. } => Some(
            "emulated guests occasionally hang during boot, and are slow on a busy machine: try again; \
                `plumb doctor` checks this machine"
                .to_owned(),
        ),
        RunError::Agent { output, .. } if output.is_empty() => Some(
            "there was no output: QEMU was probably killed, perhaps by the OOM killer (check `dmesg`)"
                .to_owned(),
        ),
        RunError::Agent { .. } => Some(
            "the last output is from QEMU and the guest's console; a kernel needs modules of its own \
                release (--kernel, --modules) and enough memory (--memory)"
                .to_owned(),
        ),
        _ => None,
    }
}

const ROUND_TRIPS: &str =
    "ping needs `plumb server`, or `sockperf server` with --sockperf; an iperf3 server does not answer pings";

fn is_command(name: &str) -> bool {
    env::args().nth(1).is_some_and(|subcommand| subcommand == name)
}

fn of_traffic(error: &traffic::Error) -> Option<String> {
    match error {
        // An error from the kernel means that nothing is listening. A server that closes connections is running.
        traffic::Error::Socket { source, .. }
            if source.kind() == io::ErrorKind::ConnectionRefused && source.raw_os_error().is_some() =>
        {
            let hint = "nothing is listening there: is the server running, and on this port (-p)?";
            Some(if is_command("ping") { format!("{hint} {ROUND_TRIPS}") } else { hint.to_owned() })
        }
        traffic::Error::Socket { source, .. }
            if source.kind() == io::ErrorKind::AddrInUse && is_command("server") =>
        {
            let hint = "another program uses this port (`sudo ss -lntup` shows which); choose another with -p";
            Some(hint.to_owned())
        }
        traffic::Error::Socket { source, .. } if source.kind() == io::ErrorKind::AddrNotAvailable => {
            Some("this machine does not have that address: `ip address` lists its addresses".to_owned())
        }
        traffic::Error::System(error) if error.is_unsupported() && error.operation.contains("congestion") => {
            Some(format!("this kernel supports {}", sys::socket::available_congestion().join(", ")))
        }
        traffic::Error::Iperf3(failure) if failure.to_string().contains("TCP_CONGESTION") => Some(
            "a server without CAP_NET_ADMIN, e.g. `plumb server`, may only use the algorithms that its machine \
                allows; on the server, run `sysctl net.ipv4.tcp_allowed_congestion_control`, and add the \
                algorithm to this list with `sysctl -w net.ipv4.tcp_allowed_congestion_control=\"LIST\"`"
                .to_owned(),
        ),
        traffic::Error::Silent { .. } => {
            let hint = "a firewall may drop packets, or the server may be a different program";
            Some(if is_command("ping") { format!("{hint}: {ROUND_TRIPS}") } else { hint.to_owned() })
        }
        traffic::Error::CutShort { .. } => Some(
            "the server gave no reason: check its output, whether it is still running, and whether a \
                firewall resets connections"
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
    fn escapes_control_characters_of_guests_and_agents() {
        let obeyed = ["\u{1b}[2J", "\u{9b}31m", "\u{1b}[8m", "\u{202e}", "\r"];
        for sequence in obeyed {
            let hostile = || format!("panic{sequence} - not syncing");
            let errors = [
                RunError::Agent { host: "vm1".into(), source: ChannelError::Closed, output: hostile() },
                RunError::Silent { host: hostile(), what: "greet", seconds: 1.0, output: String::new() },
                RunError::Refused { host: "vm1".into(), what: "run", reason: hostile(), unsupported: false },
                RunError::Inside { reason: hostile() },
            ];
            let hinted = Misuse::new(hostile()).hint(hostile());
            for error in errors.map(anyhow::Error::from).into_iter().chain([hinted.into()]) {
                let lines = super::lines(&error);
                let shown = format!("\\u{:04x}", u32::from(sequence.chars().next().expect("contains one")));
                assert!(lines[0].contains(&shown), "{lines:?}");
                assert!(lines.iter().all(|line| output::harmless(line) == *line), "{lines:?}");
            }
        }
    }

    #[test]
    fn shows_document_with_control_characters_without_colours() {
        let text = "schema = 1\nname = \"x\u{9b}31m\"\n\u{1b}[2J";
        let diagnosis = scenario::Scenario::parse("file\u{202e}.toml", text).expect_err("is invalid");
        let shown = underlined(&diagnosis);
        assert_eq!(output::harmless(&shown), shown);
        assert!(shown.contains("\\u202e"), "{shown}");
    }
}
