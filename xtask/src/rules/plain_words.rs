//! Rule `plain-words`: limits phrases that make a text read like a translation.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use anyhow::Result;

use super::Verdict;
use crate::prose::{self, Kind};
use crate::workspace::Workspace;

const CEILING: usize = 8;

/// The numbers may only be lowered.
#[rustfmt::skip]
const HIGHER: &[(&str, usize)] = &[
    ("analysis", 100),
    ("report", 100),
    ("stats", 100),
];

/// In a short text, even a single phrase results in a high rate.
const ALWAYS_ALLOWED: usize = 3;

const SHOWN: usize = 8;

const ADVICE: &str = "reword the lines below in plain English: subject, verb, object, and the field's terms";

const MARKERS: &str = include_str!("plain_words.txt");

static MARKERS_BY_WORD: LazyLock<HashMap<&str, Vec<Vec<&str>>>> = LazyLock::new(|| {
    let mut markers: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
    for words in MARKERS.lines().map(|marker| marker.split(' ').collect::<Vec<_>>()) {
        markers.entry(words[0]).or_default().push(words);
    }
    markers
});

type Rates = BTreeMap<(String, Kind), Rate>;

#[derive(Default)]
pub(crate) struct Rate {
    words: usize,
    markers: usize,
    lines: Vec<(usize, String)>,
}

impl Rate {
    fn per_thousand(&self) -> f64 {
        self.markers as f64 * 1000.0 / self.words.max(1) as f64
    }

    fn is_above(&self, ceiling: usize) -> bool {
        self.markers > ALWAYS_ALLOWED && self.markers * 1000 > ceiling * self.words
    }
}

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    Ok(Verdict::broken(ADVICE, complaints(rates(workspace)?, HIGHER)))
}

pub(crate) fn shown(workspace: &Workspace) -> Result<Vec<String>> {
    let line = |((area, kind), rate): (&(String, Kind), &Rate)| {
        let kind = format!("{kind:?}").to_lowercase();
        format!("{area:14} {kind:9} {:6} words {:6.1}", rate.words, rate.per_thousand())
    };
    Ok(rates(workspace)?.iter().map(line).collect())
}

fn rates(workspace: &Workspace) -> Result<Rates> {
    let mut rates = Rates::new();
    for path in workspace.files.iter().filter(|path| !is_data(path)) {
        for prose in prose::of(path, &workspace.text(path)?.unwrap_or_default()) {
            let (words, markers) = count(&prose.text);
            let rate = rates.entry((area(path).to_owned(), prose.kind)).or_default();
            rate.words += words;
            rate.markers += markers;
            if markers > 0 {
                rate.lines.push((markers, format!("{path}:{}: {}", prose.line, prose.text)));
            }
        }
    }
    Ok(rates)
}

fn is_data(path: &str) -> bool {
    path.contains("/tests/data/")
        || path.contains("/captures/")
        || path.contains("/golden/")
        || file!().ends_with(path)
}

fn area(path: &str) -> &str {
    let inner = path.strip_prefix("crates/").unwrap_or(path);
    inner.split('/').next().unwrap_or(inner)
}

fn complaints(rates: Rates, higher: &[(&str, usize)]) -> Vec<String> {
    let mut places = Vec::new();
    for ((area, kind), mut rate) in rates {
        let ceiling = higher.iter().find(|(name, _)| *name == area).map_or(CEILING, |(_, ceiling)| *ceiling);
        if rate.is_above(ceiling) {
            let kind = format!("{kind:?}").to_lowercase();
            let found = rate.per_thousand();
            places
                .push(format!("{area} {kind}: {found:.1} marker phrases per 1,000 words, at most {ceiling}"));
            rate.lines.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
            places.extend(rate.lines.into_iter().take(SHOWN).map(|(_, line)| format!("  {line}")));
        }
    }
    places
}

/// Ignores code in backticks, names in braces, and addresses. If markers overlap, the longest one counts.
fn count(text: &str) -> (usize, usize) {
    let without_code = text.split('`').step_by(2);
    let pieces = without_code.flat_map(|text| text.split('{')).map(|piece| match piece.split_once('}') {
        Some((_, after)) => after,
        None => piece,
    });
    let prose = pieces.collect::<Vec<_>>().join(" ");
    let parts = prose.split_whitespace().filter(|part| !part.contains("://"));
    let lower = parts.collect::<Vec<_>>().join(" ").to_lowercase();
    let is_word = |letter: char| letter.is_ascii_alphabetic() || letter == '\'';
    let words: Vec<&str> = lower.split(|letter| !is_word(letter)).filter(|word| !word.is_empty()).collect();
    let length_at = |at: usize| {
        let longer = MARKERS_BY_WORD.get(words[at])?.iter();
        longer.filter(|marker| words[at..].starts_with(marker)).map(Vec::len).max()
    };
    let (mut at, mut markers) = (0, 0);
    while at < words.len() {
        let length = length_at(at);
        markers += usize::from(length.is_some());
        at += length.unwrap_or(1);
    }
    (words.len(), markers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_markers_outside_code() {
        assert_eq!(count("It is told `so many` times, see https://whose.example/told."), (5, 1));
        assert_eq!(count("What is kept, whoever asked"), (5, 4));
        assert_eq!(count("{told} is stored in {kept:?}, it is told"), (6, 1));
        assert_eq!(count("Returns the median latency in µs."), (6, 0));
    }

    #[test]
    fn names_the_worst_lines_of_an_area_above_its_ceiling() {
        let rate =
            || Rate { words: 200, markers: 5, lines: vec![(1, "a:1: x".into()), (4, "b:2: y".into())] };
        let rates = |area: &str| Rates::from([((area.to_owned(), Kind::Messages), rate())]);
        let expected =
            ["lab messages: 25.0 marker phrases per 1,000 words, at most 8", "  b:2: y", "  a:1: x"];
        assert_eq!(complaints(rates("lab"), &[("cli", 30)]), expected);
        assert!(complaints(rates("lab"), &[("lab", 25)]).is_empty());
    }

    #[test]
    fn allows_a_few_markers_in_short_texts() {
        assert!(!Rate { words: 20, markers: 3, lines: Vec::new() }.is_above(CEILING));
        assert!(Rate { words: 20, markers: 4, lines: Vec::new() }.is_above(CEILING));
    }

    #[test]
    fn areas_are_crates_folders_or_files() {
        let paths = ["crates/lab/src/lib.rs", "tests/cli/main.rs", "README.md"];
        assert_eq!(paths.map(area), ["lab", "tests", "README.md"]);
    }
}
