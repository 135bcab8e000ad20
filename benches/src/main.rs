//! Plumbline beside its peers: the same work, interleaved, as ratios with intervals and the targets beside them.
//!
//! One file a bench, all of one shape (bench.rs). It must not know how a room does its work, and no number
//! that it measures makes it fail: only work that was not done does.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench times its contenders and lets the kernel come to rest"
)]

mod args;
mod bench;
mod comparison;
mod ends;
mod environment;
mod json;
mod namespaces;
mod ping_pong;
mod private;
mod rounds;
mod stream_app;
mod table;
mod wire;

use std::io::{Write, stdout};

use anyhow::Context;
use clap::Parser;

use crate::{args::Args, environment::Environment};

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Some(order) = &args.end {
        return ends::obey(order);
    }
    if !sys::userns::has_net_admin() {
        sys::userns::enter_as_root().context("benches need root, or root in a user namespace")?;
    }
    let environment = Environment::read();
    let mut comparisons = Vec::new();
    for bench in args.benches() {
        comparisons.extend((bench.run)(&args.bounds()).with_context(|| format!("bench `{}`", bench.name))?);
    }
    let text = if args.json {
        json::text(&environment, &comparisons)
    } else {
        table::text(&environment, &comparisons)
    };
    writeln!(stdout(), "{text}").context("write the result")
}
