//! The findings document itself, for programs: its shape is that of `findings::Findings`, version included.
//! Must not know the page.

use findings::Findings;

pub(crate) fn json(findings: &Findings) -> String {
    let mut text =
        serde_json::to_string_pretty(findings).expect("the document has only keys that are strings");
    text.push('\n');
    text
}
