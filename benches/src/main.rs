//! Compares Plumbline with its peers doing the same work.
#![expect(clippy::disallowed_methods, reason = "times contenders and waits between rounds")]

mod args;
mod attacked;
mod bench;
mod boot;
mod comparison;
mod cpu;
mod ends;
mod environment;
mod import;
mod json;
mod listener;
mod memory;
mod meter;
mod namespaces;
mod others;
mod pacing;
mod ping_pong;
mod placement;
mod private;
mod process;
mod report;
mod rounds;
mod scratch;
mod stream;
mod table;
mod target;
mod tracers;
mod web_list;
mod wire;

use std::io::{Write, stdout};

use anyhow::{Context, ensure};
use clap::Parser;

use crate::{args::Args, environment::Environment};

fn main() -> anyhow::Result<()> {
    if let Some(done) = memory::in_guest() {
        return done;
    }
    let args = Args::parse();
    if let Some(order) = &args.end {
        return ends::obey(order);
    }
    if !sys::userns::has_net_admin() {
        sys::userns::enter_as_root().context("benches need root, or root in a user namespace")?;
    }
    let environment = Environment::read();
    let (mut comparisons, mut failures) = (Vec::new(), Vec::new());
    for bench in args.benches() {
        match (bench.run)(&args.bounds()) {
            Ok(more) => comparisons.extend(more),
            Err(error) => failures.push(format!("bench `{}`: {error:#}", bench.name)),
        }
    }
    let text = if args.json {
        json::text(&environment, &comparisons)
    } else {
        table::text(&environment, &comparisons)
    };
    writeln!(stdout(), "{text}").context("write the result")?;
    let ours = |it: &comparison::Comparison| {
        it.our_failure.as_ref().map(|failure| format!("bench `{}`: {}: {failure}", it.name, it.ours))
    };
    failures.extend(comparisons.iter().filter_map(ours));
    failures.dedup();
    ensure!(failures.is_empty(), "plumb did not do all of the work:\n{}", failures.join("\n"));
    Ok(())
}
