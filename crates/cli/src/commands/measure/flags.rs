//! The flags of `plumb measure`.

use std::path::PathBuf;

use clap::Args;
use units::Nanos;

use crate::amount;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct MeasureArgs {
    /// The virtual machine: QEMU's PID, the guest's name, Proxmox's VM id, or the path of an unused QMP
    /// socket
    #[arg(short, long, value_name = "PID|NAME|SOCKET")]
    pub(super) qemu: String,
    /// Duration in seconds [default: 10]
    #[arg(id = "length", long = "for", alias = "time", short_alias = 't', value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) length: Option<Nanos>,
    /// Maximum rows per table
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) top: u16,
    /// Print a JSON document instead of a page
    #[arg(short = 'J', long)]
    pub(super) json: bool,
    /// Also write to this file: .json, .md (with all offloads), .txt
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

const AFTER_HELP: &str = "Does not change, stop or contact the guest: reads /proc, the host side of the \
    machine's devices, and probes in the host kernel. If the monitor's path is given, sends it read-only \
    commands and disconnects before measuring, because a monitor accepts one client at a time. Run as root \
    for complete results; otherwise, the output lists missing data.

Exit status: 0 success; 1 failure, or the virtual machine exited; 64 usage error, or no such virtual \
    machine; 130 interrupted (partial results are printed).";
