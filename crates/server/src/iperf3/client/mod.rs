//! The client's end of one iperf3 test: against a stock server, or a plumb one, which tells more.
//!
//! The calling thread talks to the server, hands on what the engine tells, and decides when the test is over;
//! the engine's threads move the bytes. It resolves no name and knows nothing of how a result is shown.

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

/// How often a server that has refused is asked again,
const TRIES: u32 = 5;
/// and after how long.
const PAUSE: Duration = Duration::from_millis(200);

/// What is run, against whom.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec {
    /// Where the server listens.
    pub server: SocketAddr,
    /// The address to connect from; the kernel's choice if `None`.
    pub bind: Option<IpAddr>,
    /// What is sent. A UDP message of 0 bytes is as long as the control connection's segments, as iperf3 has it.
    pub load: StreamSettings,
    /// CPUs of the traffic threads: thread n on the one number n, from the start again after the last.
    pub cpus: Option<Vec<u32>>,
    /// What iperf3 knows beyond a load.
    pub options: Options,
}

/// What iperf3 knows beyond a load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// `--get-server-output`.
    pub server_output: bool,
    /// `--udp-counters-64bit`.
    pub counters_64bit: bool,
    /// `--repeating-payload`: of what a server sends.
    pub repeating_payload: bool,
    /// `--dont-fragment`: of what a server sends.
    pub dont_fragment: bool,
    /// `-Z`: of what a server sends; at this end the load's mode decides.
    pub zero_copy: bool,
    /// `--fq-rate`: of what a server sends.
    pub fq_rate: Option<BitRate>,
    /// `-b RATE/BURST`: writes at a time.
    pub burst: Option<u32>,
    /// `-k`: how many blocks the load's bytes are, for a server to be told so.
    pub blocks: Option<u64>,
    /// The server's CPUs: a stock one takes the first.
    pub server_cpus: Option<Vec<u32>>,
    /// `-T`.
    pub title: Option<String>,
    pub extra_data: Option<String>,
    /// Who this is, for a server that asks.
    pub credentials: Option<Credentials>,
    /// How long the control connection may take to stand; 10 s if `None`.
    pub connect_timeout: Option<Nanos>,
}

/// Who a client is, and the key that keeps it secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user's name.
    pub username: String,
    /// The user's password.
    pub password: String,
    /// The server's public key, in PEM.
    pub public_key_pem: String,
    /// Whether the padding is PKCS #1 v1.5, which servers before 3.17 understand; OAEP otherwise. `None` tries
    /// OAEP and, when the server refuses it, PKCS #1 v1.5.
    pub pkcs1_padding: Option<bool>,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What this end recorded.
    pub here: StreamOutcome,
    /// What the server told in iperf3's way.
    pub there: Results,
    /// What the server recorded: its whole series when it is plumb, else one interval a flow, made of `there`. Of
    /// what this end sent over UDP and the server never saw, the end of a stream counts as lost, too.
    pub peer: StreamOutcome,
    /// Whether the server is plumb.
    pub peer_is_plumb: bool,
    /// What the server told that cannot be true, and is left out of `there` and `peer`.
    pub disbelieved: Vec<String>,
    /// The parameters as they were sent.
    pub params: Params,
    /// The load as it was run: with the length of its messages.
    pub load: StreamSettings,
    /// Each data connection, in the order in which they were made: that of `here`'s flows.
    pub connections: Vec<Connection>,
    /// The test's name.
    pub cookie: String,
    /// Largest segment of the control connection, in bytes.
    pub control_mss: Option<u32>,
    /// When the control connection stood.
    pub started: UnixMillis,
    /// CPU of this process over the test in percent of one CPU: all, user, system.
    pub cpu: [f64; 3],
    /// The server's own report, where it was asked for.
    pub server_output: Option<ServerOutput>,
}

/// A data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// This end.
    pub local: SocketAddr,
    /// The server's end.
    pub remote: SocketAddr,
}

/// What a server printed.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerOutput {
    /// As it would stand on a terminal.
    Text(String),
    /// As JSON of iperf3.
    Json(Value),
}

/// Runs a test to its end.
///
/// # Errors
/// When a setting cannot be said in iperf3's protocol, the server cannot be reached, refuses or breaks off, or a
/// connection fails. When it is asked to stop, the server is told so.
pub fn run_client(spec: &ClientSpec, stop: &Stop, observer: &dyn Observer) -> Result<Report> {
    let pkcs1 = spec.options.credentials.as_ref().and_then(|credentials| credentials.pkcs1_padding);
    if pkcs1.is_some() || spec.options.credentials.is_none() {
        return run(spec, pkcs1 == Some(true), stop, observer);
    }
    match run(spec, false, stop, observer) {
        // A server before 3.17, perhaps.
        Err(refused) if is_unknown(&refused) => run_again(spec, refused, stop, observer),
        first => first,
    }
}

/// Tries PKCS #1 v1.5. A stock server closes its listener for a moment after it has refused somebody, or for good;
/// then its first answer stands.
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
    // What cannot be said is refused before anybody is connected to.
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
    let cookie = cookie.as_str().to_owned();
    Ok(Report {
        here,
        there,
        peer,
        peer_is_plumb,
        disbelieved,
        params,
        load,
        connections,
        cookie,
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
        let mut ours = results::results(&here, &plan, workload::Direction::Forward, cpu);
        ours.plumb = None;
        let there = control.exchange(&ours)?;
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
