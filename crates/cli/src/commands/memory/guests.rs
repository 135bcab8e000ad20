//! Flags of commands that boot their own guests to evaluate memory tracking and balancing.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use machine::Kernel;
use scenario::GuestKernel;
use units::Nanos;

use crate::failure::NoGuest;

#[derive(Debug, Args)]
pub(super) struct GuestArgs {
    /// Kernel to boot: a bzImage file, or an installed release, e.g. `6.12` [default: PLUMB_GUEST_KERNEL,
    /// or the newest in /boot, preferring kernels for virtual machines]
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<GuestKernel>,
    /// Directory of its modules, with modules.dep [default: /lib/modules/RELEASE]
    #[arg(long, value_name = "FOLDER", requires = "kernel")]
    modules: Option<PathBuf>,
    /// Sampling interval
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    interval: Nanos,
    /// Accesses per second of the program in each guest
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1000..=10_000_000))]
    pub(super) rate: u64,
    /// Print a JSON document instead of a table
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

impl GuestArgs {
    pub(super) fn kernel(&self) -> anyhow::Result<Kernel> {
        let kernel = match &self.kernel {
            Some(kernel) => Kernel::chosen(kernel, self.modules.clone()),
            None => Kernel::installed(),
        };
        kernel.context(NoGuest)
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval.into()
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|error: units::ParseQuantityError| error.to_string())?;
    if time.seconds() < 1.0 { Err("use at least 1 s".to_owned()) } else { Ok(time) }
}
