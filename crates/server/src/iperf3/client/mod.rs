//! The iperf3 client. The calling thread decides when the test ends, while engine threads move the data.

mod connect;
mod control;
mod forwarding_observer;
mod peer;
mod plausible;
mod request;
mod tail;
mod test_run;

#[cfg(test)]
mod tests;

pub(super) use peer::left_out;

use std::{
    net::{IpAddr, SocketAddr},
    thread,
    time::Duration,
};

use codecs::iperf3::{Cookie, ErrorCode, Failure, Params, Results};
use samples::UnixMillis;
use serde_json::Value;
use traffic::{Error, Observer, Result, Stop, StreamOutcome, random_bytes};
use units::{BitRate, Nanos};
use workload::{StreamSettings, Transport};

use self::{control::Control, test_run::TestRun};
use super::{cpu::Cpu, results};

const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec {
    pub server: SocketAddr,
    pub bind: Option<IpAddr>,
    /// The workload. A UDP message size of 0 means the MSS of the control connection, as in iperf3.
    pub load: StreamSettings,
    pub cpus: Option<Vec<u32>>,
    pub options: Options,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// `--get-server-output`.
    pub server_output: bool,
    /// `--udp-counters-64bit`.
    pub counters_64bit: bool,
    /// `--repeating-payload`, for data sent by the server.
    pub repeating_payload: bool,
    /// `--dont-fragment`, for data sent by the server.
    pub dont_fragment: bool,
    /// `-Z`, for data sent by the server. The workload's mode applies to data sent by the client.
    pub zero_copy: bool,
    /// `--fq-rate`, for data sent by the server.
    pub fq_rate: Option<BitRate>,
    /// The `-b RATE/BURST` flag, counted in writes.
    pub burst: Option<u32>,
    /// The `-k` flag, if the data to send was specified in blocks.
    pub blocks: Option<u64>,
    /// A stock server uses only the first CPU.
    pub server_cpus: Option<Vec<u32>>,
    /// `-T`.
    pub title: Option<String>,
    pub extra_data: Option<String>,
    pub credentials: Option<Credentials>,
    /// The timeout of the control connection. `None` means 10 s.
    pub connect_timeout: Option<Nanos>,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub username: String,
    pub password: String,
    pub public_key_pem: String,
    /// Whether to use PKCS #1 v1.5 padding (for servers before 3.17) instead of OAEP. `None` tries OAEP first.
    pub pkcs1_padding: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub here: StreamOutcome,
    pub there: Results,
    /// A plumb server sends the full series. A stock server's record has one interval per flow, derived from `there`.
    /// If the client sends UDP, datagrams missing at the end of a stream also count as lost.
    pub peer: StreamOutcome,
    pub peer_is_plumb: bool,
    /// The server's impossible claims. They are removed from `there` and `peer`.
    pub disbelieved: Vec<String>,
    pub params: Params,
    pub load: StreamSettings,
    pub connections: Vec<Connection>,
    pub cookie: String,
    /// In bytes.
    pub control_mss: Option<u32>,
    pub started: UnixMillis,
    /// CPU usage of this process, in percent of one CPU: total, user, system.
    pub cpu: [f64; 3],
    pub server_output: Option<ServerOutput>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    pub local: SocketAddr,
    pub remote: SocketAddr,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ServerOutput {
    Text(String),
    Json(Value),
}

/// Forwards a stop request to the server. Fails if iperf3's protocol cannot express a setting, or if the server refuses
/// or aborts the test.
pub fn run_client(spec: &ClientSpec, stop: &Stop, observer: &dyn Observer) -> Result<Report> {
    let pkcs1 = spec.options.credentials.as_ref().and_then(|credentials| credentials.pkcs1_padding);
    if pkcs1.is_some() || spec.options.credentials.is_none() {
        return run(spec, pkcs1 == Some(true), stop, observer);
    }
    match run(spec, false, stop, observer) {
        Err(refused) if is_unknown(&refused) => run_again(spec, refused, stop, observer),
        first => first,
    }
}

/// Repeats the login with PKCS #1 v1.5. A stock server that refuses a login closes its listener, either briefly or
/// permanently. If the listener stays closed, the original error is returned.
fn run_again(spec: &ClientSpec, refused: Error, stop: &Stop, observer: &dyn Observer) -> Result<Report> {
    for _ in 0..TRIES {
        thread::sleep(PAUSE);
        match run(spec, true, stop, observer) {
            Err(Error::Socket { .. } | Error::Iperf3(Failure::Closed { .. })) if !stop.is_asked() => {}
            second => return second,
        }
    }
    Err(refused)
}

fn run(spec: &ClientSpec, pkcs1: bool, stop: &Stop, observer: &dyn Observer) -> Result<Report> {
    // Reject invalid settings before the client connects.
    drop(request::params(spec, &request::load(spec, None)?, pkcs1)?);
    let socket = connect::control(spec, stop)?;
    let control_mss = sys::socket::mss(&socket).ok();
    let load = request::load(spec, control_mss)?;
    let params = request::params(spec, &load, pkcs1)?;
    let mut entropy = [0; Cookie::SIZE - 1];
    random_bytes(&mut entropy);
    let cookie = Cookie::from_entropy(entropy);
    let started = request::now();
    let mut control = Control::new(socket, &cookie, &params, stop)?;
    let test = Test { spec, load: &load, params: &params, cookie: &cookie };
    let record = test.run(&mut control, stop, observer);
    control.give_up_unless_over();
    let TestRecord { here, mut there, connections, cpu } = record?;
    let plan = params.streams();
    let mut disbelieved = plausible::check_results(&mut there, &plan, &here)?;
    let (mut peer, peer_is_plumb) = peer::outcome(&there, &plan, &load, &here);
    disbelieved.extend(plausible::check_record(&mut peer, &here)?);
    if load.transport == Transport::Udp {
        tail::settle(&mut peer, &there, &plan, &here);
    }
    let server_output = spec.options.server_output.then(|| peer::output(&there)).flatten();
    Ok(Report {
        here,
        there,
        peer,
        peer_is_plumb,
        disbelieved,
        params,
        load,
        connections,
        cookie: cookie.as_str().to_owned(),
        control_mss,
        started,
        cpu,
        server_output,
    })
}

struct Test<'a> {
    spec: &'a ClientSpec,
    load: &'a StreamSettings,
    params: &'a Params,
    cookie: &'a Cookie,
}

struct TestRecord {
    here: StreamOutcome,
    there: Results,
    connections: Vec<Connection>,
    cpu: [f64; 3],
}

impl Test<'_> {
    fn run(&self, control: &mut Control<'_>, stop: &Stop, observer: &dyn Observer) -> Result<TestRecord> {
        let plan = self.params.streams();
        control.await_streams()?;
        let streams = connect::streams(self.spec, self.load, &plan, self.cookie, stop)?;
        let connections = streams.connections();
        control.await_running()?;
        let cpu = Cpu::now();
        let (server, cpus) = (self.spec.server, self.spec.cpus.as_deref());
        let test_run = TestRun { server, load: self.load, cpus, stop, observer };
        let here = test_run.run(control, streams, &plan)?;
        let cpu = cpu.until_now();
        let mut own_results = results::results(&here, &plan, workload::Direction::Forward, cpu);
        own_results.plumb = None;
        let there = control.exchange(&own_results)?;
        Ok(TestRecord { here, there, connections, cpu })
    }
}

fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Iperf3(Failure::Server { code: ErrorCode::AUTHORIZATION, .. }))
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}
