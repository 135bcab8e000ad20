//! Suggestions for misspelled words.

const MIN_SIMILARITY: f64 = 0.75;

pub(crate) fn word<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(typed, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

pub(crate) fn advice<'a>(
    typed: &str,
    plural: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(suggestion) = word(typed, candidates.clone()) {
        return format!("did you mean `{suggestion}`?");
    }
    let all: Vec<String> =
        candidates.into_iter().take(24).map(|candidate| format!("`{candidate}`")).collect();
    if all.is_empty() {
        format!("there are no {plural}")
    } else {
        format!("the {plural} are {}", all.join(", "))
    }
}
