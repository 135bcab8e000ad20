//! `imported`: the numbers come from another tool, and anything missing in its logs is unknown.

use samples::{ImportRecord, ImportedFile};

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::measurement("imported", look);

const MOST_NOTES: usize = 3;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let results = !context.findings.results.is_empty();
    let record = context.findings.run.origin.imported().filter(|_| results);
    record.map(|record| finding(record, context)).into_iter().collect()
}

fn finding(record: &ImportRecord, context: &Context<'_>) -> Claim {
    let unknown = unknown(context);
    let results = context.findings.results.len();
    let subjects: Vec<&str> = unknown.iter().map(|(subject, _)| *subject).collect();
    let counted = count(results, "result");
    let lacking = unknown.iter().map(|(subject, lacking)| Evidence::new(*subject).text(lacking));
    let notes = record.notes.iter().take(MOST_NOTES).map(|note| Evidence::new("note").text(note));
    let lead = if subjects.is_empty() {
        Claim::new(
            Severity::Note,
            phrase!["The logs of ", counted, " contain everything that the rules need"],
        )
    } else {
        Claim::new(Severity::Note, phrase!["Not checked because the logs of ", counted, " lack it"])
            .detail(list(&subjects))
    };
    lead.about(&context.findings.results, |result| result)
        .with_evidence(record.files.iter().map(file).chain(lacking).chain(notes))
        .with_limits([
            "Rules cannot see what was not recorded: the absence of a finding means less here \
             than in a plumb run.",
            "Trials in a log are sequential, not interleaved: drift looks like a difference.",
        ])
        .with_remedy(
            Remedy::manual(
                "Measure with plumb if you can",
                vec!["plumb client HOST -p 5201  # against the same iperf3 server".into()],
            )
            .explained(
                "Otherwise save the logs of both ends, several repetitions and a description of \
             the environment.",
            ),
        )
}

fn file(file: &ImportedFile) -> Evidence {
    let formats = if file.formats.is_empty() { "no known format".into() } else { list(&file.formats) };
    Evidence::new(&file.name).text(format!("{formats}, {}", count(file.lines as usize, "line")))
}

fn unknown(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let results = &context.findings.results;
    let of = |lacks: fn(&ResultSummary) -> bool| results.iter().filter(|result| lacks(result)).count();
    let some = |subject: &'static str, lacking: usize| {
        (lacking > 0)
            .then(|| (subject, format!("missing for {lacking} of {}", count(results.len(), "result"))))
    };
    let machine = context
        .findings
        .run
        .environment
        .is_none()
        .then(|| ("the machines", "kernel, processor, virtual or emulated: missing".to_owned()));
    let places = context.results().filter(|(_, measured)| measured.record.placement == "unknown").count();
    let once = of(|result| result.value.trials < 2);
    [
        machine,
        some("CPU time", of(|result| result.cpu.is_none() && result.consumers.is_empty())),
        some("devices and offloads", of(|result| result.devices.is_empty())),
        some("socket settings", of(|result| result.sockets.is_empty())),
        some("placement", places),
        (once > 0).then(|| {
            ("repetition", format!("a single trial for {once} of {}", count(results.len(), "result")))
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || imported::vhost(|_, _| true),
        spares: || made::nested(9e9),
        severity: Severity::Note,
        says: &[
            "Not checked because the logs of 8 results lack it",
            "vhost.log",
            "iperf3 text, 120 lines",
            "CPU time",
            "a single trial for 8 of 8 results",
        ],
        change: None,
    };
}
