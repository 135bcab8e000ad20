//! The valid word that a wrong one was probably meant to be. Knows nothing of what words stand for.

/// How alike two words must be, from 0 to 1, before one is offered for the other.
const ALIKE: f64 = 0.75;

/// The candidate most like `typed`, if any is alike enough.
pub(crate) fn word<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(typed, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Advice on `typed`: the nearest of the candidates, or all of them.
pub(crate) fn advice<'a>(
    typed: &str,
    plural: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(meant) = word(typed, candidates.clone()) {
        return format!("did you mean `{meant}`?");
    }
    let all: Vec<String> =
        candidates.into_iter().take(24).map(|candidate| format!("`{candidate}`")).collect();
    if all.is_empty() {
        format!("there are no {plural}")
    } else {
        format!("the {plural} are {}", all.join(", "))
    }
}
