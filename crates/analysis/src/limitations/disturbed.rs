//! Reports other work on the machine during trials, and the trials it affected.

use samples::{DiscardedAttempt, RunRecord, Trial};

use crate::{disturbance::by, observations::Observations, words::count};

pub(super) fn limitations(record: &RunRecord, measured: &[Observations<'_>]) -> Vec<String> {
    [left_out(measured), cut_short(measured), made_again(record)].into_iter().flatten().collect()
}

fn left_out(measured: &[Observations<'_>]) -> Option<String> {
    let left_out = measured.iter().flat_map(|result| result.left_out.iter().copied());
    let trials: Vec<&Trial> = left_out.filter(|trial| trial.is_disturbed()).collect();
    (!trials.is_empty()).then(|| {
        format!(
            "{} disturbed by other work ({}) could not be repeated in time and {} left out.",
            count(trials.len(), "trial"),
            by(trials.iter().flat_map(|trial| &trial.warnings)),
            if trials.len() == 1 { "is" } else { "are" }
        )
    })
}

fn cut_short(measured: &[Observations<'_>]) -> Option<String> {
    let left_out = measured.iter().flat_map(|result| &result.left_out);
    let trials = left_out.filter(|trial| !trial.is_disturbed()).count();
    (trials > 0).then(|| {
        let are = if trials == 1 { "is" } else { "are" };
        format!("{} that ended early {are} left out.", count(trials, "trial"))
    })
}

fn made_again(record: &RunRecord) -> Option<String> {
    let again: Vec<&Trial> = record.trials.iter().filter(|trial| !trial.discarded.is_empty()).collect();
    let attempts: Vec<&DiscardedAttempt> = again.iter().flat_map(|trial| &trial.discarded).collect();
    let (first, last) =
        (attempts.iter().map(|it| it.started).min()?, attempts.iter().map(|it| it.started).max()?);
    let into = |at: samples::UnixMillis| {
        (at.0 - record.trials.iter().map(|trial| trial.started.0).chain([first.0]).min().unwrap_or(at.0))
            / 1000
    };
    let when = match (into(first), into(last)) {
        (first, last) if first == last => format!("{first} s into the run"),
        (first, last) => format!("{first} to {last} s into the run"),
    };
    Some(format!(
        "{} of {} {} repeated: {when}, {}.",
        again.len(),
        count(record.trials.len(), "trial"),
        if again.len() == 1 { "was" } else { "were" },
        by(attempts.iter().map(|attempt| &attempt.reason))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations::gather};
    use samples::{Disturber, UnixMillis, ValidityWarning};

    fn disturbed(cpus: f64) -> ValidityWarning {
        ValidityWarning::Disturbed {
            share: cpus / 2.0,
            processes: vec![Disturber { process: Some("cc1".into()), cpus }],
        }
    }

    fn texts(change: impl Fn(&mut Trial)) -> Vec<String> {
        texts_of(6, change)
    }

    fn texts_of(blocks: u32, change: impl Fn(&mut Trial)) -> Vec<String> {
        let mut run = Fixture::new(blocks);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9).each("plain/bulk", change);
        limitations(&run.record, &gather(&run.record))
    }

    #[test]
    fn excludes_disturbed_trial_and_names_the_process() {
        let texts = texts(|trial| trial.warnings.extend((trial.block == 2).then(|| disturbed(1.2))));
        let [left_out] = &texts[..] else { panic!("{texts:#?}") };
        assert!(
            left_out.starts_with("2 trials disturbed by other work (`cc1` used up to 1.20 CPUs)"),
            "{left_out}"
        );
    }

    #[test]
    fn trial_that_ended_early_is_left_out_without_blaming_other_work() {
        let early = ValidityWarning::Interrupted { requested: None, measured: units::Nanos::from_secs(1) };
        let texts = texts(|trial| {
            let is_early = trial.block == 2 && trial.arm == samples::Arm::Measure;
            trial.warnings.extend(is_early.then(|| early.clone()));
        });
        assert_eq!(texts, ["1 trial that ended early is left out."]);
    }

    /// Without the disturbed repetition, only four pairs would remain, too few for a noise floor.
    #[test]
    fn keeps_disturbed_repetition_if_only_five_exist() {
        let of = |arm| {
            texts_of(5, move |trial| {
                trial.warnings.extend((trial.block == 2 && trial.arm == arm).then(|| disturbed(1.2)));
            })
        };
        assert_eq!([of(samples::Arm::Again), of(samples::Arm::Measure)], [Vec::<String>::new(), Vec::new()]);
    }

    #[test]
    fn reports_repeated_trial_with_time_and_cause() {
        let texts = texts(|trial| {
            if trial.block == 3 && trial.arm == samples::Arm::Measure {
                let started = UnixMillis(trial.started.0 + 4_000);
                trial.discarded.push(DiscardedAttempt { started, reason: disturbed(0.8) });
            }
        });
        let [again] = &texts[..] else { panic!("{texts:#?}") };
        assert_eq!(again, "1 of 12 trials was repeated: 4 s into the run, `cc1` used up to 0.80 CPUs.");
    }
}
