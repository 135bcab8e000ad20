//! Limitations of results from other tools.

use samples::{ImportRecord, RunRecord};
use workload::ReportedData;

use crate::{
    observations::Observations,
    single_trial::{self, MARGIN},
    words::{count, list, percent},
};

pub(super) fn limitations(record: &RunRecord, measured: &[Observations<'_>]) -> Vec<String> {
    let mut limitations = Vec::new();
    limitations.extend(record.header.origin.imported().map(unknown));
    limitations.extend(from_series(measured));
    limitations.extend(without_samples(measured));
    limitations.extend(jumped(measured));
    limitations
}

fn unknown(import: &ImportRecord) -> String {
    let files: Vec<&str> = import.files.iter().map(|file| file.name.as_str()).collect();
    let of = if files.is_empty() { String::new() } else { format!(" ({})", list(&files)) };
    format!(
        "The numbers come from logs of other tools{of}; anything missing there, such as the machine, its load and \
         the devices on the path, is unknown."
    )
}

fn from_series(measured: &[Observations<'_>]) -> Option<String> {
    let alone = measured
        .iter()
        .filter(|result| single_trial::is_imported(result) && single_trial::estimate(result).is_some())
        .count();
    (alone > 0).then(|| {
        format!(
            "{} of {} {} one trial. The interval covers variation within that trial but not between trials, so a \
             difference is significant only if its interval excludes 1 by more than {}.",
            alone,
            count(measured.len(), "result"),
            if alone == 1 { "has" } else { "have" },
            percent(MARGIN)
        )
    })
}

fn without_samples(measured: &[Observations<'_>]) -> Option<String> {
    let reported = |result: &&Observations<'_>| {
        result.points.len() == 1
            && result.trials().all(|trial| ReportedData::of(&trial.measurement).is_some())
    };
    let rows = measured.iter().filter(reported).count();
    (rows > 0).then(|| {
        format!(
            "{} of {} {} a single reported number without samples: its variation is unknown, so no difference from \
             it is significant.",
            rows,
            count(measured.len(), "result"),
            if rows == 1 { "is" } else { "are" },
        )
    })
}

fn jumped(measured: &[Observations<'_>]) -> Option<String> {
    let jumps =
        |result: &&Observations<'_>| single_trial::is_imported(result) && single_trial::jumped(result);
    let ids: Vec<&str> = measured.iter().filter(jumps).map(|result| result.record.id.as_str()).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "The rate of {} shifted between levels within its only trial. Its mean depends on the time spent at \
             each level, and another trial may differ, so a difference is significant only beyond these levels.",
            list(&ids)
        )
    })
}
