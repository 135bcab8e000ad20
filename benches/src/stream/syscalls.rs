//! Bench `syscalls`: system calls per gigabyte over one TCP stream, compared with iperf3. `perf stat` counts
//! exactly and costs a tenth of a microsecond per call, whereas strace would slow down both ends.

use std::{process::Command, time::Duration};

use anyhow::Context;
use units::Bytes;
use workload::{
    Placement::{Free, SameCpu},
    StreamSettings, Until,
};

use super::{Iperf3, Plumb, REST, Tool, limit::EQUAL};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    process::ProgramOutput,
    rounds::{self, Bounds, Contender, Measured},
    wire::{End, Wire},
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "syscalls",
    what: "system calls of one TCP stream of 8 GiB, over the lifetime of each end, per GB",
    units: &["per GB", "sender's", "receiver's"],
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: "plumb app cubic 128K", peer: "iperf3, defaults", targets: &[] },
    Pairing { ours: LIMIT, peer: "iperf3, defaults", targets: &[] },
    Pairing { ours: LIMIT, peer: "iperf3 cubic 1M, same CPU", targets: &[] },
];

const LIMIT: &str = "plumb limit cubic 1M, same CPU";

const AMOUNT: u64 = 8 << 30;
const ROUNDS: usize = 3;

const EVENT: &str = "raw_syscalls:sys_enter";

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    if let Err(error) = try_to_count(wire) {
        rounds::skipped(SUBJECT.name, &error);
        return Ok(vec![]);
    }
    let ours = |plumb: Plumb| Plumb { load: StreamSettings { until: amount(), ..plumb.load }, ..plumb };
    let theirs = |iperf3: Iperf3| Iperf3 { until: amount(), ..iperf3 };
    let mut contenders = [
        counted(PAIRINGS[0].ours, wire, ours(Plumb::app(Free))),
        counted(LIMIT, wire, ours(Plumb::limit(SameCpu))),
        counted(PAIRINGS[0].peer, wire, theirs(Iperf3::new(&[], Free))),
        counted(PAIRINGS[2].peer, wire, theirs(Iperf3::new(EQUAL, SameCpu))),
    ];
    let bounds = bounds.of_at_most(ROUNDS);
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, &bounds, REST)))
}

const fn amount() -> Until {
    Until::Sent(Bytes(AMOUNT))
}

struct Counted<'a, T> {
    name: &'static str,
    wire: &'a Wire,
    tool: T,
}

fn counted<'a, T: Tool + 'a>(name: &'static str, wire: &'a Wire, tool: T) -> Box<dyn Contender + 'a> {
    Box::new(Counted { name, wire, tool })
}

impl<T: Tool> Contender for Counted<'_, T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let (server, port) = self.tool.serve(self.wire, counting)?;
        let client = self.tool.send(self.wire, port, counting)?.finish(Duration::ZERO)?;
        let server = server.finish(Duration::ZERO)?;
        let report = self.tool.report(&client, &server)?;
        let gigabytes = report.received as f64 / 1e9;
        let [client, server] = [count(&client)? / gigabytes, count(&server)? / gigabytes];
        Ok(vec![client + server, client, server].into())
    }
}

fn try_to_count(wire: &Wire) -> anyhow::Result<f64> {
    count(&wire.start(End::Server, &mut counting(Command::new("true")))?.finish(Duration::ZERO)?)
}

#[expect(clippy::needless_pass_by_value, reason = "same signature as the wrapper that does not count")]
fn counting(command: Command) -> Command {
    let mut wrapped = Command::new("unshare");
    wrapped.args([
        "--pid",
        "--fork",
        "--kill-child",
        "perf",
        "stat",
        "--field-separator",
        ",",
        "--event",
        EVENT,
        "--",
    ]);
    wrapped.arg(command.get_program()).args(command.get_args());
    wrapped
}

/// For example `2048,,raw_syscalls:sys_enter,1342678,100.00,,`.
fn count(printed: &ProgramOutput) -> anyhow::Result<f64> {
    let line = printed.error.lines().find(|line| line.contains(EVENT));
    let number = line.and_then(|line| line.split(',').next()?.parse().ok());
    number.with_context(|| format!("no count in perf's output: {}", printed.error.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_count_in_the_first_field() {
        let printed = |error: &str| ProgramOutput { output: String::new(), error: error.into() };
        assert_eq!(
            count(&printed("noise\n2048,,raw_syscalls:sys_enter,1342678,100.00,,\n")).unwrap(),
            2048.0
        );
        for refused in ["<not counted>,,raw_syscalls:sys_enter,0,100.00,,", "No permission"] {
            assert!(count(&printed(refused)).is_err(), "{refused}");
        }
    }
}
