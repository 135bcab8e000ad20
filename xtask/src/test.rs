//! `cargo xtask test`: runs every test of the house, shows what they print as they print it, and ends with
//! one line that counts them. Must not know any test.

mod tally;

use std::io::{BufRead, BufReader};
use std::process::{Child, ExitCode, Stdio};

use anyhow::{Context, Result};
use clap::Args;

use crate::house::House;
use tally::Tally;

/// What to run.
#[derive(Args)]
pub(crate) struct Request {
    /// Handed to `cargo test`, such as `--package stats` or `-- NAME`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    cargo_test: Vec<String>,
}

/// Runs `cargo test`; the exit status tells whether every test program ended well.
pub(crate) fn run(house: &House, request: &Request) -> Result<ExitCode> {
    // Tests that drive the binary do not make cargo build it.
    let mut tally = Tally::default();
    let mut good = house.plumb().inspect_err(|error| eprintln!("error: {error:#}")).is_ok();
    if good {
        let mut args = vec!["test", "--release", "--no-fail-fast"];
        args.extend(request.cargo_test.iter().map(String::as_str));
        let mut child = house.cargo(&args).stdout(Stdio::piped()).spawn().context("start cargo test")?;
        count(&mut child, &mut tally)?;
        good = child.wait()?.success();
    }
    tally.end(good);
    for (name, reason) in &tally.skipped_because {
        println!("skipped {name}: {reason}");
    }
    println!("{tally}");
    Ok(if good && tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows and counts every line. Tests may print bytes that are not text.
fn count(child: &mut Child, tally: &mut Tally) -> Result<()> {
    let mut output = BufReader::new(child.stdout.take().context("cargo test has no output")?);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).context("read what cargo test prints")? > 0 {
        let text = String::from_utf8_lossy(&line);
        print!("{text}");
        tally.read(text.trim_end());
        line.clear();
    }
    Ok(())
}
