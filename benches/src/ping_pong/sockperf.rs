//! The sockperf found in the PATH.

use std::process::Command;

use anyhow::Context;
use workload::{Placement, Transport, Waiting};

use super::{MEASURED, MESSAGE, WARMUP, every};
use crate::{
    ends::SHARES,
    placement::cpus,
    rounds::{Contender, Measured},
    wire::{End, Wire},
};

const PORT: u16 = 11111;

pub(super) struct Sockperf<'a> {
    pub(super) name: &'static str,
    pub(super) wire: &'a Wire,
    pub(super) transport: Transport,
    pub(super) waiting: Waiting,
    pub(super) placement: Placement,
}

impl Contender for Sockperf<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn works_in(&self, round: usize) -> bool {
        round.is_multiple_of(every(self.waiting))
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let [at_client, at_server] = cpus(&self.placement).map_or([None, None], |both| both.map(Some));
        let mut server = self.wire.start(End::Server, self.say(&mut sockperf(at_server, "server")))?;
        self.wire.await_listener(self.transport, PORT, &mut server)?;
        let mut client = sockperf(at_client, "ping-pong");
        self.say(&mut client).arg("--full-rtt");
        client.args(["-m", &MESSAGE.to_string(), "-t", &MEASURED.as_secs().to_string()]);
        let printed = self.wire.start(End::Client, &mut client)?.finish(WARMUP + MEASURED)?;
        drop(server);
        let values = SHARES.into_iter().map(|share| percentile(&printed.output, share));
        Ok(values.collect::<anyhow::Result<Vec<_>>>()?.into())
    }
}

impl Sockperf<'_> {
    fn say<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.args(["-i", &End::Server.address().to_string(), "-p", &PORT.to_string()]);
        if self.transport == Transport::Tcp {
            command.arg("--tcp");
        }
        if self.waiting == Waiting::Spin {
            command.arg("--nonblocked");
        }
        command
    }
}

fn sockperf(cpus: Option<Vec<u32>>, role: &str) -> Command {
    let Some(cpus) = cpus else {
        let mut command = Command::new("sockperf");
        command.arg(role);
        return command;
    };
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &list.join(","), "sockperf", role]);
    command
}

/// For example `sockperf: ---> percentile 99.000 =  311.240`, in microseconds.
fn percentile(text: &str, share: f64) -> anyhow::Result<f64> {
    let label = format!("percentile {:.3} =", share * 100.0);
    let found = text.lines().find_map(|line| line.split_once(&label)?.1.trim().parse().ok());
    found.with_context(|| format!("no {label} in sockperf's output"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_percentile() {
        let text =
            "sockperf: ---> percentile 99.900 = 1141.122\nsockperf: ---> percentile 99.000 =  311.240\n";
        assert_eq!(percentile(text, 0.99).unwrap(), 311.24);
        assert_eq!(percentile(text, 0.999).unwrap(), 1141.122);
        assert!(percentile(text, 0.5).unwrap_err().to_string().contains("50.000"));
    }
}
