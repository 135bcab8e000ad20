//! `plumb fleet scenario`: writes a scenario with the connected members.

use std::path::PathBuf;

use clap::Args;
use scenario::{Scenario, template};

use crate::{commands::scenario::write_new, exit::Exit, failure::Misuse, fleet_file::FleetFile};

#[derive(Debug, Args)]
pub(crate) struct ScenarioArgs {
    /// Name of the scenario and its file: NAME.toml
    name: String,
    /// Write to this file instead. `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &ScenarioArgs) -> anyhow::Result<Exit> {
    let FleetFile { access, .. } = FleetFile::of_user()?;
    let members = super::open(&access)?.members()?;
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    if names.len() < 2 {
        let message = format!("a path needs two members, but {} only has {}", access.server, listed(&names));
        return Err(Misuse::new(message).hint("start `plumb member` on more hosts").into());
    }
    let text = template::of_members(&args.name, &names);
    let _ = Scenario::parse(&args.name, &text)?;
    write_new(&args.name, &text, args.output.as_deref())?;
    Ok(Exit::Success)
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
