//! The server's end of the control connection, from the cookie on.
//!
//! Bytes in, bytes and events out: it neither accepts nor waits. Memory: what is due of the client's parameters
//! or results (at most [`MAX_PARAMS`] and [`MAX_CLIENT_RESULTS`]) and a handful of events, whatever the client
//! sends.

use std::{collections::VecDeque, mem};

use units::Nanos;

use super::{
    ErrorCode, Failure, MAX_CLIENT_RESULTS, MAX_PARAMS, Params, Results, State,
    failure::UnexpectedByte,
    inbox::{Due, Inbox, Item, frame, read},
};

/// How long a client may take over each step but the test itself.
const PATIENCE: Nanos = Nanos::from_secs(10);
/// How much longer than it said a test may take; iperf3 itself has ten changes of state of 4 s.
const GRACE: Nanos = Nanos::from_secs(40);

/// What the driver is to do, or to know.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What the client asks for, within iperf3's limits: [`Machine::accept`] or [`Machine::refuse`] it.
    Params(Box<Params>),
    /// The client says that the test is over: stop, and call [`Machine::end_test`].
    TestEnd,
    /// What the client saw.
    Results(Box<Results>),
    /// All is said; close.
    Done,
    /// The client was told to end; close.
    ClientTerminated,
    /// It failed; close once what is left was transmitted.
    Failed(Failure),
}

/// The server's end of a test.
#[derive(Debug)]
pub struct Machine {
    phase: Phase,
    inbox: Inbox,
    outbox: Vec<u8>,
    events: VecDeque<Event>,
    results: Vec<u8>,
    /// How long the test takes, as the client said; `None` where bytes end it, or nothing does.
    asked: Option<Nanos>,
    since: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// For the client's parameters.
    Parameters,
    /// For the driver to accept them.
    Judging,
    /// For the client to connect, and the driver to have seen it.
    Streams,
    /// For the client to end the test.
    Running,
    /// For the driver to have stopped.
    Ending,
    /// For the client's results.
    Results,
    /// For the client's good-bye.
    Closing,
    Over,
}

/// What a server that serves one test at a time answers a second client; nothing else, and closes.
#[must_use]
pub const fn access_denied() -> [u8; 1] {
    [State::AccessDenied.byte()]
}

impl Machine {
    /// A server that has read a cookie and asks for the parameters.
    #[must_use]
    pub fn new(now: Nanos) -> Self {
        Self {
            phase: Phase::Parameters,
            inbox: Inbox::default(),
            outbox: vec![State::ParamExchange.byte()],
            events: VecDeque::new(),
            results: Vec::new(),
            asked: None,
            since: now,
        }
    }

    /// Takes what came over the control connection after the cookie.
    pub fn receive(&mut self, mut bytes: &[u8], now: Nanos) {
        while !bytes.is_empty() {
            match self.inbox.take(self.phase.due(), &mut bytes) {
                Ok(Some(Item::State(byte))) => self.hear(byte, now),
                Ok(Some(Item::Json(json))) => self.json_came(&json, now),
                Ok(Some(Item::Error { .. }) | None) => {}
                Err(failure) => self.fail(failure),
            }
        }
    }

    /// The client closed the control connection, or it broke.
    pub fn closed(&mut self) {
        if self.phase == Phase::Closing {
            self.tell(Event::Done, Phase::Over, self.since);
        } else if self.phase != Phase::Over {
            self.fail(Failure::Closed { awaited: self.phase.awaited() });
        }
    }

    /// The parameters are good: the client connects its streams, in the order of [`Params::streams`].
    pub fn accept(&mut self, now: Nanos) {
        if self.phase == Phase::Judging {
            self.say(State::CreateStreams);
            self.enter(Phase::Streams, now);
        }
    }

    /// All streams stand: the test begins.
    pub fn streams_created(&mut self, now: Nanos) {
        if self.phase == Phase::Streams {
            self.say(State::TestStart);
            self.say(State::TestRunning);
            self.enter(Phase::Running, now);
        }
    }

    /// This end has stopped, and saw this. Does nothing unless the client has ended the test.
    pub fn end_test(&mut self, results: &Results, now: Nanos) {
        if self.phase == Phase::Ending {
            self.say(State::ExchangeResults);
            self.results = frame(results);
            self.enter(Phase::Results, now);
        }
    }

    /// Ends it with an error, which the client is told: iperf3's number, and the machine's or 0.
    pub fn refuse(&mut self, code: ErrorCode, errno: i32) {
        if self.phase != Phase::Over {
            self.say(State::ServerError);
            self.outbox.extend(code.0.to_be_bytes());
            self.outbox.extend(errno.to_be_bytes());
            self.phase = Phase::Over;
        }
    }

    /// This end was told to end: the client hears of it, and nothing more is said.
    pub fn terminate(&mut self) {
        if self.phase != Phase::Over {
            self.say(State::ServerTerminate);
            self.phase = Phase::Over;
        }
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

    /// When [`Self::tick`] is to be called; `None` while the driver owes something, or the test has no set time.
    #[must_use]
    pub fn deadline(&self) -> Option<Nanos> {
        self.patience().map(|patience| self.since + patience)
    }

    /// Looks whether the client is late.
    pub fn tick(&mut self, now: Nanos) {
        let Some(waited) = self.patience().filter(|patience| now >= self.since + *patience) else { return };
        match self.phase {
            Phase::Closing => self.tell(Event::Done, Phase::Over, now),
            Phase::Running => self.fail_with(
                Failure::Silent { awaited: self.phase.awaited(), waited },
                ErrorCode::DURATION_EXPIRED,
            ),
            _ => self.fail(Failure::Silent { awaited: self.phase.awaited(), waited }),
        }
    }

    /// Whether nothing more will be said.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn patience(&self) -> Option<Nanos> {
        match self.phase {
            Phase::Judging | Phase::Ending | Phase::Over => None,
            Phase::Running => self.asked.map(|asked| asked + GRACE),
            Phase::Parameters | Phase::Streams | Phase::Results | Phase::Closing => Some(PATIENCE),
        }
    }

    fn hear(&mut self, byte: u8, now: Nanos) {
        match (self.phase, State::from_byte(byte)) {
            (_, Some(State::ClientTerminate)) => self.tell(Event::ClientTerminated, Phase::Over, now),
            (Phase::Running, Some(State::TestEnd)) => self.tell(Event::TestEnd, Phase::Ending, now),
            (Phase::Closing, Some(State::IperfDone)) => self.tell(Event::Done, Phase::Over, now),
            (phase, _) => {
                self.fail(Failure::Unexpected { awaited: phase.awaited(), got: UnexpectedByte::of(byte) });
            }
        }
    }

    fn json_came(&mut self, json: &[u8], now: Nanos) {
        let what = self.phase.awaited();
        if self.phase == Phase::Parameters {
            match read(what, json) {
                Ok(params) => self.params_came(params, now),
                Err(failure) => self.fail_with(failure, ErrorCode::RECEIVE_PARAMS),
            }
        } else {
            match read(what, json) {
                Ok(results) => self.results_came(results, now),
                Err(failure) => self.fail_with(failure, ErrorCode::RECEIVE_RESULTS),
            }
        }
    }

    fn params_came(&mut self, params: Params, now: Nanos) {
        if let Err(code) = params.check() {
            return self.fail(Failure::Refused(code));
        }
        let seconds = |number: i64| Nanos::from_secs(u64::try_from(number).unwrap_or(0));
        self.asked = (params.time > 0).then(|| seconds(params.time) + seconds(params.omit));
        self.tell(Event::Params(Box::new(params)), Phase::Judging, now);
    }

    fn results_came(&mut self, results: Results, now: Nanos) {
        self.outbox.append(&mut self.results);
        self.say(State::DisplayResults);
        self.tell(Event::Results(Box::new(results)), Phase::Closing, now);
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
        let code = failure.code();
        self.events.push_back(Event::Failed(failure));
        if let Some(code) = code {
            self.refuse(code, 0);
        }
        self.phase = Phase::Over;
    }

    fn fail_with(&mut self, failure: Failure, code: ErrorCode) {
        self.refuse(code, 0);
        self.events.push_back(Event::Failed(failure));
    }
}

impl Phase {
    const fn due(self) -> Due {
        match self {
            Self::Parameters => Due::Json { what: self.awaited(), limit: MAX_PARAMS },
            Self::Results => Due::Json { what: self.awaited(), limit: MAX_CLIENT_RESULTS },
            Self::Over => Due::Nothing,
            _ => Due::State,
        }
    }

    const fn awaited(self) -> &'static str {
        match self {
            Self::Parameters => "client's parameters",
            Self::Judging => "nothing before its parameters were judged",
            Self::Streams => "the client's streams",
            Self::Running => "the end of the test",
            Self::Ending => "nothing before the end of the test",
            Self::Results => "client's results",
            Self::Closing => "the client's good-bye",
            Self::Over => "nothing",
        }
    }
}
