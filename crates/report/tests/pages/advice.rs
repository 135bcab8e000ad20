//! The short view has at most two findings, or at most two hints and warnings. It names the command that prints the
//! rest.

use findings::{Finding, SingleMeasurement};
use report::{Format, Options, SingleFormat, View, render, render_single};
use samples::ValidityWarning;

use crate::sample;

fn shown(single: &SingleMeasurement, view: View) -> (usize, usize, String) {
    let options = Options { view: Some(view), ..Options::default() };
    let text = render_single(single, SingleFormat::Terminal, &options);
    (text.matches("[slow-congestion-control]").count(), text.matches('•').count(), text)
}

fn single(hints: usize, warnings: usize) -> SingleMeasurement {
    let stream = sample::single::stream();
    let hints: Vec<Finding> = stream.hints.iter().cycle().take(hints).cloned().collect();
    let warning = ValidityWarning::Stolen { share: 0.1 };
    SingleMeasurement { hints, warnings: vec![warning; warnings], shifts: Vec::new(), ..stream }
}

#[test]
fn trial_shows_two_hints_and_warnings() {
    for (hints, warnings, shown_hints, shown_warnings) in
        [(0, 0, 0, 0), (1, 1, 1, 1), (3, 0, 2, 0), (3, 4, 1, 1), (0, 4, 0, 2)]
    {
        let single = single(hints, warnings);
        let (of_hints, of_warnings, text) = shown(&single, View::Short);
        assert_eq!((of_hints, of_warnings), (shown_hints, shown_warnings), "{text}");
        let more = hints + warnings - shown_hints - shown_warnings;
        assert_eq!(
            text.contains(&format!(
                " more finding{}: plumb explain latest",
                if more == 1 { "" } else { "s" }
            )),
            more > 0,
            "{text}"
        );
        for view in [View::Full, View::Section("findings")] {
            let (of_hints, of_warnings, text) = shown(&single, view);
            // If nothing is folded, each hint also lists its evidence and its limitation.
            let listed = if view == View::Full { warnings } else { warnings + 2 * hints };
            assert_eq!((of_hints, of_warnings), (hints, listed), "{text}");
        }
    }
}

#[test]
fn run_shows_two_findings() {
    let mut findings = sample::findings();
    let first = findings.findings[0].clone();
    findings.findings = vec![first; 5];
    let text = |view| render(&findings, None, Format::Terminal, &Options { view, ..Options::default() });
    let short = text(Some(View::Short));
    assert_eq!(short.matches("[offload-off]").count(), 2, "{short}");
    assert!(short.contains(&format!("3 more findings: plumb explain {}", findings.run.id)), "{short}");
    assert_eq!(text(Some(View::Full)).matches("[offload-off]").count(), 5);
}
