//! The server side of the control connection after the cookie, without I/O. [`MAX_PARAMS`] and
//! [`MAX_CLIENT_RESULTS`] bound its memory.

use std::{collections::VecDeque, mem};

use units::Nanos;

use super::{
    ErrorCode, Failure, MAX_CLIENT_RESULTS, MAX_PARAMS, Params, Results, State,
    failure::UnexpectedByte,
    inbox::{Due, Inbox, Item, frame, read},
};

const PATIENCE: Nanos = Nanos::from_secs(10);
/// Time that a test may take beyond its duration. iperf3 allows ten state changes of 4 s each.
const GRACE: Nanos = Nanos::from_secs(40);

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Params(Box<Params>),
    TestEnd,
    Results(Box<Results>),
    Done,
    ClientTerminated,
    Failed(Failure),
}

#[derive(Debug)]
pub struct Machine {
    phase: Phase,
    inbox: Inbox,
    outbox: Vec<u8>,
    events: VecDeque<Event>,
    results: Vec<u8>,
    duration: Option<Nanos>,
    since: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Parameters,
    Judging,
    Streams,
    Running,
    Ending,
    Results,
    Closing,
    Over,
}

#[must_use]
pub const fn access_denied() -> [u8; 1] {
    [State::AccessDenied.byte()]
}

impl Machine {
    #[must_use]
    pub fn new(now: Nanos) -> Self {
        Self {
            phase: Phase::Parameters,
            inbox: Inbox::default(),
            outbox: vec![State::ParamExchange.byte()],
            events: VecDeque::new(),
            results: Vec::new(),
            duration: None,
            since: now,
        }
    }

    pub fn receive(&mut self, mut bytes: &[u8], now: Nanos) {
        while !bytes.is_empty() {
            match self.inbox.take(self.phase.due(), &mut bytes) {
                Ok(Some(Item::State(byte))) => self.on_byte(byte, now),
                Ok(Some(Item::Json(json))) => self.on_json(&json, now),
                Ok(Some(Item::Error { .. }) | None) => {}
                Err(failure) => self.fail(failure),
            }
        }
    }

    pub fn closed(&mut self) {
        if self.phase == Phase::Closing {
            self.emit(Event::Done, Phase::Over, self.since);
        } else if self.phase != Phase::Over {
            self.fail(Failure::Closed { awaited: self.phase.awaited() });
        }
    }

    pub fn accept(&mut self, now: Nanos) {
        if self.phase == Phase::Judging {
            self.send_state(State::CreateStreams);
            self.enter(Phase::Streams, now);
        }
    }

    pub fn streams_created(&mut self, now: Nanos) {
        if self.phase == Phase::Streams {
            self.send_state(State::TestStart);
            self.send_state(State::TestRunning);
            self.enter(Phase::Running, now);
        }
    }

    pub fn end_test(&mut self, results: &Results, now: Nanos) {
        if self.phase == Phase::Ending {
            self.send_state(State::ExchangeResults);
            self.results = frame(results);
            self.enter(Phase::Results, now);
        }
    }

    pub fn refuse(&mut self, code: ErrorCode, errno: i32) {
        if self.phase != Phase::Over {
            self.send_state(State::ServerError);
            self.outbox.extend(code.0.to_be_bytes());
            self.outbox.extend(errno.to_be_bytes());
            self.phase = Phase::Over;
        }
    }

    pub fn terminate(&mut self) {
        if self.phase != Phase::Over {
            self.send_state(State::ServerTerminate);
            self.phase = Phase::Over;
        }
    }

    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let bytes = mem::take(&mut self.outbox);
        (!bytes.is_empty()).then_some(bytes)
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns when to call [`Self::tick`], or `None` while waiting for the driver and during a test without
    /// a fixed duration.
    #[must_use]
    pub fn deadline(&self) -> Option<Nanos> {
        self.patience().map(|patience| self.since + patience)
    }

    pub fn tick(&mut self, now: Nanos) {
        let Some(waited) = self.patience().filter(|patience| now >= self.since + *patience) else { return };
        match self.phase {
            Phase::Closing => self.emit(Event::Done, Phase::Over, now),
            Phase::Running => self.fail_with(
                Failure::Silent { awaited: self.phase.awaited(), waited },
                ErrorCode::DURATION_EXPIRED,
            ),
            _ => self.fail(Failure::Silent { awaited: self.phase.awaited(), waited }),
        }
    }

    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn patience(&self) -> Option<Nanos> {
        match self.phase {
            Phase::Judging | Phase::Ending | Phase::Over => None,
            Phase::Running => self.duration.map(|duration| duration + GRACE),
            Phase::Parameters | Phase::Streams | Phase::Results | Phase::Closing => Some(PATIENCE),
        }
    }

    fn on_byte(&mut self, byte: u8, now: Nanos) {
        match (self.phase, State::from_byte(byte)) {
            (_, Some(State::ClientTerminate)) => self.emit(Event::ClientTerminated, Phase::Over, now),
            (Phase::Running, Some(State::TestEnd)) => self.emit(Event::TestEnd, Phase::Ending, now),
            (Phase::Closing, Some(State::IperfDone)) => self.emit(Event::Done, Phase::Over, now),
            (phase, _) => {
                self.fail(Failure::Unexpected { awaited: phase.awaited(), got: UnexpectedByte::of(byte) });
            }
        }
    }

    fn on_json(&mut self, json: &[u8], now: Nanos) {
        let what = self.phase.awaited();
        if self.phase == Phase::Parameters {
            match read(what, json) {
                Ok(params) => self.on_params(params, now),
                Err(failure) => self.fail_with(failure, ErrorCode::RECEIVE_PARAMS),
            }
        } else {
            match read(what, json) {
                Ok(results) => self.on_results(results, now),
                Err(failure) => self.fail_with(failure, ErrorCode::RECEIVE_RESULTS),
            }
        }
    }

    fn on_params(&mut self, params: Params, now: Nanos) {
        if let Err(code) = params.check() {
            return self.fail(Failure::Refused(code));
        }
        let seconds = |number: i64| Nanos::from_secs(u64::try_from(number).unwrap_or(0));
        self.duration = (params.time > 0).then(|| seconds(params.time) + seconds(params.omit));
        self.emit(Event::Params(Box::new(params)), Phase::Judging, now);
    }

    fn on_results(&mut self, results: Results, now: Nanos) {
        self.outbox.append(&mut self.results);
        self.send_state(State::DisplayResults);
        self.emit(Event::Results(Box::new(results)), Phase::Closing, now);
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
            Self::Judging => "nothing until the parameters are accepted",
            Self::Streams => "the client's streams",
            Self::Running => "the end of the test",
            Self::Ending => "nothing until the end of the test",
            Self::Results => "client's results",
            Self::Closing => "the client to finish",
            Self::Over => "nothing",
        }
    }
}
