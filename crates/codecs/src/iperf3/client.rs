//! The client side of the control connection, without I/O. [`MAX_SERVER_RESULTS`] bounds its memory.

use std::{collections::VecDeque, mem};

use units::Nanos;

use super::{
    Cookie, ErrorCode, Failure, MAX_SERVER_RESULTS, Params, Results, State,
    failure::UnexpectedByte,
    inbox::{Due, Inbox, Item, frame, read},
};

/// Timeout for each of the server's steps. iperf3 has none.
const PATIENCE: Nanos = Nanos::from_secs(30);

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Connect the streams in the order of [`Params::streams`].
    CreateStreams,
    Start,
    /// Start sending. At the end of the test, call [`Machine::end_test`] and then [`Machine::exchange`].
    Running,
    Results(Box<Results>),
    /// Send the remaining bytes, then close the connection.
    Done,
    /// Send the remaining bytes, then close the connection.
    Failed(Failure),
}

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
    Greeting,
    Parameters,
    Streams,
    Starting,
    Running,
    Ending,
    Asked,
    Results,
    Closing,
    Error,
    Over,
}

impl Machine {
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

    pub fn receive(&mut self, mut bytes: &[u8], now: Nanos) {
        while !bytes.is_empty() {
            match self.inbox.take(self.phase.due(), &mut bytes) {
                Ok(Some(Item::State(byte))) => self.on_byte(byte, now),
                Ok(Some(Item::Json(json))) => self.on_results(&json, now),
                Ok(Some(Item::Error { code, errno })) => {
                    self.fail(Failure::Server { code: ErrorCode(code), errno });
                }
                Ok(None) => {}
                Err(failure) => self.fail(failure),
            }
        }
    }

    pub fn closed(&mut self) {
        match (self.phase, self.inbox.half_error()) {
            (Phase::Over, _) => {}
            (Phase::Error, Some(code)) => self.fail(Failure::Server { code: ErrorCode(code), errno: 0 }),
            (phase, _) => self.fail(Failure::Closed { awaited: phase.awaited() }),
        }
    }

    /// Call this when this end has stopped sending, and [`Self::exchange`] when everything has been received. Has no
    /// effect unless the test is running.
    pub fn end_test(&mut self, now: Nanos) {
        if self.phase == Phase::Running {
            self.send_state(State::TestEnd);
            self.enter(Phase::Ending, now);
        }
    }

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

    pub fn terminate(&mut self) {
        if self.phase != Phase::Over {
            self.send_state(State::ClientTerminate);
            self.phase = Phase::Over;
        }
    }

    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.phase == Phase::Asked
    }

    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let bytes = mem::take(&mut self.outbox);
        (!bytes.is_empty()).then_some(bytes)
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns when to call [`Self::tick`], or `None` while the test is running.
    #[must_use]
    pub fn deadline(&self) -> Option<Nanos> {
        let waits = !matches!(self.phase, Phase::Running | Phase::Asked | Phase::Over);
        waits.then_some(self.since + PATIENCE)
    }

    pub fn tick(&mut self, now: Nanos) {
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.fail(Failure::Silent { awaited: self.phase.awaited(), waited: PATIENCE });
        }
    }

    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn on_byte(&mut self, byte: u8, now: Nanos) {
        match (self.phase, State::from_byte(byte)) {
            (_, Some(State::AccessDenied)) => self.fail(Failure::Busy),
            (_, Some(State::ServerTerminate)) => self.fail(Failure::ServerTerminated),
            (_, Some(State::ServerError)) => self.enter(Phase::Error, now),
            (Phase::Greeting, Some(State::ParamExchange)) => {
                self.outbox.append(&mut self.parameters);
                self.enter(Phase::Parameters, now);
            }
            (Phase::Parameters, Some(State::CreateStreams)) => {
                self.emit(Event::CreateStreams, Phase::Streams, now);
            }
            (Phase::Streams, Some(State::TestStart)) => self.emit(Event::Start, Phase::Starting, now),
            (Phase::Starting, Some(State::TestRunning)) => self.emit(Event::Running, Phase::Running, now),
            (Phase::Ending, Some(State::ExchangeResults)) if self.results.is_empty() => {
                self.enter(Phase::Asked, now);
            }
            (Phase::Ending, Some(State::ExchangeResults)) => {
                self.outbox.append(&mut self.results);
                self.enter(Phase::Results, now);
            }
            (Phase::Closing, Some(State::DisplayResults)) => {
                self.send_state(State::IperfDone);
                self.emit(Event::Done, Phase::Over, now);
            }
            (phase, _) => {
                self.fail(Failure::Unexpected { awaited: phase.awaited(), got: UnexpectedByte::of(byte) });
            }
        }
    }

    fn on_results(&mut self, json: &[u8], now: Nanos) {
        match read("server's results", json) {
            Ok(results) => self.emit(Event::Results(Box::new(results)), Phase::Closing, now),
            Err(failure) => self.fail(failure),
        }
    }

    fn send_state(&mut self, state: State) {
        self.outbox.push(state.byte());
    }

    fn emit(&mut self, event: Event, next: Phase, now: Nanos) {
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
            Self::Greeting => "the server's parameter request",
            Self::Parameters => "the server's reply to the parameters",
            Self::Streams => "the server to confirm all streams",
            Self::Starting => "the server to start the test",
            Self::Running => "the end of the test",
            Self::Ending => "the server's result request",
            Self::Asked => "nothing before this end's results",
            Self::Results => "server's results",
            Self::Closing => "the server's final state",
            Self::Error => "the server's error numbers",
            Self::Over => "nothing",
        }
    }
}
