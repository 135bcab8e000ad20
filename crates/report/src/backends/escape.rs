//! Text inside elements and attributes of HTML and SVG.

use crate::harmless::harmless;

/// Text between two tags, or between the quotes of an attribute. What would be obeyed is shown: names come
/// from files that people write.
pub(crate) fn html(text: &str) -> String {
    let text = harmless(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
