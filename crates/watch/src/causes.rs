//! Error messages with their causes.

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
