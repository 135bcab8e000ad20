//! Benches of streams: the interface to a tool, and the metering of its transfer.

pub(crate) mod app;
pub(crate) mod big_tcp;
pub(crate) mod four;
mod iperf3;
pub(crate) mod limit;
mod plumb;
pub(crate) mod syscalls;
pub(crate) mod udp;

use std::{process::Command, time::Duration};

use anyhow::ensure;
use units::{Bytes, Nanos};
use workload::Until;

use self::{iperf3::Iperf3, plumb::Plumb};
use crate::{
    meter::{self, Window},
    process::{ProgramOutput, Running},
    rounds::{Contender, Measured},
    wire::{End, Wire, received},
};

/// iperf3 supports only whole seconds.
const TIME: Duration = Duration::from_secs(1);

const REST: Duration = Duration::from_millis(100);

const CONGESTION: &str = "cubic";

fn for_a_time() -> Until {
    Until::Elapsed(Nanos::from(TIME))
}

trait Tool {
    fn serve(&self, wire: &Wire, wrap: fn(Command) -> Command) -> anyhow::Result<(Running, u16)>;

    fn send(&self, wire: &Wire, port: u16, wrap: fn(Command) -> Command) -> anyhow::Result<Running>;

    fn report(&self, client: &ProgramOutput, server: &ProgramOutput) -> anyhow::Result<Report>;
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Report {
    received: u64,
    seconds: f64,
    retransmits: Option<u64>,
    datagrams: Option<(u64, f64)>,
}

impl Report {
    /// Compares the report with the device's count, which also includes headers and datagrams that the socket
    /// dropped.
    fn hold_against(&self, arrived: u64) -> anyhow::Result<()> {
        let (claimed, arrived) = (self.received as f64, arrived as f64);
        let least = if self.datagrams.is_some() { 0.0 } else { 0.8 };
        ensure!(claimed > 0.0, "it reports no received data");
        ensure!(
            (least * arrived..=arrived).contains(&claimed),
            "it reports {claimed} received bytes, but {arrived} arrived at the device"
        );
        Ok(())
    }
}

struct Metered<'a, T> {
    name: &'static str,
    wire: &'a Wire,
    tool: T,
    values: fn(&Window, &Report) -> Measured,
}

impl<T: Tool> Contender for Metered<'_, T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let before = self.wire.run_at(End::Server, received)?;
        let (server, port) = self.tool.serve(self.wire, |command| command)?;
        let mut client = self.tool.send(self.wire, port, |command| command)?;
        let window = meter::watch(self.wire, before, TIME, &mut client);
        // The client's error is returned first, because it is more useful.
        let client = client.finish(TIME)?;
        let window = window?;
        let report = self.tool.report(&client, &server.finish(TIME)?)?;
        report.hold_against(self.wire.run_at(End::Server, received)? - before)?;
        Ok((self.values)(&window, &report))
    }
}

const TCP_UNITS: &[&str] = &["Gbit/s", "Gbit/s per CPU", "CPU-s per GB"];

fn tcp_values(window: &Window, report: &Report) -> Measured {
    let values = vec![window.gbits_per_second(), window.gbits_per_cpu(), window.cpu_seconds_per_gb()];
    let own = ("own report, Gbit/s", report.received as f64 * 8.0 / 1e9 / report.seconds);
    let retransmits = report.retransmits.map(|count| ("retransmits", count as f64));
    Measured { values, extra: retransmits.into_iter().chain([own]).collect() }
}

fn tcp<'a, T: Tool + 'a>(name: &'static str, wire: &'a Wire, tool: T) -> Box<dyn Contender + 'a> {
    Box::new(Metered { name, wire, tool, values: tcp_values })
}

const LARGE: Bytes = Bytes(1 << 20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_report_that_differs_from_device_counter() {
        let claims = |received| Report { received, seconds: 1.0, retransmits: None, datagrams: None };
        assert!(claims(990).hold_against(1000).is_ok());
        for wrong in [0, 700, 1001] {
            assert!(claims(wrong).hold_against(1000).is_err(), "{wrong}");
        }
        let udp = Report { datagrams: Some((3, 0.7)), ..claims(300) };
        assert!(udp.hold_against(1000).is_ok());
    }
}
