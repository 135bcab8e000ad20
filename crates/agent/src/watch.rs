//! Observes a running trial: forwards its progress, and records the machine's CPU time.

use std::cell::{Cell, RefCell};

use machine::QuotaCounters;
use probe::{CpuReading, SoftnetReading};
use protocol::{FromAgent, Progress, Token};
use samples::{CpuThrottling, MachineCpu, SoftnetCounters};
use sys::clock::monotonic;
use traffic::{Observer, progress_interval};
use units::Nanos;

use crate::{refusal::Refusal, replies::Replies};

pub(crate) struct Watch<'a> {
    replies: &'a Replies,
    token: Token,
    readings: RefCell<Vec<Result<CpuReading, probe::Error>>>,
    softnet: RefCell<Vec<Option<SoftnetReading>>>,
    signs: Cell<(Option<u64>, u64)>,
    quotas: RefCell<Vec<QuotaCounters>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(replies: &'a Replies, token: Token) -> Self {
        Self {
            replies,
            token,
            readings: RefCell::default(),
            softnet: RefCell::default(),
            signs: Cell::default(),
            quotas: RefCell::default(),
        }
    }

    pub(crate) fn softnet(&self) -> Option<SoftnetCounters> {
        match self.softnet.borrow().as_slice() {
            [Some(before), Some(after)] => Some(after.since(before)),
            _ => None,
        }
    }

    pub(crate) fn throttled(&self) -> Option<CpuThrottling> {
        match self.quotas.borrow().as_slice() {
            [before, after] => after.since(before).map(|throttling| CpuThrottling {
                end: String::new(),
                group: throttling.group.display().to_string(),
                limit: throttling.limit,
                periods: throttling.periods,
                throttled: throttling.throttled,
                time: throttling.time.into(),
            }),
            _ => None,
        }
    }

    fn read_quotas(&self) {
        self.quotas.borrow_mut().extend(QuotaCounters::here());
    }

    pub(crate) fn stalled(&self) -> Nanos {
        Nanos(self.signs.get().1.saturating_sub(Nanos::from(progress_interval()).0))
    }

    fn sign(&self) {
        let (last, longest) = self.signs.get();
        let now = monotonic();
        self.signs.set((Some(now), longest.max(last.map_or(0, |last| now - last))));
    }

    pub(crate) fn machine(self) -> Result<MachineCpu, Refusal> {
        let readings: Vec<CpuReading> = self
            .readings
            .into_inner()
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|error| Refusal::new(error.to_string()))?;
        match readings.as_slice() {
            [before, after] => Ok(after.since(before)),
            _ => Err(Refusal::new("the trial did not report its start and end; please report this bug")),
        }
    }
}

impl Observer for Watch<'_> {
    fn started(&self) {
        self.sign();
        self.softnet.borrow_mut().push(SoftnetReading::now());
        self.read_quotas();
        self.readings.borrow_mut().push(CpuReading::now());
    }

    fn progress(&self, progress: traffic::Progress) {
        self.sign();
        let traffic::Progress { elapsed, covers, received, round_trips, .. } = progress;
        let token = self.token;
        self.replies.send(&FromAgent::Progress(Progress { token, elapsed, received, round_trips, covers }));
    }

    fn ended(&self) {
        self.sign();
        self.readings.borrow_mut().push(CpuReading::now());
        self.softnet.borrow_mut().push(SoftnetReading::now());
        self.read_quotas();
    }
}
