//! Imports that most rules need.

pub(super) use findings::{Change, Evidence, Phrase, Remedy, ResultSummary, Severity, Unit, phrase};

pub(super) use super::{Claim, Context, Rule, strongest};
pub(super) use crate::{
    observations::Observations,
    order::{ByNumber, sort_descending},
    words::{count, list, percent, value},
};
