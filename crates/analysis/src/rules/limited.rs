//! Common code of the rules about saturated ends: finds results in which most trials have the same kind of warning.

use samples::ValidityWarning;
use workload::Mode;

use super::prelude::*;

pub(crate) struct Words {
    /// `sending` or `receiving`.
    pub(crate) doing: &'static str,
    pub(crate) limitation: &'static str,
}

pub(crate) fn look(
    context: &Context<'_>,
    words: &Words,
    busy: fn(&ValidityWarning) -> Option<(&str, f64)>,
) -> Option<Claim> {
    let mut affected: Vec<(&ResultSummary, &str, f64)> =
        context.findings.results.iter().filter_map(|result| mostly(result, busy)).collect();
    sort_descending(&mut affected, |one| one.2);
    let most = affected.iter().map(|(_, _, busy)| *busy).fold(0.0, f64::max);
    let doing = words.doing;
    (!affected.is_empty()).then(|| {
        Claim::new(
            Severity::Note,
            phrase![
                format!("A {doing} thread was busy up to "),
                percent(most),
                " of the time in ",
                count(affected.len(), "result"),
            ],
        )
        .detail("this thread may be the bottleneck, not the path")
        .about(&affected, |(result, ..)| result)
        .with_evidence(affected.iter().map(|(result, end, busy)| {
            Evidence::new(format!("busiest {doing} thread at the {end}, {}", result.label))
                .share(*busy)
                .text(" of one CPU")
        }))
        .with_limits([words.limitation])
    })
}

pub(crate) fn mostly(
    result: &ResultSummary,
    busy: fn(&ValidityWarning) -> Option<(&str, f64)>,
) -> Option<(&ResultSummary, &str, f64)> {
    let often = result.warnings.iter().filter(|(_, trials)| trials.saturating_mul(2) >= result.value.trials);
    often.filter_map(|(warning, _)| busy(warning)).map(|(end, busy)| (result, end, busy)).next()
}

pub(crate) fn relief(finding: &Claim, context: &Context<'_>) -> Option<Change> {
    let result = finding.results.first()?;
    let load = context.measured_of(result)?.asked()?;
    if load.mode == Mode::App { Some(Change::LimitMode) } else { more_streams(result, context) }
}

pub(crate) fn more_streams(result: &str, context: &Context<'_>) -> Option<Change> {
    const MOST: u32 = 128;
    let load = context.measured_of(result)?.asked()?;
    (load.streams <= MOST / 2).then(|| Change::Streams { streams: load.streams * 2 })
}
