//! A test report in the format of `iperf3 --json`, for client and server.

mod end;
mod intervals;
mod start;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use codecs::iperf3::{Params, PlannedStream, Results, StreamResults, output::Output};
use samples::UnixMillis;
use traffic::StreamOutcome;
use units::Nanos;
use workload::{Direction, EndSeries, FlowEnd, StreamSettings};

use super::client::{ClientSpec, Connection, Report, ServerOutput};

pub(crate) struct Facts<'a> {
    pub(crate) role: Role,
    pub(crate) params: &'a Params,
    pub(crate) load: &'a StreamSettings,
    pub(crate) here: &'a StreamOutcome,
    pub(crate) there: Option<&'a Results>,
    pub(crate) connections: &'a [Connection],
    pub(crate) cookie: &'a str,
    pub(crate) control_mss: Option<u32>,
    pub(crate) started: UnixMillis,
    pub(crate) cpu: [f64; 3],
    pub(crate) every: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client { server: SocketAddr },
    Server { client: SocketAddr },
}

struct Stream<'a> {
    socket: i64,
    direction: Direction,
    sends: bool,
    here: &'a EndSeries,
    there: Option<&'a StreamResults>,
}

#[must_use]
pub fn document(spec: &ClientSpec, report: &Report, every: Nanos) -> Output {
    let facts = Facts {
        role: Role::Client { server: spec.server },
        params: &report.params,
        load: &report.load,
        here: &report.here,
        there: Some(&report.there),
        connections: &report.connections,
        cookie: &report.cookie,
        control_mss: report.control_mss,
        started: report.started,
        cpu: report.cpu,
        every,
    };
    let (json, text) = match &report.server_output {
        Some(ServerOutput::Json(json)) => (Output::parse(&json.to_string()).ok(), None),
        Some(ServerOutput::Text(text)) => (None, Some(text.clone())),
        None => (None, None),
    };
    Output { server_output_json: json.map(Box::new), server_output_text: text, ..facts.document() }
}

impl Facts<'_> {
    pub(crate) fn document(&self) -> Output {
        let plan = self.params.streams();
        let streams = self.streams(&plan);
        Output {
            start: self.start(),
            intervals: intervals::intervals(self, &streams),
            end: end::end(self, &streams),
            title: self.params.title.clone(),
            extra_data: self.params.extra_data.clone(),
            ..Output::default()
        }
    }

    fn streams<'a>(&'a self, plan: &[PlannedStream]) -> Vec<Stream<'a>> {
        let reported = self.there.map_or(&[][..], |there| &there.streams);
        let streams = plan.iter().zip(&self.here.measured.flows).zip(start::FIRST_SOCKET..);
        let stream = |((planned, flow), socket): ((&PlannedStream, &'a FlowEnd), i64)| Stream {
            socket,
            direction: planned.direction,
            sends: planned.direction == self.sent(),
            here: &flow.series,
            there: reported.iter().find(|stream| stream.id == i64::from(planned.id)),
        };
        streams.map(stream).collect()
    }

    const fn sent(&self) -> Direction {
        match self.role {
            Role::Client { .. } => Direction::Forward,
            Role::Server { .. } => Direction::Reverse,
        }
    }
}

/// In bits per second.
fn rate(bytes: i64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

fn percent(lost: i64, packets: i64) -> f64 {
    if packets > 0 { lost as f64 * 100.0 / packets as f64 } else { 0.0 }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
