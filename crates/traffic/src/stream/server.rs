//! The end that listens.

use std::net::TcpListener;

use load::StreamLoad;

use super::{check, connections, flow};
use crate::{
    ends::Outcome,
    error::Result, gather, handshake::Purpose, observer::Observer, spec::ServerSpec, stop::Stop,
    stream::flow::Flow,
};

/// How its threads and errors call it.
pub(super) const END: &str = "server";

/// A server of one stream, listening.
#[derive(Debug)]
pub(crate) struct Server {
    spec: ServerSpec<StreamLoad>,
    listener: TcpListener,
    port: u16,
}

impl Server {
    /// Listens on a port of the kernel's choice.
    ///
    /// # Errors
    /// When the address is not this machine's, or the kernel lacks the congestion control.
    pub(crate) fn open(spec: ServerSpec<StreamLoad>) -> Result<Self> {
        check(&spec.load)?;
        let listener = gather::listen(spec.bind, spec.load.socket.congestion.as_deref())?;
        let port = gather::port(listener.local_addr())?;
        Ok(Self { spec, listener, port })
    }

    /// Where clients connect.
    #[must_use]
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Awaits every connection, lets them flow together, and waits for the end of all.
    ///
    /// # Errors
    /// When connections do not come, fail, or neither move nor end.
    pub(crate) fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome> {
        let Self { spec, listener, .. } = self;
        let places: Vec<_> = connections(&spec.load).collect();
        let expected: Vec<_> = places.iter().map(|&(direction, id)| (Purpose::of(direction), id)).collect();
        // In the order of `places`: both are sorted by direction and number.
        let sockets = gather::gather(&listener, spec.token, &expected, stop)?.into_values();
        drop(listener);
        let flows = places
            .into_iter()
            .zip(sockets)
            .map(|(place, socket)| Flow::new(place, END, socket, &spec.load, spec.cpus.as_deref()))
            .collect();
        flow::run(flows, stop, observer)
    }
}
