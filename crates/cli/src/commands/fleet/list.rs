//! `plumb fleet list`: lists the connected members.

use clap::Args;
use comfy_table::{Table, presets};
use fleet::MemberInfo;
use samples::UnixMillis;
use serde_json::json;

use crate::{
    exit::Exit,
    fleet_file::FleetFile,
    list_format::{self, ListFormat},
    output,
};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    format: ListFormat,
}

pub(super) fn run(args: &ListArgs) -> anyhow::Result<Exit> {
    let FleetFile { access, .. } = FleetFile::of_user()?;
    let members = super::open(&access)?.members()?;
    if args.format.json {
        list_format::json(members.iter().map(|member| json!(member)))?;
    } else if members.is_empty() {
        output::line(format_args!("no members connected to {}", access.server))?;
    } else {
        output::line(table(&members))?;
    }
    Ok(Exit::Success)
}

fn table(members: &[MemberInfo]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["MEMBER", "HOST", "PLUMB", "SINCE", "AGENTS", "ADDRESS", "DEVICES"]);
    for member in members {
        let since = list_format::moment(UnixMillis(member.since)).unwrap_or_default();
        let since = since.split_once('.').map_or(since.as_str(), |(seconds, _)| seconds).replace('T', " ");
        let agents = if member.drained {
            format!("{}, drained", member.sessions)
        } else {
            member.sessions.to_string()
        };
        let address = member.address.map(|address| address.to_string()).unwrap_or_default();
        let MemberInfo { name, host, tool, devices, .. } = member;
        table.add_row([name, host, tool, &since, &agents, &address, &devices.join(" ")]);
    }
    table
}
