//! Runs all flows at one end of a stream, for every protocol.

use samples::ThreadCpu;
use workload::{FlowEnd, StreamEnd};

use super::{
    flow::{Flow, FlowSocket},
    tcp, udp,
};
use crate::{
    error::Result,
    observer::Observer,
    outcome::StreamOutcome,
    stop::Stop,
    workers::{self, Job, SharedState},
};

/// Runs all flows and returns their results in order. The first failure stops all flows.
pub fn run(flows: Vec<Flow<'_>>, stop: &Stop, observer: &dyn Observer) -> Result<StreamOutcome> {
    let shared = &SharedState::new(stop);
    let mut jobs = Vec::with_capacity(flows.len());
    for flow in flows {
        let (name, thread) = (flow.name.clone(), flow.thread_name());
        jobs.push(Job { name, thread, work: Box::new(move || flow.run(shared)) });
    }
    let (flows, threads) = workers::run(jobs, shared, observer)?.into_iter().unzip();
    Ok(StreamOutcome { measured: StreamEnd { flows }, threads })
}

impl Flow<'_> {
    fn run(self, shared: &SharedState<'_>) -> Result<(FlowEnd, ThreadCpu)> {
        if let Some(cpu) = self.cpu {
            sys::affinity::pin_thread(&[cpu])?;
        }
        let flowed = match &self.socket {
            FlowSocket::Tcp(socket) => tcp::run(&self, socket, shared),
            FlowSocket::Udp(socket, format) => udp::run(&self, socket, *format, shared),
        };
        let (series, thread) = flowed?;
        Ok((FlowEnd { id: self.id, direction: self.direction, series }, thread))
    }
}
