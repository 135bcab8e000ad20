//! Servers that stall in each state of the protocol. The client's error must name the missing message and the peer.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::mpsc::{Sender, channel},
};

use codecs::iperf3::{Connect, State};

use super::*;

const WATCHED: Duration = Duration::from_secs(240);
const COOKIE: usize = 37;
const SOME: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stops {
    AtFirst,
    AfterQuestion,
    AtStreams,
    AtStart,
    Closing,
    Resetting,
    Silent,
    /// Sends single bytes forever.
    Dripping,
    AtResults,
    InResults,
    AtLast,
}

struct Case {
    stops: Stops,
    transport: Transport,
    direction: Direction,
    until: Until,
    words: &'static [&'static str],
}

#[derive(Default)]
struct Resources {
    streams: Vec<TcpStream>,
    sockets: Vec<UdpSocket>,
}

struct Server {
    control: TcpStream,
    listener: TcpListener,
    datagrams: UdpSocket,
    resources: Resources,
}

impl Server {
    fn send(&mut self, state: State) {
        // The client may already have disconnected.
        let _ = self.control.write_all(&[state.byte()]);
    }

    fn receive(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.control.read_exact(&mut byte).is_ok().then_some(byte[0])
    }

    fn receive_json(&mut self) {
        let mut length = [0; 4];
        self.control.read_exact(&mut length).expect("a length");
        let mut json = vec![0; u32::from_be_bytes(length) as usize];
        self.control.read_exact(&mut json).expect("JSON");
    }

    fn take_streams(&mut self, case: &Case) {
        for _ in case.direction.flows() {
            match case.transport {
                Transport::Tcp => {
                    let (mut stream, _) = self.listener.accept().expect("a stream");
                    stream.read_exact(&mut [0; COOKIE]).expect("a cookie");
                    self.resources.streams.push(stream);
                }
                Transport::Udp => {
                    let (_, peer) = self.datagrams.recv_from(&mut [0; 64]).expect("a greeting");
                    self.datagrams.send_to(&Connect::Text.reply(), peer).expect("loopback");
                }
            }
        }
        self.resources.sockets.push(self.datagrams.try_clone().expect("a copy"));
    }

    fn serve(mut self, case: &Case) {
        let mut cookie = [0; COOKIE];
        self.control.read_exact(&mut cookie).expect("a cookie");
        self.play(case);
        while self.receive().is_some() {}
    }

    fn play(&mut self, case: &Case) {
        let stops = case.stops;
        if stops == Stops::AtFirst {
            return;
        }
        self.send(State::ParamExchange);
        self.receive_json();
        if stops == Stops::AfterQuestion {
            return;
        }
        self.send(State::CreateStreams);
        if stops == Stops::AtStreams {
            return;
        }
        self.take_streams(case);
        self.send(State::TestStart);
        if stops == Stops::AtStart {
            return;
        }
        self.send(State::TestRunning);
        if case.direction != Direction::Forward {
            self.resources.streams.iter_mut().for_each(|stream| drop(stream.write_all(&vec![7; SOME])));
        }
        self.end(stops);
    }

    fn end(&mut self, stops: Stops) {
        match stops {
            Stops::Closing | Stops::Resetting => {
                thread::sleep(Duration::from_millis(300));
                for stream in self.resources.streams.drain(..).filter(|_| stops == Stops::Resetting) {
                    sys::socket::set_linger_zero(&stream).expect("TCP");
                }
                self.resources = Resources::default();
                self.datagrams = UdpSocket::bind("127.0.0.1:0").expect("loopback");
            }
            Stops::Silent => {}
            Stops::Dripping => {
                while self.resources.streams.iter_mut().all(|stream| stream.write_all(&[7]).is_ok()) {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            _ => self.exchange(stops),
        }
    }

    fn exchange(&mut self, stops: Stops) {
        assert_eq!(self.receive(), Some(State::TestEnd.byte()));
        self.send(State::ExchangeResults);
        self.receive_json();
        let results =
            br#"{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":-1,
            "streams":[{"id":1,"bytes":1,"retransmits":-1,"jitter":0,"errors":0,"packets":0}]}"#;
        let length = if stops == Stops::InResults { 1 << 20 } else { results.len() as u32 };
        if stops != Stops::AtResults {
            self.control.write_all(&length.to_be_bytes()).expect("the client reads");
            self.control.write_all(results).expect("the client reads");
        }
        while stops == Stops::InResults && self.control.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn ports() -> (TcpListener, UdpSocket) {
    let both = || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let datagrams = UdpSocket::bind(listener.local_addr().expect("bound"));
        datagrams.ok().map(|datagrams| (listener, datagrams))
    };
    (0..100).find_map(|_| both()).expect("a port free for both")
}

fn result(case: &Case) -> Result<Report> {
    let (listener, datagrams) = ports();
    let server = listener.local_addr().expect("bound");
    let load = match case.transport {
        Transport::Tcp => tcp(),
        Transport::Udp => udp(),
    };
    let load = StreamSettings { direction: case.direction, until: case.until, ..load };
    let spec = ClientSpec { server, ..spec(load) };
    thread::scope(|scope| {
        scope.spawn(|| {
            let (control, _) = listener.accept().expect("the client");
            let (listener, resources) = (listener.try_clone().expect("a copy"), Resources::default());
            Server { control, listener, datagrams, resources }.serve(case);
        });
        run_client(&spec, &Stop::new(), &())
    })
}

fn check(case: &Case) -> std::result::Result<(), String> {
    let Case { stops, transport, direction, until, words } = case;
    let name = format!("{stops:?} {transport:?} {direction:?} {until:?}");
    match result(case) {
        Ok(_) if words.is_empty() => Ok(()),
        Ok(_) => Err(format!("{name}: unexpected success")),
        Err(error) => {
            let error = error.to_string();
            let missing: Vec<_> = words.iter().filter(|word| !error.contains(**word)).collect();
            if missing.is_empty() && !words.is_empty() {
                Ok(())
            } else {
                Err(format!("{name}: no {missing:?} in `{error}`"))
            }
        }
    }
}

const ALL_WAYS: [Direction; 3] = [Direction::Forward, Direction::Reverse, Direction::Both];

#[expect(clippy::too_many_lines, reason = "a table of servers and expected errors")]
fn cases() -> Vec<Case> {
    use Stops::*;
    let (soon, later) = (Until::Elapsed(Nanos::from_millis(400)), Until::Elapsed(Nanos::from_secs(600)));
    let amount = Until::Sent(Bytes(1 << 40));
    let mut cases = Vec::new();
    let mut add = |stops, transport, direction, until, words| {
        cases.push(Case { stops, transport, direction, until, words });
    };
    for direction in ALL_WAYS {
        for transport in [Transport::Tcp, Transport::Udp] {
            add(
                AtFirst,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "the server's parameter request"],
            );
            add(
                AfterQuestion,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "the server's reply to the parameters"],
            );
            let words: &[_] = match transport {
                Transport::Tcp => &["control connection to 127.0.0.1:", "the server to confirm all streams"],
                Transport::Udp => &["127.0.0.1:", "a reply to the UDP greeting"],
            };
            add(AtStreams, transport, direction, soon, words);
            add(
                AtStart,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "the server to start the test"],
            );
            add(
                Silent,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "the server's result request"],
            );
            add(
                AtResults,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "server's results"],
            );
            add(
                InResults,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "server's results"],
            );
            add(AtLast, transport, direction, soon, &[]);
        }
        for stops in [Closing, Resetting] {
            add(
                stops,
                Transport::Tcp,
                direction,
                later,
                &["with 127.0.0.1:", "was closed by the other end after", "of 600 s"],
            );
        }
    }
    for direction in [Direction::Reverse, Direction::Both] {
        add(
            Dripping,
            Transport::Tcp,
            direction,
            soon,
            &["control connection to 127.0.0.1:", "the server's result request"],
        );
    }
    for stops in [Closing, Resetting] {
        add(
            stops,
            Transport::Tcp,
            Direction::Reverse,
            amount,
            &["(reverse) with 127.0.0.1:", "was closed by the other end after"],
        );
    }
    add(Silent, Transport::Tcp, Direction::Reverse, amount, &["waited 30.0 s for more data"]);
    add(
        Closing,
        Transport::Udp,
        Direction::Forward,
        later,
        &["(forward) with 127.0.0.1:", "was closed by the other end after"],
    );
    cases
}

#[test]
fn client_ends_when_server_stalls_in_any_state() {
    let cases = cases();
    let all = cases.len();
    let wrong = on_loopback(|| {
        let (sender, results) = channel();
        let run = |case: Case, sender: Sender<_>| {
            // The thread is not joined, because this test detects clients that hang.
            thread::spawn(move || sender.send(check(&case)));
        };
        cases.into_iter().for_each(|case| run(case, sender.clone()));
        let answers = (0..all).map(|ended| {
            results.recv_timeout(WATCHED).unwrap_or_else(|_| panic!("only {ended} of {all} ended"))
        });
        answers.filter_map(std::result::Result::err).collect::<Vec<_>>()
    });
    let wrong = wrong.unwrap_or_default();
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}
