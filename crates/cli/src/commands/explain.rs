//! `plumb explain`: prints a page of docs/findings with commands for several platforms, or all findings of a run.

use std::ffi::OsStr;

use ::report::{Options, SingleFormat, View};
use analysis::PlatformSetting;
use clap::{
    Arg, Args, Command,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};
use store::StoreError;

use crate::{
    commands::report::FormatName, destination, exit::Exit, failure::Misuse, global_flags::GlobalFlags,
    output, pager, run_reference, stored_trials, width,
};

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A finding's name, as shown in a report, or a run. For a run, prints all its findings, hints and warnings
    /// [default: list all findings]
    #[arg(value_name = "FINDING|RUN", value_parser = FindingOrRun, hide_possible_values = true)]
    finding: Option<String>,

    /// List all findings
    #[arg(long, hide = true, conflicts_with = "finding")]
    list: bool,
}

const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub(crate) fn run(args: &ExplainArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let Some(name) = &args.finding else {
        output::text(list())?;
        return Ok(Exit::Success);
    };
    let text = match PAGES.iter().find(|(id, _)| id == name) {
        Some((_, page)) => width::wrapped_page(&(paragraphs(&listed(page)) + &on_platforms(name))),
        None => of_run(name, shared)?,
    };
    pager::text(&text, shared.settings.pager.as_deref())?;
    Ok(Exit::Success)
}

fn of_run(name: &str, shared: &GlobalFlags) -> anyhow::Result<String> {
    let analysed = run_reference::analysed(name, shared);
    let (record, findings) = analysed.map_err(|error| match error.downcast_ref() {
        Some(StoreError::Unknown { .. }) => Misuse::new(format!("no finding or run is called `{name}`"))
            .hint("`plumb explain` lists the findings, and `plumb runs list` the runs")
            .into(),
        _ => error,
    })?;
    let options = Options { view: Some(View::Section("findings")), ..destination::here() };
    match stored_trials::single(&record) {
        Some(single) => Ok(::report::render_single(&single, SingleFormat::Terminal, &options)),
        None => FormatName::Terminal.write(&findings, &record, &options),
    }
}

/// Completes the names of findings, but accepts any run, too.
#[derive(Debug, Clone)]
struct FindingOrRun;

impl TypedValueParser for FindingOrRun {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(PAGES.iter().map(|(id, _)| PossibleValue::new(*id))))
    }
}

const PLACEHOLDERS: &str = "Replace the words in capitals. SWITCH means on or off, BROKEN true or false, \
                            CIDR a network, and any other word a name or number.";

fn on_platforms(finding: &str) -> String {
    let line = |row: PlatformSetting| {
        format!("\n{} ({}, {}):\n\n    {}\n", row.platform, row.source, row.version, row.command(&[]))
    };
    let lines: String = PlatformSetting::of_finding(finding).map(line).collect();
    if lines.is_empty() { lines } else { format!("\n## Platforms\n\n{PLACEHOLDERS}\n{lines}") }
}

/// Turns table rows into list items, because some tables are too wide for a terminal. The first column starts an item,
/// and the other columns follow with their headings.
fn listed(page: &str) -> String {
    let mut head: Option<Vec<&str>> = None;
    let mut text = String::new();
    for line in page.lines() {
        let row = line.strip_prefix('|').and_then(|row| row.trim_end().strip_suffix('|'));
        let Some(cells) = row.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>()) else {
            head = None;
            text.extend([line, "\n"]);
            continue;
        };
        match &head {
            None => head = Some(cells),
            Some(_) if cells.iter().all(|cell| cell.starts_with("--")) => {}
            Some(head) if cells.len() == 2 && head.len() == 2 => {
                text.push_str(&format!("- {}: {}\n", cells[0], cells[1]));
            }
            Some(head) => {
                text.push_str(&format!("- {}\n", cells[0]));
                let named = head.iter().zip(&cells).skip(1);
                named.for_each(|(name, cell)| text.push_str(&format!("  - {name}: {cell}\n")));
            }
        }
    }
    text
}

fn paragraphs(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("    ");
    let is_item = |line: &str| {
        let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
        line.trim_start().starts_with("- ") || (rest.len() < line.len() && rest.starts_with(". "))
    };
    for line in page.lines() {
        match lines.last_mut().filter(|last| is_prose(last)) {
            Some(last) if is_prose(line) && !is_item(line) => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

fn list() -> String {
    let width = PAGES.iter().map(|(id, _)| id.len()).max().unwrap_or_default();
    PAGES.iter().map(|(id, page)| format!("{id:width$}  {}\n", summary(page))).collect()
}

fn summary(page: &str) -> String {
    let paragraph = page.split("\n\n").nth(1).unwrap_or_default().replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |end| end + 1);
    paragraph[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_lines_of_paragraphs_and_items() {
        let page = "# A\n\none\ntwo\n- item\n  goes on\n1. next\n2. last\n\n    ip link\n    ip addr\n";
        let lines = "# A\n\none two\n- item goes on\n1. next\n2. last\n\n    ip link\n    ip addr\n";
        assert_eq!(paragraphs(page), lines);
    }

    #[test]
    fn turns_table_rows_into_items() {
        let page = "| step | what |\n| --- | --- |\n| send | the socket |\n\n| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\nend\n";
        assert_eq!(listed(page), "- send: the socket\n\n- 1\n  - b: 2\n  - c: 3\nend\n");
    }

    #[test]
    fn lists_settings_of_platforms_with_their_sources() {
        let text = on_platforms("vhost-off");
        let linux = "\n\nLinux (qemu-system-x86_64(1), QEMU ";
        assert!(text.starts_with("\n## Platforms\n") && text.contains(linux), "{text}");
        assert!(text.contains("    virsh edit GUEST  # <interface>") && !text.contains('{'), "{text}");
        assert_eq!(on_platforms("disturbed"), "");
    }

    #[test]
    fn explains_every_finding_page() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings");
        let files = std::fs::read_dir(folder).expect("there are pages");
        let names =
            files.map(|file| file.expect("it can be listed").file_name().into_string().expect("plain"));
        let mut ids: Vec<String> =
            names.filter(|name| name != "README.md").map(|name| name.replace(".md", "")).collect();
        ids.sort();
        assert_eq!(ids, PAGES.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        for (id, page) in PAGES {
            let summary = summary(page);
            assert!(summary.ends_with('.') && summary.len() > 20, "{id}: {summary}");
        }
    }
}
