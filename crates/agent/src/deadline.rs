//! Work that ends in time: when its deadline passes, it is stopped and refused.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};

use traffic::Stop;
use units::Nanos;

use crate::refusal::Refusal;

/// Runs `work`, which obeys `stop`, on a thread of its own.
pub(crate) fn within<T: Send>(
    deadline: Nanos,
    stop: &Stop,
    work: impl FnOnce() -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let body = || {
            let _ends = done;
            work()
        };
        let worker = thread::Builder::new()
            .name("trial".into())
            .spawn_scoped(scope, body)
            .map_err(|error| Refusal::new(format!("cannot start a thread for the trial: {error}")))?;
        let late = matches!(ended.recv_timeout(deadline.into()), Err(RecvTimeoutError::Timeout));
        if late {
            stop.ask();
        }
        match worker.join() {
            Ok(Err(_)) if late => Err(passed(deadline)),
            Ok(result) => result,
            Err(_) => Err(panicked()),
        }
    })
}

/// The deadline was not met.
pub(crate) fn passed(deadline: Nanos) -> Refusal {
    Refusal::new(format!("its deadline of {deadline} passed, and it was stopped"))
}

/// A defect of this program.
pub(crate) fn panicked() -> Refusal {
    Refusal::new("the agent's thread panicked; please report this with what it wrote to standard error")
}
