//! Runs programs in parallel and prints the output of each in one piece.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::Result;

/// Runs up to `at_once` items at a time, in order of arrival. `show` receives an item's output when the item ends.
/// Returns the items that failed.
pub(crate) fn run<T: Send>(
    programs: mpsc::Receiver<T>,
    at_once: usize,
    run: &(impl Fn(&T, &mut dyn FnMut(&str)) -> Result<bool> + Sync),
    show: &mut dyn FnMut(&str),
) -> Result<Vec<T>> {
    let (ended, came) = mpsc::channel();
    let programs = Mutex::new(programs);
    let next = || programs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let ended = ended.clone();
            scope.spawn(move || {
                while let Some(program) = next() {
                    let mut lines = Vec::new();
                    let well = run(&program, &mut |line| lines.push(line.to_owned()));
                    // The receiver is gone if another item could not be run.
                    let _ = ended.send((program, well, lines));
                }
            });
        }
        drop(ended);
        let mut failed = Vec::new();
        for (program, well, lines) in came {
            lines.iter().for_each(|line| show(line));
            if !well? {
                failed.push(program);
            }
        }
        Ok(failed)
    })
}

#[cfg(test)]
mod tests {
    use std::{ops::Range, sync::Barrier};

    use anyhow::anyhow;

    use super::*;

    const AT_ONCE: usize = 4;

    fn come(names: Range<usize>) -> mpsc::Receiver<usize> {
        let (hand_over, programs) = mpsc::channel();
        names.for_each(|name| hand_over.send(name).expect("the receiver exists"));
        programs
    }

    #[test]
    fn runs_in_parallel_and_keeps_output_together() {
        let together = Barrier::new(AT_ONCE);
        let mut shown = Vec::new();
        let says = |name: &usize, lines: &mut dyn FnMut(&str)| {
            for _ in 0..3 {
                together.wait();
                lines(&name.to_string());
            }
            Ok(*name != 1)
        };
        let failed = run(come(0..AT_ONCE), AT_ONCE, &says, &mut |line| shown.push(line.to_owned()))
            .expect("all could be run");
        assert_eq!(failed, [1]);
        assert!(shown.chunks(3).all(|lines| lines.iter().all(|line| *line == lines[0])), "{shown:?}");
        assert_eq!(shown.len(), 3 * AT_ONCE);
    }

    #[test]
    fn failure_to_run_is_an_error() {
        let fails = |_: &usize, _: &mut dyn FnMut(&str)| Err(anyhow!("no such program"));
        assert!(run(come(1..3), AT_ONCE, &fails, &mut |_| ()).is_err());
        let never = |_: &usize, _: &mut dyn FnMut(&str)| Ok(true);
        assert!(run(come(0..0), AT_ONCE, &never, &mut |_| ()).expect("nothing to run").is_empty());
    }
}
