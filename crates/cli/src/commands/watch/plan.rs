//! The plan file of `plumb watch`: schedules, daily budget and alerts.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de::Error};
use toml::Spanned;
use units::{Bytes, Nanos, Share, from_text};
use watch::{Against, FARTHEST, Measure, TimeOfDay, Timing};

use crate::{
    bounded_file,
    commands::{check, trace::launch},
    failure::Misuse,
    misread,
    misread::Misread,
};

const EVERY: (Nanos, Nanos) = (Nanos::from_secs(60), Nanos::from_secs(31 * 24 * 3600));
const DAY: Nanos = Nanos::from_secs(24 * 3600);
/// The default jitter is the interval divided by this number.
const JITTER: u64 = 10;
/// Limited, because the stored runs of all measurements are read.
const MOST_MEASURES: usize = 100;

const HELP: &str = "`plumb watch --help` describes this file";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    measure: Vec<MeasureTable>,
    budget: Option<BudgetTable>,
    alert: Option<AlertTable>,
    metrics: Option<MetricsTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasureTable {
    scenario: Spanned<String>,
    #[serde(deserialize_with = "every")]
    every: Nanos,
    #[serde(default, deserialize_with = "units::some_from_text")]
    at: Option<TimeOfDay>,
    #[serde(default, deserialize_with = "units::some_from_text")]
    jitter: Option<Nanos>,
    #[serde(default, deserialize_with = "against")]
    baseline: Against,
    #[serde(default, deserialize_with = "loss")]
    max_loss: Option<Share>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetTable {
    #[serde(deserialize_with = "bytes_per_day")]
    bytes_per_day: Bytes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlertTable {
    #[serde(deserialize_with = "hook")]
    hook: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricsTable {
    listen: SocketAddr,
}

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) measures: Vec<Measure>,
    pub(super) budget: Option<Bytes>,
    pub(super) hook: Option<Vec<String>>,
    pub(super) listen: Option<SocketAddr>,
}

impl Plan {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = bounded_file::read_trusted(file).map_err(|error| {
            error.downcast::<Misuse>().unwrap_or_else(|error| Misuse::new(watch::causes(&error)))
        })?;
        let plan = Self::parse(file, &text)?;
        if let Some([program, ..]) = plan.hook.as_deref() {
            // If the program is missing, report this only when the hook runs.
            let _ = hook_program(program)?;
        }
        Ok(plan)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, Misread> {
        let document: Document = misread::parse(file, text, HELP)?;
        let wrong = |at, message: String| Misread::new(file, text, at, message, HELP);
        if !(1..=MOST_MEASURES).contains(&document.measure.len()) {
            return Err(wrong(0..text.len().min(1), format!("use 1 to {MOST_MEASURES} [[measure]] tables")));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut measures: Vec<Measure> = Vec::new();
        for table in document.measure {
            let (at, name) = (table.scenario.span(), table.scenario.into_inner());
            if table.at.is_some() && !table.every.0.is_multiple_of(DAY.0) {
                let message = format!("{name} has `at`, so `every` must be in whole days, e.g. \"24h\"");
                return Err(wrong(at, message));
            }
            // With a time of day, the default is no jitter.
            let usual = if table.at.is_some() { Nanos(0) } else { Nanos(table.every.0 / JITTER) };
            let jitter = table.jitter.unwrap_or(usual);
            if jitter >= table.every {
                let message = format!("`jitter` of {name} must be shorter than its `every`");
                return Err(wrong(at, message));
            }
            let scenario = find_scenario(folder, &name).map_err(|message| wrong(at.clone(), message))?;
            if measures.iter().any(|known| known.scenario == scenario) {
                return Err(wrong(at, format!("the plan contains the scenario {name} twice")));
            }
            let timing = Timing { every: table.every, jitter, at: table.at };
            let max_loss = table.max_loss.unwrap_or(Share(analysis::MAX_LOSS));
            measures.push(Measure { scenario, timing, against: table.baseline, max_loss });
        }
        Ok(Self {
            measures,
            budget: document.budget.map(|budget| budget.bytes_per_day),
            hook: document.alert.map(|alert| alert.hook),
            listen: document.metrics.map(|metrics| metrics.listen),
        })
    }
}

fn find_scenario(folder: &Path, name: &str) -> Result<String, String> {
    let is_file = name.contains('/') || Path::new(name).extension().is_some();
    let path = if is_file { folder.join(name) } else { PathBuf::from(name) };
    path.to_str()
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .ok_or_else(|| format!("no scenario `{name}`: use a built-in's name, or a path, e.g. ./mine.toml"))
}

fn every<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    let (least, most) = EVERY;
    let every: Nanos = from_text(from)?;
    if (least..=most).contains(&every) {
        return Ok(every);
    }
    Err(D::Error::custom("use 1min to 744h, e.g. \"1h\""))
}

fn bytes_per_day<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    let bytes: Bytes = from_text(from)?;
    if bytes > Bytes(0) { Ok(bytes) } else { Err(D::Error::custom("0 is not allowed: use e.g. \"50GB\"")) }
}

fn loss<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Share>, D::Error> {
    check::loss(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn against<'de, D: Deserializer<'de>>(from: D) -> Result<Against, D::Error> {
    let text = String::deserialize(from)?;
    let back = match text.strip_prefix("previous") {
        Some("") => return Ok(Against::Previous(1)),
        Some(back) if back.starts_with(' ') => back.trim(),
        _ if text.is_empty() => {
            return Err(D::Error::custom("empty value: remove it to use the previous run"));
        }
        _ => return Ok(Against::Baseline(text)),
    };
    let back = back.parse().ok().filter(|back| (1..=FARTHEST).contains(back));
    back.map(Against::Previous)
        .ok_or_else(|| D::Error::custom(format!("use \"previous 1\" to \"previous {FARTHEST}\"")))
}

fn hook<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(D::Error::custom(
            "use a program and its arguments, e.g. [\"/usr/local/bin/notify\", \"ops\"]",
        )),
    }
}

/// Finds the hook's program like execvp(3). Returns `None` if the program does not exist.
///
/// # Errors
///
/// Fails if another user could have written to the program's file.
pub(super) fn hook_program(name: &str) -> anyhow::Result<Option<PathBuf>> {
    let found = launch::find(name.as_ref()).ok();
    found.as_deref().map(bounded_file::require_trusted).transpose()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Plan, Misread> {
        Plan::parse(Path::new("plans/nightly.toml"), text)
    }

    #[test]
    fn parses_plan() {
        let text = "[[measure]]\nscenario = \"quick\"\nevery = \"1h\"\n\n[[measure]]\nscenario = \"./mine.toml\"\n\
                    every = \"15min\"\njitter = \"10s\"\nbaseline = \"main\"\nmax_loss = \"10%\"\n\n[budget]\n\
                    bytes_per_day = \"50GB\"\n\n[alert]\nhook = [\"notify\", \"ops\"]\n\n[metrics]\n\
                    listen = \"127.0.0.1:9817\"\n";
        let plan = parsed(text).expect("a plan");
        let [quick, mine] = &plan.measures[..] else { panic!("{plan:?}") };
        assert_eq!((quick.scenario.as_str(), mine.scenario.as_str()), ("quick", "plans/./mine.toml"));
        let timing = Timing { every: Nanos::from_secs(3600), jitter: Nanos::from_secs(360), at: None };
        assert_eq!(quick.timing, timing);
        assert_eq!((&quick.against, quick.max_loss), (&Against::Previous(1), Share(0.05)));
        assert_eq!((&mine.against, mine.max_loss), (&Against::Baseline("main".into()), Share(0.1)));
        assert_eq!(mine.timing.jitter, Nanos::from_secs(10));
        assert_eq!((plan.budget, plan.hook.map(|hook| hook.len())), (Some(Bytes(50_000_000_000)), Some(2)));
        assert_eq!(plan.listen.map(|at| at.port()), Some(9817));
    }

    #[test]
    fn plans_in_guide_are_valid() {
        let pages = [
            include_str!("../../../../../docs/guide/watch.md"),
            include_str!("../../../../../docs/guide/operators.md"),
        ];
        let blocks = pages.iter().flat_map(|page| page.split("```toml\n").skip(1));
        let plans: Vec<&str> = blocks
            .filter_map(|rest| rest.split_once("```"))
            .map(|(block, _)| block)
            .filter(|block| block.contains("[[measure]]"))
            .collect();
        assert_eq!(plans.len(), pages.len());
        plans.iter().for_each(|plan| drop(parsed(plan).expect(plan)));
    }

    #[test]
    fn plan_in_guide_is_valid() {
        let text = include_str!("../../../../../docs/guide/watch-plan.toml");
        let plan = parsed(text).expect("a plan");
        assert_eq!((plan.measures.len(), plan.measures[1].against.clone()), (2, Against::Previous(3)));
    }

    #[test]
    fn reports_errors_with_location() {
        const QUICK: &str = "[[measure]]\nscenario = \"quick\"\nevery = \"1h\"\n";
        let with = |more: &str| format!("{QUICK}{more}");
        for (text, expected, place) in [
            (String::new(), "missing field `measure`", ""),
            ("measure = []".to_owned(), "use 1 to 100", ""),
            (with("evry = \"1h\""), "unknown field `evry`", "evry"),
            (QUICK.replace("1h", "1s"), "use 1min to 744h", "\"1s\""),
            (QUICK.replace("1h", "often"), "does not start with a number", "\"often\""),
            (with("at = \"02:30\""), "must be in whole days", "\"quick\""),
            (with("at = \"25:00\""), "use a time of day in UTC", "\"25:00\""),
            (with("jitter = \"1h\""), "must be shorter than its `every`", "\"quick\""),
            (with("max_loss = \"5\""), "invalid share", "\"5\""),
            (with("baseline = \"previous 0\""), "use \"previous 1\" to", "\"previous 0\""),
            (with("baseline = \"\""), "empty value", "\"\""),
            (with("[budget]\nbytes_per_day = \"0\""), "0 is not allowed", "\"0\""),
            (with("[budget]\nshare_of_link = \"5%\""), "unknown field `share_of_link`", "share_of_link"),
            (with("[alert]\nhook = []"), "use a program", "[]"),
            (with("[metrics]\nlisten = \"9817\""), "invalid socket address", "\"9817\""),
            (with(QUICK), "twice", "\"quick\""),
        ] {
            let error = parsed(&text).expect_err(expected);
            assert!(error.message.contains(expected), "{text:?}: {}", error.message);
            assert!(text[error.at.clone()].starts_with(place), "{text:?}: {:?}", &text[error.at.clone()]);
        }
    }

    #[test]
    fn distinguishes_previous_runs_from_named_baselines() {
        for (text, against) in [
            ("previous", Against::Previous(1)),
            ("previous 3", Against::Previous(3)),
            ("previous-week", Against::Baseline("previous-week".into())),
        ] {
            let plan = format!("[[measure]]\nscenario = \"quick\"\nevery = \"1h\"\nbaseline = \"{text}\"");
            assert_eq!(parsed(&plan).expect(text).measures[0].against, against, "{text}");
        }
    }
}
