//! Runs work with a deadline.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};

use traffic::Stop;
use units::Nanos;

use crate::refusal::Refusal;

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

pub(crate) fn passed(deadline: Nanos) -> Refusal {
    Refusal::new(format!("stopped at its deadline of {deadline}"))
}

pub(crate) fn panicked() -> Refusal {
    Refusal::new("a thread of the agent panicked; please report this, and include the agent's stderr output")
}
