//! `generator-limited` and `receiver-limited`: a thread of ours had no time left.

use findings::{Severity, SingleMeasurement};
use samples::ValidityWarning;

use super::{Advice, Hint};
use crate::{single_measurement::Single, words::percent};

pub(crate) const GENERATOR: Hint = Hint { id: "generator-limited", look: sending };
pub(crate) const RECEIVER: Hint = Hint { id: "receiver-limited", look: receiving };

fn sending(single: &Single<'_>, _: &SingleMeasurement) -> Option<Advice> {
    single.doubts.iter().find_map(|doubt| match doubt {
        ValidityWarning::GeneratorLimited { end, busy } => Some(said("sending", end, *busy)),
        _ => None,
    })
}

fn receiving(single: &Single<'_>, _: &SingleMeasurement) -> Option<Advice> {
    single.doubts.iter().find_map(|doubt| match doubt {
        ValidityWarning::ReceiverLimited { end, busy } => Some(said("receiving", end, *busy)),
        _ => None,
    })
}

fn said(doing: &str, end: &str, busy: f64) -> Advice {
    Advice {
        severity: Severity::Note,
        claim: format!("The {end}'s {doing} thread was busy {} of the time: it may be the limit.", percent(busy)),
        evidence: vec![(format!("busiest {doing} thread"), format!("{} of one CPU", percent(busy)))],
        caveats: vec!["Over virtual devices the kernel does much of the path's work on a thread's time."],
        action: "Try more parallel streams (-P 2), or limit mode (--mode limit) for what the path could carry without copies."
            .into(),
        commands: Vec::new(),
    }
}
