//! A contender's process. Its unread output must fit into a pipe (64 KiB, see pipe(7)).

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use sys::netns::NetNs;

const GLANCE: Duration = Duration::from_millis(5);

const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) fn plumb() -> anyhow::Result<PathBuf> {
    let path = env::current_exe().context("find this program")?.with_file_name("plumb");
    ensure!(path.is_file(), "{} is not built: cargo build --profile dist --bin plumb", path.display());
    Ok(path)
}

pub(crate) fn most_resident(pid: u32) -> anyhow::Result<f64> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the kernel reports VmHWM")?;
    let kibibytes: f64 = line.split_whitespace().next().context("VmHWM is a number")?.parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

pub(crate) struct Running {
    process: Child,
    output: BufReader<ChildStdout>,
    label: String,
    begun: Instant,
}

#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) output: String,
    pub(crate) error: String,
}

impl Running {
    /// Starts a process that is killed when the calling thread ends.
    pub(crate) fn start(command: &mut Command, namespace: &NetNs) -> anyhow::Result<Self> {
        let label = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = sys::child::spawn_in(command, Some(namespace), &label)?;
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Ok(Self { process, output, label, begun: Instant::now() })
    }

    pub(crate) fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).with_context(|| format!("read from {}", self.label))?;
        if read == 0 {
            let complaint = self.complaint();
            bail!("{} ended: {}", self.label, complaint.trim());
        }
        Ok(line.trim_end().to_owned())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Waits until the process ends. Polls only after `lasts`, because earlier polling would affect the measurement.
    pub(crate) fn finish(mut self, lasts: Duration) -> anyhow::Result<ProgramOutput> {
        thread::sleep(lasts.saturating_sub(self.begun.elapsed()));
        while self.is_running() {
            if self.begun.elapsed() > lasts + PATIENCE {
                bail!("{} was still running after {} s", self.label, self.begun.elapsed().as_secs());
            }
            thread::sleep(GLANCE);
        }
        let status = self.process.wait()?;
        let mut output = String::new();
        self.output.read_to_string(&mut output).with_context(|| format!("read from {}", self.label))?;
        let error = self.complaint();
        ensure!(status.success(), "{} failed ({status}): {}{}", self.label, error.trim(), output.trim());
        Ok(ProgramOutput { output, error })
    }

    fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut from) = self.process.stderr.take() {
            let _ = from.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Running {
        let here = NetNs::current().unwrap();
        Running::start(Command::new("sh").args(["-c", script]), &here).unwrap()
    }

    #[test]
    fn reads_lines_first_and_the_rest_at_the_end() {
        let mut running = shell("echo one; echo two; echo three >&2");
        assert_eq!(running.line().unwrap(), "one");
        let printed = running.finish(Duration::ZERO).unwrap();
        assert_eq!((printed.output.as_str(), printed.error.as_str()), ("two\n", "three\n"));
    }

    #[test]
    fn failure_includes_error_output() {
        for (script, last_words) in [("echo no luck >&2; exit 3", "no luck"), ("echo sorry; exit 1", "sorry")]
        {
            let error = shell(script).finish(Duration::ZERO).unwrap_err().to_string();
            assert!(error.contains(last_words), "{error}");
        }
        let error = shell("echo no luck >&2; exit 3").line().unwrap_err().to_string();
        assert!(error.contains("no luck"), "{error}");
    }
}
