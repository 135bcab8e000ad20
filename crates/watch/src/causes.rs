//! Error messages with their causes.

/// Formats the error and its causes on one line, without repetitions.
#[must_use]
pub fn causes(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if !causes.iter().any(|earlier| earlier.contains(&text)) {
            causes.push(text);
        }
    }
    causes.join(": ")
}
