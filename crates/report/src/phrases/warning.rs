//! Reasons to distrust a number, in words. Must not know which number.

use samples::{Disturber, ValidityWarning};
use units::Share;

use super::count;

/// What is said beside times that are halves.
pub(crate) const HALVES: &str = "these look like halves of round trips, as sockperf prints them";

/// A reason to distrust a number, as a clause.
pub(crate) fn warning(doubt: &ValidityWarning) -> String {
    match doubt {
        ValidityWarning::GeneratorLimited { end, busy } => {
            format!("the {end}'s sending thread was {} busy: it may be the limit, not the path", Share(*busy))
        }
        ValidityWarning::ReceiverLimited { end, busy } => {
            format!(
                "the {end}'s receiving thread was {} busy: it may be the limit, not the path",
                Share(*busy)
            )
        }
        ValidityWarning::Stolen { share } => {
            format!("the hypervisor took {} of the CPU time away", Share(*share))
        }
        ValidityWarning::Disturbed { share, by } => {
            format!("{} took {} of the CPU time", Disturber::all(by), Share(*share))
        }
        ValidityWarning::Stalled { end, stalled } => format!("the {end}'s process did not run for {stalled}"),
        ValidityWarning::OtherDuration { asked, measured } => {
            format!("{measured} were measured where {asked} were asked for")
        }
        ValidityWarning::EndsDisagree { sent, received } => {
            format!("the ends disagree: {sent} sent, {received} received")
        }
        ValidityWarning::Emulated => {
            "a machine at one end was emulated: counts hold, times and rates do not compare with \
             hardware"
                .to_owned()
        }
        ValidityWarning::RateNotKept { asked, got } => {
            format!("a sender was asked for {asked} and sent {got}: it or the path had no room for more")
        }
        ValidityWarning::LateGenerator { lateness, period, tail } => format!(
            "one message in a hundred left {lateness} late (one was due every {period}): of the {tail} that it took \
             since its intended time, much is the generator's own"
        ),
        ValidityWarning::Lossy { lost, of } => format!(
            "{} of the messages did not come back ({lost} of {of}): the percentiles are those of the others, and a \
             message that was lost would have been the slowest",
            Share(*lost as f64 / (*of).max(1) as f64)
        ),
        ValidityWarning::Strays { strays, of } => format!(
            "{} that came {} a number that was never sent, and no other count has {}: something at the other end or \
             on the path alters messages, or another sends in its name; capture them at both ends (`tcpdump -x`) to \
             see where they change",
            format_args!("{strays} of {}", count(*of, "message", "messages")),
            if *strays == 1 { "has" } else { "have" },
            if *strays == 1 { "it" } else { "them" },
        ),
        ValidityWarning::HalfRoundTrips => {
            format!("{HALVES}: at its rate each round trip takes twice as long")
        }
        ValidityWarning::Interrupted { asked: Some(asked), measured } => {
            format!("it was interrupted: {measured} of {asked} were measured")
        }
        ValidityWarning::Interrupted { asked: None, measured } => {
            format!("it was interrupted after {measured}, before all was sent that was asked")
        }
    }
}
