//! `buffer-limited`: the senders were limited by a socket buffer rather than the path.

use findings::{StreamSummary, TcpSummary};
use samples::{CpuUsage, ThreadRole, WorkloadSource};
use units::{Bytes, Nanos};

use super::{
    prelude::*,
    significance::{self, Above},
};
use crate::kind;

pub(crate) const RULE: Rule = Rule::cause("buffer-limited", look);

/// A buffer must limit the sender for at least this fraction of the time.
pub(crate) const MUCH: f64 = 0.1;

/// A buffer that limits the sender for this fraction of the time determines the throughput.
const HALF: f64 = 0.5;

/// Above this utilization, a receiving thread or machine reads too slowly, and the buffer fills up.
const BUSY: f64 = 0.85;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// The receiver's buffer, which limits the sender through the advertised window.
    Receive,
    Send,
}

impl Buffer {
    /// Returns the buffer that limits the sender. A send buffer counts only if its size is fixed, because an
    /// autotuned one is full whenever the path is the bottleneck.
    pub(crate) fn that_holds(tcp: &TcpSummary, fixed: bool) -> Option<(Self, f64)> {
        let (receive, send) = (tcp.receive_window_limited?, tcp.send_buffer_limited?);
        if receive >= send { Some((Self::Receive, receive)) } else { fixed.then_some((Self::Send, send)) }
    }

    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Receive => "receive window",
            Self::Send => "send buffer",
        }
    }

    pub(crate) const fn end(self) -> &'static str {
        match self {
            Self::Receive => "receiver",
            Self::Send => "sender",
        }
    }
}

/// Returns whether the receivers had time to read and thus did not cause a full window. `None` if unknown.
pub(crate) fn receivers_had_time(usage: &CpuUsage) -> Option<bool> {
    let share = |busy: Nanos, elapsed: Nanos| (elapsed.0 > 0).then(|| busy.seconds() / elapsed.seconds());
    let receivers = usage.threads.iter().filter(|thread| thread.role == ThreadRole::Receive);
    let busiest = receivers.filter_map(|thread| share(thread.busy, thread.elapsed)).max_by(f64::total_cmp)?;
    let machine = share(usage.machine.busy(), usage.machine.elapsed)
        .map(|busy| busy / f64::from(usage.machine.cpus.max(1)));
    Some(busiest < BUSY && machine.is_none_or(|busy| busy < BUSY))
}

struct LimitedResult<'a> {
    result: &'a ResultSummary,
    buffer: Buffer,
    share: Above,
    fixed: Option<Bytes>,
    in_time: Option<bool>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<LimitedResult<'_>> =
        context.results().filter_map(|(result, measured)| held(result, measured)).collect();
    found.sort_by(|one, other| {
        other.share.sure.cmp(&one.share.sure).then(other.share.estimate.total_cmp(&one.share.estimate))
    });
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn held<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<LimitedResult<'a>> {
    let fixed = match &measured.record.sent {
        WorkloadSource::Load(load) => load.kind().socket()?.window,
        WorkloadSource::Imported(_) => None,
    };
    let (buffer, _) = Buffer::that_holds(StreamSummary::of(result)?.tcp.as_ref()?, fixed.is_some())?;
    let trials = measured.trials().filter_map(|trial| kind::stream::tcp(&[kind::stream::flows(trial)]));
    let shares: Vec<f64> = trials
        .filter_map(|tcp| match buffer {
            Buffer::Receive => tcp.receive_window_limited,
            Buffer::Send => tcp.send_buffer_limited,
        })
        .collect();
    let share = significance::above(&shares, MUCH)?;
    let in_time = match buffer {
        Buffer::Receive => receivers(measured),
        Buffer::Send => Some(true),
    };
    (in_time != Some(false)).then_some(LimitedResult { result, buffer, share, fixed, in_time })
}

fn receivers(measured: &Observations<'_>) -> Option<bool> {
    let readings: Vec<bool> = measured.trials().filter_map(|trial| receivers_had_time(&trial.cpu)).collect();
    let in_time = readings.iter().filter(|in_time| **in_time).count();
    (!readings.is_empty()).then_some(2 * in_time >= readings.len())
}

fn finding(worst: &LimitedResult<'_>, found: &[LimitedResult<'_>]) -> Claim {
    let setting = worst.fixed.map(|size| format!(" (fixed at {size})")).unwrap_or_default();
    let others = match found.len() {
        1 => Phrase::default(),
        results => phrase![", the largest share of ", count(results, "result")],
    };
    Claim::new(
        if worst.share.sure && (worst.in_time.is_some() || worst.fixed.is_some()) {
            Severity::Warning
        } else {
            Severity::Note
        },
        phrase![
            format!("The {}{setting} limited the senders of ", worst.buffer.in_words()),
            worst.result,
            " for ",
            percent(worst.share.estimate),
            " of the time",
            others,
        ],
    )
    .further(if worst.share.estimate >= HALF {
        "The path is not the bottleneck."
    } else {
        "During that time, the path was not the bottleneck."
    })
    .about(found, |held| held.result)
    .with_evidence(found.iter().flat_map(evidence))
    .with_limits(limitations(worst))
    .with_remedy(remedy(worst))
}

fn limitations(worst: &LimitedResult<'_>) -> Vec<String> {
    let slow = "A slow reader also fills its window.";
    let unknown = "The receivers' CPU time is unknown, so they may be the bottleneck.";
    let unknown = worst.in_time.is_none().then_some(unknown);
    [slow].into_iter().chain(unknown).map(str::to_owned).collect()
}

fn evidence(held: &LimitedResult<'_>) -> Vec<Evidence> {
    let share = Evidence::new(format!("{} limited by the {}", held.result.label, held.buffer.in_words()))
        .share(held.share.estimate)
        .text(" of the time");
    let end = held.buffer.end();
    let socket = held.result.sockets.iter().find(|known| known.end == end).map(|known| &known.socket);
    let size = socket.and_then(|socket| match held.buffer {
        Buffer::Receive => socket.receive_buffer,
        Buffer::Send => socket.send_buffer,
    });
    let size = size.map(|size| {
        Evidence::new(format!("the {end}'s buffer as reported by the kernel, {}", held.result.label))
            .size(size)
    });
    [share].into_iter().chain(size).collect()
}

fn remedy(worst: &LimitedResult<'_>) -> Remedy {
    if worst.fixed.is_some() {
        let action =
            "Leave the window unset so that buffers autotune, or set it to at least rate times round trip";
        return Remedy { change: Some(Change::GrowingBuffers), ..Remedy::manual(action, Vec::new()) };
    }
    Remedy::manual(
        "Raise the autotuning limit on the receiver's machine to at least rate times \
             round trip",
        vec!["sysctl -w net.ipv4.tcp_rmem=\"4096 131072 67108864\"".into()],
    )
    .explained("If its CPU is busy, a larger buffer only hides the problem.")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::buffered(100, true),
        spares: || made::buffered(100, false),
        severity: Severity::Warning,
        says: &["send buffer (fixed at 64.0 KiB)", "40.0 % of the time", "Leave the window unset"],
        change: Some("growing-buffers"),
    };
}
