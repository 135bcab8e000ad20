//! The iperf3 found in the PATH.

use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;
use units::Bytes;
use workload::{Placement, Transport, Until};

use super::{Report, TIME, Tool};
use crate::{
    placement::cpus,
    process::{ProgramOutput, Running},
    wire::{End, Wire},
};

const PORT: u16 = 5201;

pub(super) struct Iperf3 {
    pub(super) flags: &'static [&'static str],
    pub(super) placement: Placement,
    pub(super) until: Until,
}

impl Iperf3 {
    pub(super) fn new(flags: &'static [&'static str], placement: Placement) -> Self {
        Self { flags, placement, until: super::for_a_time() }
    }

    fn command(&self, port: u16) -> Command {
        let mut command = Command::new("iperf3");
        command.args(["--json", "--client", &End::Server.address().to_string(), "--port", &port.to_string()]);
        match self.until {
            Until::Elapsed(_) => command.args(["--time", &TIME.as_secs().to_string()]),
            Until::Sent(Bytes(bytes)) => command.args(["--bytes", &bytes.to_string()]),
        };
        command.args(self.flags);
        if let Some([client, server]) = cpus(&self.placement) {
            let first = |cpus: &[u32]| cpus.first().copied().unwrap_or_default();
            command.args(["--affinity", &format!("{},{}", first(&client), first(&server))]);
        }
        command
    }
}

/// Returns whether iperf3 can discard received data without a copy (since 3.17).
pub(super) fn can_skip_the_copy() -> bool {
    let help = Command::new("iperf3").arg("--help").output();
    help.is_ok_and(|help| {
        let printed = [help.stdout, help.stderr].concat();
        String::from_utf8_lossy(&printed).contains("--skip-rx-copy")
    })
}

impl Tool for Iperf3 {
    fn serve(&self, wire: &Wire, wrap: fn(Command) -> Command) -> anyhow::Result<(Running, u16)> {
        let mut command = Command::new("iperf3");
        command.args(["--server", "--one-off", "--port", &PORT.to_string()]);
        let mut server = wire.start(End::Server, &mut wrap(command))?;
        wire.await_listener(Transport::Tcp, PORT, &mut server)?;
        Ok((server, PORT))
    }

    fn send(&self, wire: &Wire, port: u16, wrap: fn(Command) -> Command) -> anyhow::Result<Running> {
        wire.start(End::Client, &mut wrap(self.command(port)))
    }

    fn report(&self, client: &ProgramOutput, _server: &ProgramOutput) -> anyhow::Result<Report> {
        report(&client.output)
    }
}

fn report(text: &str) -> anyhow::Result<Report> {
    let document: Value = serde_json::from_str(text).context("read the JSON of iperf3")?;
    if let Some(error) = document["error"].as_str() {
        bail!("iperf3 reports: {error}");
    }
    let end = &document["end"];
    let of = |sum: &str, field: &str| end[sum][field].as_f64();
    let received = of("sum_received", "bytes").context("no received bytes in iperf3's output")?;
    let length = document["start"]["test_start"]["blksize"].as_f64().unwrap_or(1.0);
    let lost = of("sum_received", "lost_percent").map(|percent| percent / 100.0);
    Ok(Report {
        received: received as u64,
        seconds: of("sum_received", "seconds").context("no duration in iperf3's output")?,
        retransmits: of("sum_sent", "retransmits").map(|count| count as u64),
        datagrams: lost.map(|lost| ((received / length) as u64, lost)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_received_bytes_and_errors() {
        let tcp = r#"{"start": {"test_start": {"blksize": 131072}}, "end": {
            "sum_sent": {"bytes": 2000, "retransmits": 7},
            "sum_received": {"bytes": 1900, "seconds": 1.5}}}"#;
        let expected = Report { received: 1900, seconds: 1.5, retransmits: Some(7), datagrams: None };
        assert_eq!(report(tcp).unwrap(), expected);
        let udp = r#"{"start": {"test_start": {"blksize": 100}}, "end": {"sum_sent": {"bytes": 2000},
            "sum_received": {"bytes": 1500, "seconds": 1.0, "lost_percent": 25.0}}}"#;
        assert_eq!(report(udp).unwrap().datagrams, Some((15, 0.25)));
        assert!(report(r#"{"error": "no route"}"#).unwrap_err().to_string().contains("no route"));
    }
}
