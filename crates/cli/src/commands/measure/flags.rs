//! The flags of `plumb measure`, as written.

use std::path::PathBuf;

use clap::Args;
use units::Nanos;

use crate::amount;

/// Flags of `plumb measure`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct MeasureArgs {
    /// The virtual machine: its QEMU's process, its guest's name, Proxmox's number, or the path of a monitor (QMP) that is free
    #[arg(short, long, value_name = "PID|NAME|SOCKET")]
    pub(super) qemu: String,
    /// Look for so long (seconds) [default: 10]
    #[arg(id = "length", long = "for", alias = "time", short_alias = 't', value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) length: Option<Nanos>,
    /// So many rows a table at most
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) top: u16,
    /// Print a JSON document instead of a page
    #[arg(short = 'J', long)]
    pub(super) json: bool,
    /// Write to this file too: .json, .md (with all offloads), .txt
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Nothing of the machine is changed or stopped, and its guest is asked nothing: all is read from /proc, from the host's side of \
its devices, and by probes in the host's kernel. A monitor takes one client at a time; it is asked only when its path is given, \
by commands that read, and let go before anything is measured. Root sees most; without, what is missing is said.

Exit status: 0 measured; 1 it failed, or the machine ended meanwhile; 64 usage error, or there is no such machine; \
130 interrupted (what was seen is printed).";
