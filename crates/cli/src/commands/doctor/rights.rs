//! `plumb doctor --rights`: which capabilities are used for what, and what is left without them. Must not try anything.

use machine::{CAPABILITY_USES, CapabilityUse};
use serde::Serialize;

use super::table;
use crate::{commands::TOOL, exit::Exit, output};

/// Below the table.
const OTHERS: &str = "`plumb client`, `ping`, `member` and all that reads results need no capability. `measure`, `memory` and `rebalance` need \
                      what lets them see another user's virtual machine: that user, or root. KVM needs /dev/kvm to be writable.";

/// What is printed: as a table, or as it is.
#[derive(Debug, Serialize)]
struct Document {
    /// The version of this form.
    schema: u32,
    tool: &'static str,
    rights: Vec<Right>,
}

#[derive(Debug, Serialize)]
struct Right {
    #[serde(flatten)]
    of: &'static CapabilityUse,
    /// Whether this process holds it over the machine.
    held: bool,
}

/// Prints them; the exit status is 0 whatever this process has.
pub(super) fn run(json: bool) -> anyhow::Result<Exit> {
    let rights = CAPABILITY_USES.iter().map(|of| Right { of, held: of.is_held() }).collect();
    let document = Document { schema: 1, tool: TOOL, rights };
    let text = match json {
        true => serde_json::to_string_pretty(&document)? + "\n",
        false => text(&document, table::width()),
    };
    output::coloured(&text)?;
    Ok(Exit::Success)
}

fn text(document: &Document, width: u16) -> String {
    let mut text = String::new();
    table::section(&mut text, "Capabilities (CAP_)", document.rights.iter().flat_map(rows), width);
    text.push_str(&crate::width::wrapped(&format!("\n{OTHERS}\n"), Some(usize::from(width))));
    text
}

fn rows(right: &Right) -> [table::Row; 2] {
    let mark = if right.held { "✔" } else { "✘" };
    let short = |name: &str| name.trim_start_matches("CAP_").to_owned();
    let or = right.of.or.map(|or| format!(" or {}", short(or))).unwrap_or_default();
    let names: Vec<String> = right.of.capabilities.iter().map(|name| short(name)).collect();
    let title = names.join(", ") + &or;
    let below = |text: String| [String::new(), String::new(), text];
    [[mark.to_owned(), title, right.of.used_for.to_owned()], below(format!("without: {}", right.of.without))]
}
