//! Tests agents as seen by a controller: JSON lines over pipes, and traffic on a private loopback.

mod observed;
mod policy;

use std::{
    io::{PipeReader, PipeWriter, Write, pipe},
    net::{IpAddr, Ipv4Addr},
    thread::{self, JoinHandle},
    time::Duration,
};

use machine::{HostPolicy, Hours};
use plumb_tests::{in_one_of_five, on_loopback};
use protocol::{
    ChannelError, ClientOrder, EndReport, FromAgent, Hello, MtuProbe, MtuResult, Order, Progress, Receiver,
    Reply, Sender, ServerOrder, ToAgent, Token,
};
use sys::clock::monotonic;
use units::{BitRate, Bytes, Nanos};
use workload::{
    Direction, FlowEnd, Measurement, PingPongSettings, Schedule, SocketSettings, StreamSettings, Transport,
    Until, WorkloadSettings,
};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const TOKEN: Token = Token(0x00C0_FFEE);
const SOON: Nanos = Nanos::from_secs(30);

const BUSY: u64 = 200_000_000;

#[expect(clippy::disallowed_methods, reason = "a test waits")]
fn a_while() {
    thread::sleep(Duration::from_millis(300));
}

struct Agent {
    orders: Sender<PipeWriter>,
    replies: Receiver<PipeReader>,
    thread: JoinHandle<anyhow::Result<()>>,
    next: u64,
    beats: Vec<Progress>,
}

impl Agent {
    fn start() -> Self {
        Self::under(HostPolicy::default())
    }

    fn under(policy: HostPolicy) -> Self {
        let (input, orders) = pipe().expect("pipes");
        let (replies, output) = pipe().expect("pipes");
        let thread = thread::spawn(move || crate::run(input, output, "0.1.0", &policy));
        let (orders, replies) = (Sender::new(orders), Receiver::new(replies));
        Self { orders, replies, thread, next: 0, beats: Vec::new() }
    }

    fn greeted() -> Self {
        Self::start().greet()
    }

    fn greet(self) -> Self {
        let mut agent = self;
        agent.orders.send(&ToAgent::Hello(Hello::new("0.1.0"))).expect("sent");
        let FromAgent::Hello(hello) = agent.replies.receive().expect("a greeting") else {
            panic!("no hello")
        };
        hello.accept().expect("same version");
        agent
    }

    fn order(&mut self, deadline: Nanos, order: Order) -> u64 {
        self.next += 1;
        self.orders.send(&ToAgent::Request { id: self.next, deadline, order }).expect("sent");
        self.next
    }

    fn answer(&mut self, id: u64) -> Result<Reply, (String, bool)> {
        loop {
            match self.replies.receive().expect("the agent lives") {
                FromAgent::Progress(beat) => self.beats.push(beat),
                FromAgent::Reply { id: of, reply } if of == id => return Ok(*reply),
                FromAgent::Refused { id: of, reason, unsupported } if of == id => {
                    return Err((reason, unsupported));
                }
                other => panic!("not the answer to {id}: {other:?}"),
            }
        }
    }

    fn ask(&mut self, order: Order) -> Result<Reply, (String, bool)> {
        let id = self.order(SOON, order);
        self.answer(id)
    }

    fn refusal(&mut self, deadline: Nanos, order: Order) -> String {
        let id = self.order(deadline, order);
        self.answer(id).expect_err("refuses").0
    }

    fn serve(&mut self, load: &WorkloadSettings) -> u16 {
        let order = ServerOrder { token: TOKEN, bind: HERE, load: load.clone(), cpus: None };
        match self.ask(Order::Serve(order)).expect("serves") {
            Reply::Listening { port } => port,
            other => panic!("{other:?}"),
        }
    }

    fn report(&mut self, id: u64) -> EndReport {
        match self.answer(id).expect("reports") {
            Reply::Report(report) => report,
            other => panic!("{other:?}"),
        }
    }

    fn hang_up(self) -> (anyhow::Result<()>, Duration) {
        let begun = monotonic();
        drop(self.orders);
        let result = self.thread.join().expect("no panic");
        (result, Duration::from_nanos(monotonic() - begun))
    }
}

fn stream(direction: Direction, time: Nanos) -> WorkloadSettings {
    WorkloadSettings::Stream(StreamSettings {
        streams: 2,
        direction,
        warmup: Nanos::from_millis(100),
        ..StreamSettings::new(Until::Elapsed(time))
    })
}

fn ping_pong(transport: Transport, duration: Nanos) -> WorkloadSettings {
    let warmup = Nanos::from_millis(50);
    WorkloadSettings::PingPong(PingPongSettings { transport, warmup, ..PingPongSettings::new(duration) })
}

fn client_order(load: &WorkloadSettings, port: u16) -> Order {
    Order::Run(ClientOrder { token: TOKEN, bind: HERE, server: HERE, port, load: load.clone(), cpus: None })
}

fn trial(load: &WorkloadSettings) -> (Agent, EndReport, Agent, EndReport) {
    let (mut client, mut server) = (Agent::greeted(), Agent::greeted());
    let port = server.serve(load);
    let run = client.order(SOON, client_order(load, port));
    let collect = server.order(SOON, Order::Collect { token: TOKEN });
    let (ours, theirs) = (client.report(run), server.report(collect));
    (client, ours, server, theirs)
}

#[test]
fn both_agents_report_a_stream() {
    on_loopback(|| {
        let (client, ours, server, theirs) = trial(&stream(Direction::Both, Nanos::from_millis(400)));
        let flows = [&ours, &theirs].map(|report| report.measured.flows());
        assert_eq!(flows.map(<[FlowEnd]>::len), [4, 4]);
        for (here, there) in flows[0].iter().zip(flows[1]) {
            assert_eq!((here.id, here.direction), (there.id, there.direction));
            let total = |flow: &FlowEnd| -> Bytes {
                flow.series.intervals.iter().map(|interval| interval.bytes).sum()
            };
            assert_eq!(total(here), total(there));
        }
        for (agent, report, end) in [(&client, &ours, "client"), (&server, &theirs, "server")] {
            assert_eq!(report.threads.len(), 4);
            assert!(report.threads.iter().all(|thread| thread.end == end));
            assert!(report.machine.elapsed >= Nanos::from_millis(500), "{:?}", report.machine);
            assert!(report.machine.busy() > Nanos(0));
            assert!(!agent.beats.is_empty());
            assert!(agent.beats.iter().any(|beat| beat.received > Bytes(0) && beat.token == TOKEN));
        }
        for agent in [client, server] {
            agent.hang_up().0.expect("the normal end");
        }
    });
}

#[test]
fn reports_histogram_of_ping_pong() {
    in_one_of_five(ping_pongs);
}

fn ping_pongs() {
    for transport in [Transport::Tcp, Transport::Udp] {
        on_loopback(|| {
            let (client, ours, _server, theirs) = trial(&ping_pong(transport, Nanos::from_millis(300)));
            let Measurement::PingPong(ping) = ours.measured.together(theirs.measured).expect("both ends")
            else {
                panic!("a ping-pong")
            };
            assert!(ping.round_trips.count() > 100 && ping.server.addresses.is_some());
            assert!(client.beats.iter().map(|beat| beat.round_trips).sum::<u64>() > 100);
            assert!(ping.elapsed >= Nanos::from_millis(150), "{}", ping.elapsed);
        });
    }
}

#[test]
fn probes_mtu_and_abandons_server() {
    on_loopback(|| {
        let (mut client, mut server) = (Agent::greeted(), Agent::greeted());
        for mtu in [1500, 9000] {
            let port = server.serve(&ping_pong(Transport::Udp, Nanos::from_secs(2)));
            let probe = MtuProbe { token: TOKEN, bind: HERE, server: HERE, port, mtu };
            let reply = client.ask(Order::ProbeMtu(probe)).expect("probes");
            assert_eq!(reply, Reply::Mtu(MtuResult { carried: true, larger_refused: false }));
            assert_eq!(server.ask(Order::Abandon { token: TOKEN }), Ok(Reply::Done));
        }
    });
}

#[test]
fn describes_its_machine() {
    let mut agent = Agent::greeted();
    let Ok(Reply::Environment(environment)) = agent.ask(Order::Describe) else { panic!("no environment") };
    assert_eq!(environment.kernel, sys::uname::kernel_release());
}

#[test]
fn refuses_order_at_deadline_and_continues() {
    in_one_of_five(deadlines_pass);
}

fn deadlines_pass() {
    on_loopback(|| {
        let (mut client, mut server) = (Agent::greeted(), Agent::greeted());
        let load = stream(Direction::Forward, Nanos::from_secs(20));
        let port = server.serve(&load);
        let begun = monotonic();
        let deadline = Nanos::from_millis(500);
        let reason = client.refusal(deadline, client_order(&load, port));
        assert!(reason.contains("deadline of 500 ms"), "{reason}");
        let took = monotonic() - begun;
        assert!((500_000_000..700_000_000 + BUSY).contains(&took), "{took}");
        let reason = server.refusal(SOON, Order::Collect { token: TOKEN });
        assert!(reason.contains("connection") && reason.contains("127.0.0.1"), "{reason}");
        assert!(client.ask(Order::Describe).is_ok());
        server.serve(&load);
        let reason = server.refusal(deadline, Order::Collect { token: TOKEN });
        assert!(reason.contains("deadline of 500 ms"), "{reason}");
        server.serve(&load);
    });
}

#[test]
fn abandons_trial_at_both_ends() {
    in_one_of_five(trials_are_abandoned);
}

fn trials_are_abandoned() {
    on_loopback(|| {
        let (mut client, mut server) = (Agent::greeted(), Agent::greeted());
        let load = stream(Direction::Forward, Nanos::from_secs(20));
        let port = server.serve(&load);
        let run = client.order(Nanos::from_secs(60), client_order(&load, port));
        a_while();
        let begun = monotonic();
        let abandon = client.order(SOON, Order::Abandon { token: TOKEN });
        let mut done = false;
        let reason = loop {
            match client.replies.receive().expect("lives") {
                FromAgent::Reply { id, reply } if id == abandon => done = *reply == Reply::Done,
                FromAgent::Refused { id, reason, .. } if id == run => break reason,
                FromAgent::Progress(_) => {}
                other => panic!("{other:?}"),
            }
        };
        assert!(done || client.answer(abandon) == Ok(Reply::Done));
        assert!(monotonic() - begun < 200_000_000 + BUSY);
        assert_eq!(reason, "the trial was abandoned");
        assert_eq!(server.ask(Order::Abandon { token: TOKEN }), Ok(Reply::Done));
        let reason = server.refusal(SOON, Order::Collect { token: TOKEN });
        assert!(reason.contains("0000000000c0ffee"), "{reason}");
    });
}

#[test]
fn exits_within_200_ms_after_input_closes() {
    in_one_of_five(agents_end);
}

fn agents_end() {
    on_loopback(|| {
        for load in
            [stream(Direction::Both, Nanos::from_secs(20)), ping_pong(Transport::Udp, Nanos::from_secs(20))]
        {
            let (mut client, mut server) = (Agent::greeted(), Agent::greeted());
            let port = server.serve(&load);
            client.order(Nanos::from_secs(60), client_order(&load, port));
            server.order(Nanos::from_secs(60), Order::Collect { token: TOKEN });
            a_while();
            for agent in [client, server] {
                let (result, took) = agent.hang_up();
                result.expect("the normal end");
                assert!(took.as_nanos() < 200_000_000 + u128::from(BUSY), "{took:?}");
            }
        }
    });
}

#[test]
fn new_greeting_starts_new_session() {
    on_loopback(|| {
        let mut agent = Agent::greeted();
        agent.serve(&stream(Direction::Forward, SOON));
        let mut agent = agent.greet();
        let gone = agent.refusal(SOON, Order::Collect { token: TOKEN });
        assert!(gone.contains("no server for trial"), "{gone}");
        agent.hang_up().0.expect("the normal end");
    });
}

#[test]
fn names_both_versions_on_mismatch() {
    let mut agent = Agent::start();
    agent.orders.send(&ToAgent::Hello(Hello { protocol: 99, tool: "9.9.9".into() })).expect("sent");
    let error = agent.thread.join().expect("no panic").expect_err("versions differ");
    let error = format!("{error:#}");
    assert!(error.contains("protocol 99") && error.contains("9.9.9"), "{error}");
}

#[test]
fn invalid_message_ends_session_with_error() {
    let (input, mut orders) = pipe().expect("pipes");
    let (replies, output) = pipe().expect("pipes");
    let thread = thread::spawn(move || crate::run(input, output, "0.1.0", &HostPolicy::default()));
    let mut replies = Receiver::new(replies);
    assert!(matches!(replies.receive(), Ok(FromAgent::Hello(_))));
    Sender::new(&mut orders).send(&ToAgent::Hello(Hello::new("0.1.0"))).expect("sent");
    orders.write_all(b"lunch?\n").expect("sent");
    let error = thread.join().expect("no panic").expect_err("not a message");
    assert!(format!("{error:#}").contains("lunch?"), "{error:#}");
    assert!(matches!(replies.receive::<FromAgent>(), Err(ChannelError::Closed)));
}

#[test]
fn refuses_invalid_orders_with_reason() {
    let mut agent = Agent::greeted();
    let unknown = agent.refusal(SOON, Order::Collect { token: TOKEN });
    assert!(unknown.contains("no server for trial 0000000000c0ffee"), "{unknown}");
    let order =
        |load: WorkloadSettings| Order::Serve(ServerOrder { token: TOKEN, bind: HERE, load, cpus: None });
    let WorkloadSettings::Stream(stream) = stream(Direction::Forward, SOON) else { unreachable!() };
    let socket = SocketSettings { congestion: Some("nonesuch".into()), ..SocketSettings::kernel() };
    let foreign = StreamSettings { socket, ..stream.clone() };
    let (reason, unsupported) = agent.ask(order(WorkloadSettings::Stream(foreign))).expect_err("unknown");
    assert!(reason.contains("nonesuch") && unsupported, "{reason}");
    let senseless = WorkloadSettings::Stream(StreamSettings { streams: 0, ..stream.clone() });
    assert!(agent.ask(order(senseless)).expect_err("no streams").0.contains("number of streams"));
    agent.serve(&WorkloadSettings::Stream(stream.clone()));
    let twice = agent.refusal(SOON, order(WorkloadSettings::Stream(stream)));
    assert!(twice.contains("already"), "{twice}");
    let unreachable = client_order(&ping_pong(Transport::Tcp, SOON), 1);
    let reason = agent.refusal(SOON, unreachable);
    assert!(reason.contains("cannot connect to 127.0.0.1:1 from 127.0.0.1"), "{reason}");
}
