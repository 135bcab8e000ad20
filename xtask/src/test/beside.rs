//! Programs beside each other, what each prints handed over in one piece.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::Result;

/// Runs each with `run` as it comes, the long ones `at_once` at a time, the short ones in the place of each that there is no more of,
/// and one besides, and hands what one printed to `show` when it has ended; tells whether all ended well.
///
/// # Errors
/// The first of `run`.
pub(crate) fn run<T: Send>(
    [long, short]: [mpsc::Receiver<T>; 2],
    at_once: usize,
    run: &(impl Fn(&T, &mut dyn FnMut(&str)) -> Result<bool> + Sync),
    show: &mut dyn FnMut(&str),
) -> Result<bool> {
    let (ended, came) = mpsc::channel();
    let [long, short] = [Mutex::new(long), Mutex::new(short)];
    let next = |programs: &Mutex<mpsc::Receiver<T>>| {
        programs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    };
    let (long, short) = (|| next(&long), || next(&short));
    thread::scope(|scope| {
        for place in 0..=at_once {
            let (ended, long, short) = (ended.clone(), &long, &short);
            scope.spawn(move || {
                let long = || if place < at_once { long() } else { None };
                while let Some(program) = long().or_else(short) {
                    let mut lines = Vec::new();
                    let well = run(&program, &mut |line| lines.push(line.to_owned()));
                    // Nobody hears it when another could not be run at all.
                    let _ = ended.send((well, lines));
                }
            });
        }
        drop(ended);
        let mut good = true;
        for (well, lines) in came {
            lines.iter().for_each(|line| show(line));
            good &= well?;
        }
        Ok(good)
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
        names.for_each(|name| hand_over.send(name).expect("it is kept"));
        programs
    }

    /// All but the last are long.
    fn all_come(names: Range<usize>) -> [mpsc::Receiver<usize>; 2] {
        let last = names.end.saturating_sub(1);
        [come(names.start..last), come(last..names.end)]
    }

    #[test]
    fn programs_run_beside_each_other_and_their_lines_stay_together() {
        let together = Barrier::new(AT_ONCE + 1);
        let mut shown = Vec::new();
        let says = |name: &usize, lines: &mut dyn FnMut(&str)| {
            for _ in 0..3 {
                together.wait();
                lines(&name.to_string());
            }
            Ok(*name != 1)
        };
        let good = run(all_come(0..AT_ONCE + 1), AT_ONCE, &says, &mut |line| shown.push(line.to_owned()))
            .expect("all could be run");
        assert!(!good, "the second did not end well");
        assert!(shown.chunks(3).all(|lines| lines.iter().all(|line| *line == lines[0])), "{shown:?}");
        assert_eq!(shown.len(), 3 * (AT_ONCE + 1));
    }

    #[test]
    fn one_that_cannot_be_run_is_an_error() {
        let fails = |_: &usize, _: &mut dyn FnMut(&str)| Err(anyhow!("no such program"));
        assert!(run(all_come(1..3), AT_ONCE, &fails, &mut |_| ()).is_err());
        let never = |_: &usize, _: &mut dyn FnMut(&str)| Ok(true);
        assert!(run(all_come(0..0), AT_ONCE, &never, &mut |_| ()).expect("nothing to run"));
    }
}
