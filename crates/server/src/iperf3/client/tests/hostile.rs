//! Servers of the test that stop at each state of a test and keep the control connection: the client ends, and says
//! what is missing, of whom.
//!
//! How long it took is not judged: whoever never ends is given up by the test.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::mpsc::{Sender, channel},
};

use codecs::iperf3::{Connect, State};

use super::*;

/// The longest bound of any wait, several times over.
const WATCHED: Duration = Duration::from_secs(240);
const COOKIE: usize = 37;
/// What a server sends of its stream.
const SOME: usize = 1 << 20;

/// Where a server stops.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stops {
    /// It has accepted the connection.
    AtFirst,
    /// It has asked for the parameters.
    AfterQuestion,
    /// It has asked for the streams.
    AtStreams,
    /// Every stream stands.
    AtStart,
    /// It closes its streams in good order while they run.
    Closing,
    /// It resets them.
    Resetting,
    /// It says and sends nothing more.
    Silent,
    /// It has heard the end, and goes on sending, a byte now and then.
    Dripping,
    /// It has asked for the results.
    AtResults,
    /// It says its results a byte at a time.
    InResults,
    /// It has said them, and not the last word.
    AtLast,
}

/// One test: what the client asks, where the server stops, and what the client has to say then.
struct Case {
    stops: Stops,
    transport: Transport,
    direction: Direction,
    until: Until,
    says: &'static [&'static str],
}

/// What a server holds until the client has ended.
#[derive(Default)]
struct Held {
    streams: Vec<TcpStream>,
    sockets: Vec<UdpSocket>,
}

struct Server {
    control: TcpStream,
    listener: TcpListener,
    datagrams: UdpSocket,
    held: Held,
}

impl Server {
    fn say(&mut self, state: State) {
        // The client may have ended.
        let _ = self.control.write_all(&[state.byte()]);
    }

    /// The next state that the client says.
    fn hear(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.control.read_exact(&mut byte).is_ok().then_some(byte[0])
    }

    fn hear_json(&mut self) {
        let mut length = [0; 4];
        self.control.read_exact(&mut length).expect("a length");
        let mut json = vec![0; u32::from_be_bytes(length) as usize];
        self.control.read_exact(&mut json).expect("as much JSON");
    }

    /// Takes as many streams as the client makes.
    fn take_streams(&mut self, case: &Case) {
        for _ in case.direction.flows() {
            match case.transport {
                Transport::Tcp => {
                    let (mut stream, _) = self.listener.accept().expect("a stream");
                    stream.read_exact(&mut [0; COOKIE]).expect("a cookie");
                    self.held.streams.push(stream);
                }
                Transport::Udp => {
                    let (_, peer) = self.datagrams.recv_from(&mut [0; 64]).expect("a greeting");
                    self.datagrams.send_to(&Connect::Text.reply(), peer).expect("loopback");
                }
            }
        }
        self.held.sockets.push(self.datagrams.try_clone().expect("a copy"));
    }

    /// Serves until it stops, and then waits for the client to end.
    fn serve(mut self, case: &Case) {
        let mut cookie = [0; COOKIE];
        self.control.read_exact(&mut cookie).expect("a cookie");
        self.play(case);
        // Whatever it still says: its end of the connection.
        while self.hear().is_some() {}
    }

    fn play(&mut self, case: &Case) {
        let stops = case.stops;
        if stops == Stops::AtFirst {
            return;
        }
        self.say(State::ParamExchange);
        self.hear_json();
        if stops == Stops::AfterQuestion {
            return;
        }
        self.say(State::CreateStreams);
        if stops == Stops::AtStreams {
            return;
        }
        self.take_streams(case);
        self.say(State::TestStart);
        if stops == Stops::AtStart {
            return;
        }
        self.say(State::TestRunning);
        if case.direction != Direction::Forward {
            self.held.streams.iter_mut().for_each(|stream| drop(stream.write_all(&vec![7; SOME])));
        }
        self.end(stops);
    }

    fn end(&mut self, stops: Stops) {
        match stops {
            Stops::Closing | Stops::Resetting => {
                // The client has begun.
                thread::sleep(Duration::from_millis(300));
                for stream in self.held.streams.drain(..).filter(|_| stops == Stops::Resetting) {
                    sys::socket::set_linger_zero(&stream).expect("TCP");
                }
                self.held = Held::default();
                self.datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
            }
            Stops::Silent => {}
            Stops::Dripping => {
                while self.held.streams.iter_mut().all(|stream| stream.write_all(&[7]).is_ok()) {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            _ => self.exchange(stops),
        }
    }

    fn exchange(&mut self, stops: Stops) {
        assert_eq!(self.hear(), Some(State::TestEnd.byte()));
        self.say(State::ExchangeResults);
        self.hear_json();
        let results =
            br#"{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":-1,
            "streams":[{"id":1,"bytes":1,"retransmits":-1,"jitter":0,"errors":0,"packets":0}]}"#;
        let length = if stops == Stops::InResults { 1 << 20 } else { results.len() as u32 };
        if stops != Stops::AtResults {
            self.control.write_all(&length.to_be_bytes()).expect("it is read");
            self.control.write_all(results).expect("it is read");
        }
        while stops == Stops::InResults && self.control.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A port for connections and datagrams. A client of another case may have it for datagrams: then another one.
fn ports() -> (TcpListener, UdpSocket) {
    let both = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
        let datagrams = UdpSocket::bind(listener.local_addr().expect("bound"));
        datagrams.ok().map(|datagrams| (listener, datagrams))
    };
    (0..100).find_map(|_| both()).expect("one of many ports is free for both")
}

/// What a client says of a server that stops so.
fn said(case: &Case) -> Result<Report> {
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
            let (listener, held) = (listener.try_clone().expect("a copy"), Held::default());
            Server { control, listener, datagrams, held }.serve(case);
        });
        run_client(&spec, &Stop::new(), &())
    })
}

fn check(case: &Case) -> std::result::Result<(), String> {
    let Case { stops, transport, direction, until, says } = case;
    let name = format!("{stops:?} {transport:?} {direction:?} {until:?}");
    match said(case) {
        Ok(_) if says.is_empty() => Ok(()),
        Ok(_) => Err(format!("{name}: it seems to have gone well")),
        Err(error) => {
            let error = error.to_string();
            let missing: Vec<_> = says.iter().filter(|word| !error.contains(**word)).collect();
            if missing.is_empty() && !says.is_empty() {
                Ok(())
            } else {
                Err(format!("{name}: no {missing:?} in `{error}`"))
            }
        }
    }
}

const ALL_WAYS: [Direction; 3] = [Direction::Forward, Direction::Reverse, Direction::Both];

#[expect(clippy::too_many_lines, reason = "a table: a server, and what is said of it, each")]
fn cases() -> Vec<Case> {
    use Stops::*;
    let (soon, later) = (Until::Elapsed(Nanos::from_millis(400)), Until::Elapsed(Nanos::from_secs(600)));
    let amount = Until::Sent(Bytes(1 << 40));
    let mut cases = Vec::new();
    let mut add = |stops, transport, direction, until, says| {
        cases.push(Case { stops, transport, direction, until, says });
    };
    for direction in ALL_WAYS {
        for transport in [Transport::Tcp, Transport::Udp] {
            add(
                AtFirst,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "question for the parameters"],
            );
            add(
                AfterQuestion,
                transport,
                direction,
                soon,
                &["control connection to 127.0.0.1:", "answer to the parameters"],
            );
            let says: &[_] = match transport {
                Transport::Tcp => &["control connection to 127.0.0.1:", "all streams stand"],
                Transport::Udp => &["127.0.0.1:", "an answer to the greeting"],
            };
            add(AtStreams, transport, direction, soon, says);
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
                &["control connection to 127.0.0.1:", "question for the results"],
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
            &["control connection to 127.0.0.1:", "question for the results"],
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
    add(Silent, Transport::Tcp, Direction::Reverse, amount, &["waited 30.0 s for more of them"]);
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
fn a_server_that_stops_at_any_state_is_not_waited_for_without_end() {
    let cases = cases();
    let all = cases.len();
    let wrong = on_loopback(|| {
        let (tell, told) = channel();
        let run = |case: Case, tell: Sender<_>| {
            // Not joined: one that never ends is what is looked for.
            thread::spawn(move || tell.send(check(&case)));
        };
        cases.into_iter().for_each(|case| run(case, tell.clone()));
        let answers = (0..all).map(|ended| {
            told.recv_timeout(WATCHED).unwrap_or_else(|_| panic!("{ended} of {all} ended, the others never"))
        });
        answers.filter_map(std::result::Result::err).collect::<Vec<_>>()
    });
    let wrong = wrong.unwrap_or_default();
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}
