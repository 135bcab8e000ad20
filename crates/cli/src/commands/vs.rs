//! `plumb vs`: measures two settings of a scenario, or two servers, in interleaved trials and reports which is faster.

mod selection;

use std::path::{Path, PathBuf};

use ::scenario::builtin;
use clap::Args;

use self::selection::Selection;
use super::{
    client,
    run::{self, RunArgs},
};
use crate::{contest::Sides, exit::Exit, failure::Misuse, global_flags::GlobalFlags, host, source};

#[derive(Debug, Args)]
pub(crate) struct VsArgs {
    /// The reference: SCENARIO:SETTING, or a server's HOST[:PORT]. SETTING is a path, FACTOR=LEVEL or several of
    /// these, separated by commas, and optionally a workload
    a: String,
    /// The setting or server to compare, in the same form
    b: String,
    /// Trials per side [default: the scenario's, or 5 for servers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    trials: Option<u32>,
    /// Also write the report to this file; its extension selects the format: .html, .md, .json, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Flags of `plumb client` for both servers, e.g. -- -P 4
    #[arg(last = true, value_name = "CLIENT FLAGS")]
    flags: Vec<String>,
}

pub(crate) fn run(args: &VsArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let sides = [args.a.as_str(), args.b.as_str()];
    if args.a == args.b {
        return Err(Misuse::new("both sides are the same").hint("name two settings or two servers").into());
    }
    match sides.map(setting) {
        [Some(a), Some(b)] => scenario(args, [a, b], shared),
        [None, None] => servers(args, shared),
        _ => {
            let misuse = Misuse::new(format!("`{}` and `{}` are not of the same kind", args.a, args.b));
            Err(misuse.hint("compare two settings of a scenario, or two servers").into())
        }
    }
}

/// Splits `SCENARIO:SETTING`. Returns `None` for a server.
fn setting(side: &str) -> Option<(&str, &str)> {
    let (name, words) = side.split_once(':')?;
    let is_file = || [name.to_owned(), format!("{name}.toml")].iter().any(|file| Path::new(file).is_file());
    let is_server = host::with_port(side).is_some() || side.parse::<std::net::IpAddr>().is_ok();
    (!is_server || builtin::find(name).is_some() || is_file()).then_some((name, words))
}

fn scenario(args: &VsArgs, [a, b]: [(&str, &str); 2], shared: &GlobalFlags) -> anyhow::Result<Exit> {
    if a.0 != b.0 {
        let misuse = Misuse::new(format!("`{}` and `{}` are different scenarios", a.0, b.0));
        return Err(misuse
            .hint("put both into one scenario, or compare two runs with `plumb compare`")
            .into());
    }
    if !args.flags.is_empty() {
        return Err(Misuse::new("the flags after -- are for servers").hint("remove them").into());
    }
    let source = source::load(a.0, shared)?;
    let results = Selection::of(&source.scenario, [a.1, b.1])?.results;
    let sides = Sides([args.a.clone(), args.b.clone()]);
    run::run(&RunArgs::of_vs(a.0, args.trials, args.output.clone(), results, sides), shared)
}

fn servers(args: &VsArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    if args.output.is_some() {
        let misuse = Misuse::new("--output is not available for servers");
        return Err(misuse.hint("`plumb report -o FILE` writes the report of the last run").into());
    }
    client::versus([&args.a, &args.b], args.trials, &args.flags, shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_settings_and_servers() {
        for (side, expected) in [
            ("quick:node-to-node", Some(("quick", "node-to-node"))),
            ("no-such:mtu=9000", Some(("no-such", "mtu=9000"))),
            ("198.18.0.1", None),
            ("198.18.0.1:5201", None),
            ("[2001:2::1]:5201", None),
            ("2001:2::1", None),
            ("server", None),
        ] {
            assert_eq!(setting(side), expected, "{side}");
        }
    }
}
