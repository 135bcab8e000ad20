//! `plumb doctor --rights`: shows the capabilities that plumb uses, and what works without each.

use machine::{CAPABILITY_USES, CapabilityUse};
use serde::Serialize;

use super::table;
use crate::{exit::Exit, output, program::TOOL};

const OTHERS: &str = "`plumb client`, `ping`, `member` and commands that only read results need no \
    capabilities. `measure`, `memory` and `rebalance` need to run as root or as the user who owns the \
    virtual machine. KVM needs write access to /dev/kvm.";

#[derive(Debug, Serialize)]
struct Document {
    schema: u32,
    tool: &'static str,
    rights: Vec<Right>,
}

#[derive(Debug, Serialize)]
struct Right {
    #[serde(flatten)]
    capability: &'static CapabilityUse,
    available: bool,
}

pub(super) fn run(json: bool) -> anyhow::Result<Exit> {
    let rights = CAPABILITY_USES
        .iter()
        .map(|capability| Right { capability, available: capability.is_held() })
        .collect();
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
    let mark = if right.available { "✔" } else { "✘" };
    let short = |name: &str| name.trim_start_matches("CAP_").to_owned();
    let or = right.capability.or.map(|or| format!(" or {}", short(or))).unwrap_or_default();
    let names: Vec<String> = right.capability.capabilities.iter().map(|name| short(name)).collect();
    let title = names.join(", ") + &or;
    let below = |text: String| [String::new(), String::new(), text];
    [
        [mark.to_owned(), title, right.capability.used_for.to_owned()],
        below(format!("without: {}", right.capability.without)),
    ]
}
