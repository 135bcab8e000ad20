//! Formats the doctor's results as aligned tables and a verdict.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use console::{Term, style};

use super::{
    Document,
    check::{Check, Group, Status},
    verdict::Verdict,
};
use crate::{commands::scenario::minutes, output};

const WIDEST: u16 = 100;
const MARK: u16 = 4;
const TITLE: u16 = 21;
const NEEDS_NOTHING: &str =
    "`plumb server`, `client` and `ping` need neither a lab nor privileges; any user can run them.";

pub(super) fn width() -> u16 {
    let term = Term::stdout();
    if term.is_term() { term.size().1.clamp(MARK + TITLE + 30, WIDEST) } else { WIDEST }
}

pub(super) fn render(document: &Document, width: u16) -> String {
    let mut text = format!("plumb {} on Linux {}\n", document.tool, document.kernel);
    for group in Group::ALL {
        let checks = document.checks.iter().filter(|check| check.group == group);
        section(&mut text, group.title(), checks.flat_map(rows), width);
    }
    let scenarios = document.scenarios.iter().map(|verdict| scenario_row(verdict, &document.checks));
    section(&mut text, "Built-in scenarios", scenarios, width);
    let emulated = document.scenarios.iter().any(|verdict| verdict.emulated && verdict.measurable > 0);
    let emulated = if emulated { format!("\n{EMULATED}") } else { String::new() };
    let prose = format!("\n{NEEDS_NOTHING}{emulated}\n{}", verdict_line(&document.scenarios));
    text.push_str(&crate::width::wrapped(&prose, Some(usize::from(width))));
    text.push('\n');
    text
}

pub(super) type Row = [String; 3];

pub(super) fn section(text: &mut String, title: &str, rows: impl Iterator<Item = Row>, width: u16) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.add_rows(rows);
    let widths = [MARK, TITLE, width - MARK - TITLE];
    table.set_constraints(widths.map(|width| ColumnConstraint::Absolute(Width::Fixed(width))));
    text.push_str(&format!("\n{}\n", style(title).bold()));
    for line in table.lines() {
        text.push_str(&coloured(&output::harmless(line.trim_end())));
        text.push('\n');
    }
}

/// Call this after wrapping, because wrapping counts escape codes as text.
fn coloured(line: &str) -> String {
    for (mark, colour) in
        [("✔", console::Color::Green), ("!", console::Color::Yellow), ("✘", console::Color::Red)]
    {
        if let Some(rest) = line.trim_start().strip_prefix(mark) {
            return format!(" {}{rest}", style(mark).fg(colour).bold());
        }
    }
    line.to_owned()
}

pub(super) fn rows(check: &Check) -> Vec<Row> {
    let mark = match check.status {
        Status::Works => "✔",
        Status::Limited => "!",
        Status::Missing => "✘",
    };
    let mut rows = vec![[mark.to_owned(), check.title.to_owned(), check.detail.clone()]];
    let below = |text: String| [String::new(), String::new(), text];
    if check.status != Status::Works {
        rows.push(below(format!("needed for {}", check.needed_for)));
    }
    rows.extend(check.remedy.iter().map(|remedy| below(format!("→ {remedy}"))));
    rows
}

const EMULATED: &str = "With emulated guests or an emulated hypervisor, counts and ratios are valid; times \
    and rates are not.";

fn scenario_row(verdict: &Verdict, checks: &[Check]) -> Row {
    let Verdict {
        name,
        results,
        measurable,
        missing,
        lost_paths,
        emulated,
        in_hypervisor,
        duration,
        trials_duration,
    } = verdict;
    let title =
        |id: &&'static str| checks.iter().find(|check| check.id == *id).map_or(*id, |check| check.title);
    let without = missing.iter().map(title).collect::<Vec<_>>().join(", ");
    let (mark, detail) = match *measurable {
        all if all == *results => ("✔", format!("all {results} results")),
        0 => ("✘", format!("cannot run; missing: {without}")),
        some => {
            let lost = match lost_paths.iter().map(String::as_str).collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => String::new(),
                paths => format!("; unavailable path: {paths}"),
            };
            ("!", format!("{some} of {results} results; missing: {without}{lost}"))
        }
    };
    let how = match (*in_hypervisor, *emulated) {
        (true, _) => ", in a virtual hypervisor",
        (false, true) => ", emulated",
        (false, false) => "",
    };
    let duration = duration.map(|all| {
        let boots = (all - *trials_duration).seconds().round();
        let boots = if boots > 0.0 { format!(" plus {} to boot", minutes(boots)) } else { String::new() };
        format!(", about {}{boots}", minutes(trials_duration.seconds()))
    });
    let duration = duration.unwrap_or_default();
    let cost = if *measurable > 0 { how.to_owned() + &duration } else { String::new() };
    [mark.to_owned(), name.clone(), detail + &cost]
}

fn verdict_line(scenarios: &[Verdict]) -> String {
    let named = |which: fn(&Verdict) -> bool| {
        let names: Vec<_> = scenarios.iter().filter(|one| which(one)).map(|one| one.name.as_str()).collect();
        names.join(", ")
    };
    let parts = [
        ("can run here", named(Verdict::is_measurable)),
        ("can run in part", named(|one| !one.is_measurable() && one.measurable > 0)),
        ("cannot run", named(|one| !one.is_measurable() && one.measurable == 0)),
    ];
    if scenarios.iter().all(Verdict::is_measurable) {
        return "All built-in scenarios can run here.".to_owned();
    }
    if scenarios.iter().all(|one| one.measurable == 0) {
        return "No built-in scenario can run here.".to_owned();
    }
    let groups = parts.iter().filter(|(_, names)| !names.is_empty());
    let groups: Vec<_> = groups.map(|(what, names)| format!("{what}: {names}")).collect();
    format!("Built-in scenarios: {}.", groups.join("; "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::Nanos;

    use super::*;

    fn check(status: Status) -> Check {
        Check {
            group: Group::Paths,
            id: "vxlan",
            title: "vxlan",
            status,
            detail: "a long reason ".repeat(20),
            needed_for: "overlays",
            remedy: (status != Status::Works).then(|| "modprobe vxlan".to_owned()),
            required: true,
        }
    }

    fn verdict(name: &str, measurable: usize) -> Verdict {
        let (missing, lost_paths) = (BTreeSet::from(["vxlan"]), BTreeSet::from(["overlay".to_owned()]));
        Verdict {
            name: name.into(),
            results: 4,
            measurable,
            missing,
            lost_paths,
            emulated: false,
            in_hypervisor: false,
            duration: None,
            trials_duration: Nanos(0),
        }
    }

    fn rendered(checks: Vec<Check>, scenarios: Vec<Verdict>) -> String {
        let measurable = scenarios.iter().all(Verdict::is_measurable);
        let document =
            Document { schema: 1, tool: "0", kernel: "6".into(), checks, scenarios, ready: measurable };
        console::strip_ansi_codes(&render(&document, 100)).into_owned()
    }

    #[test]
    fn wraps_to_width_without_losing_words() {
        let text = rendered(vec![check(Status::Missing)], vec![verdict("quick", 2)]);
        for line in text.lines() {
            assert!(console::measure_text_width(line) <= 100, "{line}");
        }
        assert_eq!(text.matches("reason").count(), 20, "{text}");
    }

    #[test]
    fn shows_boot_time_separately() {
        let (trials_duration, boots) = (Nanos::from_secs(90), Nanos::from_secs(12));
        let booting =
            Verdict { duration: Some(trials_duration + boots), trials_duration, ..verdict("vhost", 4) };
        assert!(rendered(vec![], vec![booting]).contains("all 4 results, about 1.5 min plus 12 s to boot"));
        let quick = Verdict { duration: Some(trials_duration), trials_duration, ..verdict("quick", 4) };
        let text = rendered(vec![], vec![quick]);
        assert!(text.contains("about 1.5 min") && !text.contains("to boot"), "{text}");
    }

    #[test]
    fn only_failed_checks_have_remedies() {
        assert!(rendered(vec![check(Status::Missing)], vec![]).contains("→ modprobe vxlan"));
        assert!(!rendered(vec![check(Status::Works)], vec![]).contains("→"));
    }

    #[test]
    fn verdict_lists_each_scenario_once() {
        let scenarios = vec![verdict("whole", 4), verdict("part", 1), verdict("nothing", 0)];
        let text = rendered(vec![check(Status::Missing)], scenarios);
        let last = text.lines().last().expect("a verdict");
        assert_eq!(
            last,
            "Built-in scenarios: can run here: whole; can run in part: part; cannot run: nothing."
        );
        assert!(text.contains("1 of 4 results; missing: vxlan; unavailable path: overlay"), "{text}");
    }
}
