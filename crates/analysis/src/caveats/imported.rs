//! What has to be known of numbers that other tools have measured.

use samples::{ImportRecord, RunRecord};
use workload::ReportedData;

use crate::{
    observations::Observations,
    single_trial::{self, MARGIN},
    words::{count, list, percent},
};

/// Every caveat that applies to an imported run; none of a measured one.
pub(super) fn caveats(record: &RunRecord, measured: &[Observations<'_>]) -> Vec<String> {
    let mut caveats = Vec::new();
    caveats.extend(record.header.origin.imported().map(unknown));
    caveats.extend(from_series(measured));
    caveats.extend(without_samples(measured));
    caveats.extend(jumped(measured));
    caveats
}

fn unknown(import: &ImportRecord) -> String {
    let files: Vec<&str> = import.files.iter().map(|file| file.name.as_str()).collect();
    let of = if files.is_empty() { String::new() } else { format!(" ({})", list(&files)) };
    format!(
        "The numbers were measured by other tools and read from their logs{of}: what these do not tell, such as the \
         machine, its load and the devices on the way, is unknown."
    )
}

fn from_series(measured: &[Observations<'_>]) -> Option<String> {
    let alone = measured
        .iter()
        .filter(|cell| single_trial::is_told(cell) && single_trial::estimate(cell).is_some())
        .count();
    (alone > 0).then(|| {
        format!(
            "{} of {} {} one trial. The interval comes from the intervals within it, and what changes from one trial to \
             the next is not in it; so a difference is called one only when its interval excludes 1 by more than {}.",
            alone,
            count(measured.len(), "cell"),
            if alone == 1 { "has" } else { "have" },
            percent(MARGIN)
        )
    })
}

fn without_samples(measured: &[Observations<'_>]) -> Option<String> {
    let reported = |cell: &&Observations<'_>| {
        cell.points.len() == 1 && cell.trials().all(|trial| ReportedData::of(&trial.measurement).is_some())
    };
    let rows = measured.iter().filter(reported).count();
    (rows > 0).then(|| {
        format!(
            "{} of {} {} one reported number without samples: how much it would vary is unknown, and no difference to \
             it is called one.",
            rows,
            count(measured.len(), "cell"),
            if rows == 1 { "is" } else { "are" },
        )
    })
}

fn jumped(measured: &[Observations<'_>]) -> Option<String> {
    let jumps = |cell: &&Observations<'_>| single_trial::is_told(cell) && single_trial::jumped(cell);
    let ids: Vec<&str> = measured.iter().filter(jumps).map(|cell| cell.record.id.as_str()).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "The rate of {} jumped from one level to another within its only trial: its mean says how long it stayed at \
             each, and another trial may stay elsewhere. So a difference to it is called one only beyond these levels.",
            list(&ids)
        )
    })
}
