//! Phrases for warnings about a value.

use samples::{Disturber, ValidityWarning};
use units::Share;

use super::count;

pub(crate) const HALVES: &str = "these look like half round trips, as sockperf prints them";

pub(crate) fn warning(warning: &ValidityWarning) -> String {
    match warning {
        ValidityWarning::GeneratorLimited { end, busy } => {
            format!(
                "the {end}'s sending thread was {} busy and may be the bottleneck instead of the path",
                Share(*busy)
            )
        }
        ValidityWarning::ReceiverLimited { end, busy } => {
            format!(
                "the {end}'s receiving thread was {} busy and may be the bottleneck instead of the path",
                Share(*busy)
            )
        }
        ValidityWarning::Stolen { share } => {
            format!("the hypervisor took {} of the CPU time (steal)", Share(*share))
        }
        ValidityWarning::Disturbed { share, processes } => {
            format!("{} took {} of the CPU time", Disturber::all(processes), Share(*share))
        }
        ValidityWarning::Stalled { end, stalled } => format!("the {end}'s process was stalled for {stalled}"),
        ValidityWarning::OtherDuration { requested, measured } => {
            format!("only {measured} were measured instead of {requested}")
        }
        ValidityWarning::EndsDisagree { sent, received } => {
            format!("the ends disagree: {sent} sent, {received} received")
        }
        ValidityWarning::Emulated => {
            "a machine at one end was emulated: counts are valid, times and rates are not comparable with hardware"
                .to_owned()
        }
        ValidityWarning::RateNotReached { requested, achieved } => {
            format!("a sender was set to {requested} but sent {achieved}: the sender or the path is saturated")
        }
        ValidityWarning::LateGenerator { lateness, period, tail } => format!(
            "one message in a hundred was sent at least {lateness} late (one was due every {period}): the \
             generator itself caused much of the 99th percentile ({tail})"
        ),
        ValidityWarning::Lossy { lost, total } => format!(
            "{} of the messages were lost ({lost} of {total}): percentiles cover only the others, and a lost message \
             would have been the slowest",
            Share(*lost as f64 / (*total).max(1) as f64)
        ),
        ValidityWarning::Strays { strays, total } => format!(
            "{} had a sequence number that was never sent (no other count includes them): something at the other end \
             or on the path alters or forges messages; capture packets at both ends (`tcpdump -x`) to find out where",
            format_args!("{strays} of {}", count(*total, "message")),
        ),
        ValidityWarning::HalfRoundTrips => {
            format!("{HALVES}: at this rate each round trip takes twice as long")
        }
        ValidityWarning::Interrupted { requested: Some(requested), measured } => {
            format!("interrupted: {measured} of {requested} were measured")
        }
        ValidityWarning::Interrupted { requested: None, measured } => {
            format!("interrupted after {measured}, before all data was sent")
        }
    }
}
