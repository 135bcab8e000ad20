//! A document of findings itself, for programs: its shape is that of `findings`, version included.

use serde::Serialize;

pub(crate) fn json(document: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("the document has only keys that are strings");
    text.push('\n');
    text
}
