//! The client's end of the control connection.
//!
//! Bytes in, bytes and events out: it neither connects nor waits. Memory: what is due of the server's results
//! (at most [`MAX_SERVER_RESULTS`]) and a handful of events, whatever the server sends.

use std::{collections::VecDeque, mem};

use units::Nanos;

use super::{
    Cookie, ErrorCode, Failure, MAX_SERVER_RESULTS, Params, Results, State,
    failure::UnexpectedByte,
    inbox::{Due, Inbox, Item, frame, read},
};

/// How long a server may take over each step; iperf3 itself waits without end.
const PATIENCE: Nanos = Nanos::from_secs(30);

/// What the driver is to do, or to know.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Connect every stream, in the order of [`Params::streams`].
    CreateStreams,
    /// Every stream stands at the server; it begins to send what it has to send.
    Start,
    /// Send; when it is over, [`Machine::end_test`] and [`Machine::exchange`].
    Running,
    /// What the server saw.
    Results(Box<Results>),
    /// All is said; close once what is left was transmitted.
    Done,
    /// It failed; close once what is left was transmitted.
    Failed(Failure),
}

/// The client's end of a test.
#[derive(Debug)]
pub struct Machine {
    phase: Phase,
    inbox: Inbox,
    outbox: Vec<u8>,
    events: VecDeque<Event>,
    parameters: Vec<u8>,
    results: Vec<u8>,
    since: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// For the server to ask for the parameters.
    Greeting,
    /// For the server to have streams.
    Parameters,
    /// For the driver to connect, and the server to have seen it.
    Streams,
    /// For the server to say go.
    Starting,
    /// For the driver to end the test.
    Running,
    /// For the server to ask for the results.
    Ending,
    /// For the driver to have them.
    Asked,
    /// For the server's results.
    Results,
    /// For the server's last word.
    Closing,
    /// For the numbers of the server's error.
    Error,
    Over,
}

impl Machine {
    /// A client that has connected and says its cookie.
    #[must_use]
    pub fn new(cookie: &Cookie, params: &Params, now: Nanos) -> Self {
        Self {
            phase: Phase::Greeting,
            inbox: Inbox::default(),
            outbox: cookie.as_bytes().to_vec(),
            events: VecDeque::new(),
            parameters: frame(params),
            results: Vec::new(),
            since: now,
        }
    }

    /// Takes what came over the control connection.
    pub fn receive(&mut self, mut bytes: &[u8], now: Nanos) {
        while !bytes.is_empty() {
            match self.inbox.take(self.phase.due(), &mut bytes) {
                Ok(Some(Item::State(byte))) => self.hear(byte, now),
                Ok(Some(Item::Json(json))) => self.results_came(&json, now),
                Ok(Some(Item::Error { code, errno })) => {
                    self.fail(Failure::Server { code: ErrorCode(code), errno });
                }
                Ok(None) => {}
                Err(failure) => self.fail(failure),
            }
        }
    }

    /// The server closed the control connection, or it broke.
    pub fn closed(&mut self) {
        match (self.phase, self.inbox.half_error()) {
            (Phase::Over, _) => {}
            (Phase::Error, Some(code)) => self.fail(Failure::Server { code: ErrorCode(code), errno: 0 }),
            (phase, _) => self.fail(Failure::Closed { awaited: phase.awaited() }),
        }
    }

    /// The test is over: this end sends no more, and [`Self::exchange`] follows once it has nothing more to
    /// receive. Does nothing unless the test is running.
    pub fn end_test(&mut self, now: Nanos) {
        if self.phase == Phase::Running {
            self.say(State::TestEnd);
            self.enter(Phase::Ending, now);
        }
    }

    /// What this end saw. Does nothing unless it has ended the test.
    pub fn exchange(&mut self, results: &Results, now: Nanos) {
        match self.phase {
            Phase::Ending => self.results = frame(results),
            Phase::Asked => {
                self.outbox.extend(frame(results));
                self.enter(Phase::Results, now);
            }
            _ => {}
        }
    }

    /// This end was told to end: the server hears of it, and nothing more is said.
    pub fn terminate(&mut self) {
        if self.phase != Phase::Over {
            self.say(State::ClientTerminate);
            self.phase = Phase::Over;
        }
    }

    /// Whether the server has heard of the end, sends no more, and awaits what this end saw.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.phase == Phase::Asked
    }

    /// What is to be sent.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let bytes = mem::take(&mut self.outbox);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// What happened, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Self::tick`] is to be called; `None` while the test runs.
    #[must_use]
    pub fn deadline(&self) -> Option<Nanos> {
        let waits = !matches!(self.phase, Phase::Running | Phase::Asked | Phase::Over);
        waits.then_some(self.since + PATIENCE)
    }

    /// Looks whether the server is late.
    pub fn tick(&mut self, now: Nanos) {
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.fail(Failure::Silent { awaited: self.phase.awaited(), waited: PATIENCE });
        }
    }

    /// Whether nothing more will be said.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn hear(&mut self, byte: u8, now: Nanos) {
        match (self.phase, State::from_byte(byte)) {
            (_, Some(State::AccessDenied)) => self.fail(Failure::Busy),
            (_, Some(State::ServerTerminate)) => self.fail(Failure::ServerTerminated),
            (_, Some(State::ServerError)) => self.enter(Phase::Error, now),
            (Phase::Greeting, Some(State::ParamExchange)) => {
                self.outbox.append(&mut self.parameters);
                self.enter(Phase::Parameters, now);
            }
            (Phase::Parameters, Some(State::CreateStreams)) => {
                self.tell(Event::CreateStreams, Phase::Streams, now);
            }
            (Phase::Streams, Some(State::TestStart)) => self.tell(Event::Start, Phase::Starting, now),
            (Phase::Starting, Some(State::TestRunning)) => self.tell(Event::Running, Phase::Running, now),
            (Phase::Ending, Some(State::ExchangeResults)) if self.results.is_empty() => {
                self.enter(Phase::Asked, now);
            }
            (Phase::Ending, Some(State::ExchangeResults)) => {
                self.outbox.append(&mut self.results);
                self.enter(Phase::Results, now);
            }
            (Phase::Closing, Some(State::DisplayResults)) => {
                self.say(State::IperfDone);
                self.tell(Event::Done, Phase::Over, now);
            }
            (phase, _) => {
                self.fail(Failure::Unexpected { awaited: phase.awaited(), got: UnexpectedByte::of(byte) });
            }
        }
    }

    fn results_came(&mut self, json: &[u8], now: Nanos) {
        match read("server's results", json) {
            Ok(results) => self.tell(Event::Results(Box::new(results)), Phase::Closing, now),
            Err(failure) => self.fail(failure),
        }
    }

    fn say(&mut self, state: State) {
        self.outbox.push(state.byte());
    }

    fn tell(&mut self, event: Event, next: Phase, now: Nanos) {
        self.events.push_back(event);
        self.enter(next, now);
    }

    fn enter(&mut self, phase: Phase, now: Nanos) {
        self.phase = phase;
        self.since = now;
    }

    fn fail(&mut self, failure: Failure) {
        self.events.push_back(Event::Failed(failure));
        self.phase = Phase::Over;
    }
}

impl Phase {
    const fn due(self) -> Due {
        match self {
            Self::Results => Due::Json { what: self.awaited(), limit: MAX_SERVER_RESULTS },
            Self::Error => Due::Error,
            Self::Over => Due::Nothing,
            _ => Due::State,
        }
    }

    const fn awaited(self) -> &'static str {
        match self {
            Self::Greeting => "the server's question for the parameters",
            Self::Parameters => "the server's answer to the parameters",
            Self::Streams => "the server's word that all streams stand",
            Self::Starting => "the server's start",
            Self::Running => "the end of the test",
            Self::Ending => "the server's question for the results",
            Self::Asked => "nothing before this end's results",
            Self::Results => "server's results",
            Self::Closing => "the server's last word",
            Self::Error => "the numbers of the server's error",
            Self::Over => "nothing",
        }
    }
}
