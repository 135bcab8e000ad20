//! Writes findings as JSON, in the versioned format of the `findings` crate.

use serde::Serialize;

pub(crate) fn json(document: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("the document has only keys that are strings");
    text.push('\n');
    text
}
