//! Escapes text for elements and attributes in HTML and SVG.

use crate::harmless::harmless;

/// Also makes control characters visible, because names come from users.
pub(crate) fn html(text: &str) -> String {
    let text = harmless(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
