//! `wait-mistaken-for-work`: system calls spent their time waiting or running a guest, so this time is not their
//! cost.

use samples::SyscallCount;
use units::Nanos;

use super::{prelude::*, waiting::Kind};

pub(crate) const RULE: Rule = Rule::measurement("wait-mistaken-for-work", look);

const LEAST: f64 = 0.1;
/// From this fraction on, most of the time is not work.
const MOST: f64 = 0.5;
const MOST_LISTED: usize = 4;

struct Unsplit<'a> {
    result: &'a ResultSummary,
    /// Calls that wait or run a guest, in order of decreasing time.
    idle: Vec<&'a SyscallCount>,
    share: f64,
    total: Nanos,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<Unsplit<'_>> = context.findings.results.iter().filter_map(unsplit).collect();
    strongest(found, |it| it.share, finding)
}

fn unsplit(result: &ResultSummary) -> Option<Unsplit<'_>> {
    let total = together(result.syscalls.iter());
    let mut idle: Vec<&SyscallCount> =
        result.syscalls.iter().filter(|count| is_unsplit(count) && Kind::of(count) != Kind::Work).collect();
    idle.sort_by_key(|count| std::cmp::Reverse(count.total));
    let time = together(idle.iter().copied());
    let share = time.0 as f64 / total.0.max(1) as f64;
    (share >= LEAST).then_some(Unsplit { result, idle, share, total })
}

/// The sum saturates, because logs may contain any numbers.
fn together<'a>(counts: impl Iterator<Item = &'a SyscallCount>) -> Nanos {
    counts.filter_map(|count| count.total).fold(Nanos(0), |sum, total| Nanos(sum.0.saturating_add(total.0)))
}

fn is_unsplit(count: &SyscallCount) -> bool {
    let split = count.running.is_some() || count.waiting.is_some() || count.guest.is_some();
    !split && count.total.is_some_and(|total| total.0 > 0)
}

fn finding(worst: &Unsplit<'_>, found: &[Unsplit<'_>]) -> Claim {
    let mut calls: Vec<&str> = Vec::new();
    for call in worst.idle.iter().map(|count| count.call.as_str()) {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    Claim::new(
        Severity::warning_if(worst.share >= MOST),
        phrase![
            percent(worst.share),
            " of the ",
            worst.total,
            " in system calls may be waiting, not work, in ",
            worst.result,
        ],
    )
    .further(format!(
        "These calls wait or run a guest ({}), so their total time is not their \
             cost.",
        list(&calls)
    ))
    .about(found, |unsplit| unsplit.result)
    .affected()
    .with_evidence(found.iter().flat_map(evidence))
    .with_limits([
        "This is judged by the names of the call, process and thread. Part of such a call is work, and \
         other calls (read, readv, write on a full socket) may wait too.",
        "Each call's time includes the tracer's cost.",
    ])
    .with_remedy(remedy())
}

fn evidence(unsplit: &Unsplit<'_>) -> Vec<Evidence> {
    let seen = |what: String, count: &SyscallCount| {
        let time = count.total.unwrap_or_default();
        Evidence::new(what)
            .time(time)
            .text(", ")
            .share(time.0 as f64 / unsplit.total.0.max(1) as f64)
            .text(" of all in ")
            .count(count.calls)
            .text(" calls, ")
            .time(each(count))
            .text(" each")
    };
    let idle = unsplit.idle.iter().take(MOST_LISTED).map(|count| {
        seen(format!("{} of {}: {}", who(count), unsplit.result.label, Kind::of(count).in_words()), count)
    });
    let work = unsplit.result.syscalls.iter().filter(|count| Kind::of(count) == Kind::Work);
    let most = work.max_by_key(|count| count.total).filter(|count| count.total.is_some());
    let most = most.map(|count| {
        seen(format!("most time in calls that may be work, {}: {}", unsplit.result.label, who(count)), count)
    });
    idle.chain(most).collect()
}

fn each(count: &SyscallCount) -> Nanos {
    Nanos(count.total.unwrap_or_default().0 / count.calls.max(1))
}

/// For example, `ioctl of fc_vcpu 0 at the server`.
fn who(count: &SyscallCount) -> String {
    let by = count
        .thread
        .as_ref()
        .or(count.process.as_ref())
        .map(|name| format!(" by {name}"))
        .unwrap_or_default();
    let end = count.end.as_ref().map(|end| format!(" at the {end}")).unwrap_or_default();
    format!("{}{by}{end}", count.call)
}

fn remedy() -> Remedy {
    Remedy::manual(
        "Compare the threads' running time, not their time in calls",
        vec![
            "perf stat -e task-clock,context-switches -p PID --per-thread".into(),
            "perf kvm stat live -p PID".into(),
            "perf sched record -- sleep 10 && perf sched timehist -p PID".into(),
        ],
    )
    .explained(
        "For a vCPU, count exits and their reasons: a long KVM_RUN means that the \
             guest is running or idle.",
    )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || imported::syscalls("kvm-kvm throughput"),
        spares: || imported::split(imported::syscalls("kvm-kvm throughput")),
        severity: Severity::Warning,
        says: &[
            "88.7 % of the",
            "ioctl, ppoll and futex",
            "158 µs each",
            "5.47 ms each",
            "read at the server",
        ],
        change: None,
    };
}
