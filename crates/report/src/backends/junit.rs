//! Writes a gate's outcome as JUnit XML, with only the elements and attributes that both Jenkins and GitLab read. An
//! undecided result becomes a skipped test.

use findings::{Gate, GateOutcome, RunComparison};
use samples::UnixMillis;

use super::escape::html;
use crate::{
    comparison::{Case, cases},
    text::Text,
};

pub(crate) fn junit(comparison: &RunComparison, gate: &Gate) -> String {
    let cases = cases(comparison, gate);
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        cases.len(),
        count(GateOutcome::Regressed),
        count(GateOutcome::Undecided)
    );
    let (a, b) = (html(&comparison.a.id.0), html(&comparison.b.id.0));
    let suite = html(&comparison.b.scenario);
    let cases: String = cases.iter().map(|case| self::case(&suite, case)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"plumb check\" {counts}>\n  \
           <testsuite name=\"{suite}\" timestamp=\"{}\" {counts}>\n    \
             <properties>\n      \
               <property name=\"a\" value=\"{a}\"/>\n      \
               <property name=\"b\" value=\"{b}\"/>\n    \
             </properties>\n\
             {cases}  \
           </testsuite>\n\
         </testsuites>\n",
        timestamp(comparison.b.started)
    )
}

fn case(suite: &str, case: &Case) -> String {
    let escaped = |text: &str| html(&Text::from(text).characters());
    let (label, detail) = (escaped(&case.label), escaped(&case.detail));
    let head = format!("    <testcase classname=\"{suite}\" name=\"{label}\"");
    match case.outcome {
        GateOutcome::Passed => format!("{head}/>\n"),
        GateOutcome::Regressed => {
            format!("{head}>\n      <failure type=\"regression\" message=\"{detail}\"/>\n    </testcase>\n")
        }
        GateOutcome::Undecided => {
            format!("{head}>\n      <skipped message=\"{detail}\"/>\n    </testcase>\n")
        }
    }
}

/// ISO 8601 in UTC, without a zone.
fn timestamp(at: UnixMillis) -> String {
    jiff::Timestamp::from_millisecond(at.0).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S").to_string()
}
