//! Workload settings that a factor can vary, and their values.

use workload::{Direction, Mode, Placement, Waiting};

use crate::{
    check::workloads::{self, COUNTS},
    diagnosis::Problem,
    factor::WorkloadSetting as Setting,
    values::{Label, Values, Word},
};

/// The only setting that accepts multiples of another factor.
pub(super) const STREAMS: &str = "streams";

pub(super) static ALL: [Word<Setting>; 9] = [
    Word {
        word: STREAMS,
        about: "Number of parallel connections: integers, or multiples of the number of queues (`of`, `times`).",
        values: Values::Numbers {
            range: COUNTS,
            describe: |streams| format!("{streams} streams are"),
            set: Setting::Streams,
        },
    },
    Word {
        word: "direction",
        about: "Direction of streams: `forward`, `reverse` or `both`.",
        values: Values::Words(&[
            ("forward", Setting::Direction(Direction::Forward)),
            ("reverse", Setting::Direction(Direction::Reverse)),
            ("both", Setting::Direction(Direction::Both)),
        ]),
    },
    Word {
        word: "message",
        about: "Message size.",
        values: Values::Texts(&["64", "128KiB"], |label| label.size().map(Setting::Message)),
    },
    Word {
        word: "congestion",
        about: "TCP congestion control.",
        values: Values::Texts(&["cubic", "bbr", "kernel"], congestion),
    },
    Word {
        word: "placement",
        about: "CPU placement: `free`, `same-cpu` or `cross-cpu`.",
        values: Values::Words(&[
            ("free", Setting::Placement(Placement::Free)),
            ("same-cpu", Setting::Placement(Placement::SameCpu)),
            ("cross-cpu", Setting::Placement(Placement::CrossCpu)),
        ]),
    },
    Word {
        word: "mode",
        about: "How streams send and receive: `app` or `limit`. Also sets the default size of writes.",
        values: Values::Words(&[("app", Setting::Mode(Mode::App)), ("limit", Setting::Mode(Mode::Limit))]),
    },
    Word {
        word: "rate",
        about: "Rate limit per stream connection, or `unlimited`.",
        values: Values::Texts(&["1Gbit/s", "unlimited"], rate),
    },
    Word {
        word: "waiting",
        about: "How both ends of a ping-pong wait: `block` or `spin`.",
        values: Values::Words(&[
            ("block", Setting::Waiting(Waiting::Block)),
            ("spin", Setting::Waiting(Waiting::Spin)),
        ]),
    },
    Word {
        word: "schedule",
        about: "When a ping-pong sends: `closed` or `open`. The workload needs `schedule = \"open\"` and a period.",
        values: Values::Words(&[("closed", Setting::Open(false)), ("open", Setting::Open(true))]),
    },
];

fn congestion(label: &Label<'_>) -> Result<Setting, Problem> {
    let valid = Setting::Congestion(label.text.to_owned());
    workloads::not_congestion(label.text, label.place.clone()).map_or(Ok(valid), Err)
}

fn rate(label: &Label<'_>) -> Result<Setting, Problem> {
    if label.text == "unlimited" {
        return Ok(Setting::Rate(None));
    }
    let help = "write `unlimited` for streams without a rate limit";
    let rate = label.quantity("not a rate").map_err(|problem| problem.help(help))?;
    workloads::rate_out_of(rate, label.place.clone()).map_or(Ok(Setting::Rate(Some(rate))), Err)
}
