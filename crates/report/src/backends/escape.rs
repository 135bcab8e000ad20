//! Text inside elements and attributes of HTML and SVG.

use crate::harmless::harmless;

/// Escapes text between tags or in attributes. Names come from files written by users, so control characters are shown.
pub(crate) fn html(text: &str) -> String {
    let text = harmless(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
