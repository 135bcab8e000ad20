//! Text inside elements and attributes of HTML and SVG. Must not know which.

/// Text between two tags, or between the quotes of an attribute. Control characters become spaces: names come from files that
/// people write.
pub(crate) fn html(text: &str) -> String {
    let text = text.replace(|sign: char| sign.is_control() && sign != '\n', " ");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
