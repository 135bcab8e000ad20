//! Tests the live view: the terminal is restored however the run ends, and results are stored.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use plumb_tests::{Leftovers, PATIENCE, Sandbox, agents, name, processes, signal, trials, wait_until, wire};

use super::sandbox;

const LEAVES: &str = "\u{1b}[?1049l";

struct Shown {
    script: Child,
    keys: Option<ChildStdin>,
    terminal: Arc<Mutex<Written>>,
    reader: Option<thread::JoinHandle<()>>,
}

struct Written {
    parser: vt100::Parser,
    all: Vec<u8>,
}

fn typed(sandbox: &Sandbox, words: &[&str], (rows, columns): (u16, u16)) -> Shown {
    let plumb = sandbox.command(words);
    let words: Vec<&str> =
        std::iter::once(plumb.get_program()).chain(plumb.get_args()).filter_map(|it| it.to_str()).collect();
    let line =
        format!("stty columns {columns} rows {rows}; {}; ended=$?; stty -a; exit $ended", words.join(" "));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    script.envs(plumb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm-256color").env_remove("COLUMNS").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("script of bsdutils");
    let parser = vt100::Parser::new(rows, columns, 0);
    let terminal = Arc::new(Mutex::new(Written { parser, all: Vec::new() }));
    let (mut from, to) = (script.stdout.take().expect("a pipe"), Arc::clone(&terminal));
    let reader = thread::spawn(move || {
        let mut read = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut read) {
            let mut written = to.lock().expect("the lock is not poisoned");
            written.parser.process(&read[..count]);
            written.all.extend_from_slice(&read[..count]);
        }
    });
    Shown { keys: script.stdin.take(), script, terminal, reader: Some(reader) }
}

impl Shown {
    fn with<T>(&self, of: impl FnOnce(&mut Written) -> T) -> T {
        of(&mut self.terminal.lock().expect("the lock is not poisoned"))
    }

    fn contents(&self) -> String {
        self.with(|written| written.parser.screen().contents())
    }

    fn await_words(&self, words: &[&str]) {
        let are_there = || words.iter().all(|word| self.contents().contains(word));
        assert!(wait_until(PATIENCE, are_there), "no {words:?} in\n{}", self.contents());
    }

    fn press(&mut self, keys: &str) {
        self.keys.as_mut().expect("it is open").write_all(keys.as_bytes()).expect("script reads it");
    }

    fn resize(&self, sandbox: &Sandbox, (rows, columns): (u16, u16)) {
        let plumb = processes(sandbox).into_iter().find(|pid| name(*pid) == "plumb").expect("it runs");
        let terminal = std::fs::read_link(format!("/proc/{plumb}/fd/2")).expect("standard error");
        self.with(|written| written.parser.screen_mut().set_size(rows, columns));
        let size =
            [("rows", rows), ("columns", columns)].map(|(what, value)| [what.to_owned(), value.to_string()]);
        let done = Command::new("stty").arg("-F").arg(terminal).args(size.concat()).status();
        assert!(done.expect("coreutils").success());
    }

    fn ended(mut self) -> (Option<i32>, String) {
        let status = self.script.wait().expect("a child of this test").code();
        self.keys = None;
        self.reader.take().expect("it was started").join().expect("it reads to the end");
        let all = self.with(|written| String::from_utf8_lossy(&written.all).into_owned());
        let text = all.rsplit(LEAVES).next().unwrap_or_default().to_owned();
        let is_back = self.with(|written| {
            let screen = written.parser.screen();
            !screen.alternate_screen() && !screen.hide_cursor()
        });
        assert!(is_back, "{text}");
        for setting in [" icanon", " echo ", "isig "] {
            assert!(text.contains(setting), "no `{setting}` in\n{text}");
        }
        assert!(!text.contains("-isig "), "{text}");
        (status, text)
    }
}

fn scenario(sandbox: &Sandbox) -> String {
    sandbox.file("wire.toml", &wire(8, "400ms"))
}

pub(super) fn q_ends_a_resumable_run() {
    let sandbox = sandbox();
    let (before, file) = (Leftovers::of(&sandbox), scenario(&sandbox));
    let mut shown = typed(&sandbox, &["run", &file], (24, 80));
    shown.await_words(&["▸ wire", "eth0", "bit/s", "of 16 trials", "q stop and report"]);
    let has_results = || !shown.contents().contains(" 0 of 16 trials");
    assert!(wait_until(PATIENCE, has_results), "{}", shown.contents());
    assert!(shown.with(|written| written.parser.screen().alternate_screen()));
    shown.resize(&sandbox, (50, 160));
    let foot = |shown: &Shown| shown.contents().lines().nth(49).is_some_and(|line| line.contains("q stop"));
    assert!(wait_until(PATIENCE, || foot(&shown)), "{}", shown.contents());
    shown.press("q");
    let (status, text) = shown.ended();
    assert_eq!(status, Some(130), "{text}");
    for printed in ["the live view used", "interrupted", "plumb run --resume", "Two hosts on a wire"] {
        assert!(text.contains(printed), "no `{printed}` in\n{text}");
    }
    let kept = trials(&sandbox.record()).len();
    assert!((1..16).contains(&kept), "{kept}");
    before.are_gone_within(PATIENCE);
    let resumed = sandbox.succeed(&["run", "--resume"]);
    assert!(resumed.err.contains(&format!("{kept} of 16 trials done")), "{resumed:?}");
    assert_eq!(trials(&sandbox.record()).len(), 16);
}

pub(super) fn restores_the_terminal() {
    for (ends, wanted) in [("key", 130), ("signal", 130), ("error", 1), ("end", 0)] {
        let sandbox = sandbox();
        let file = sandbox.file("wire.toml", &wire(if ends == "end" { 1 } else { 50 }, "200ms"));
        let mut shown = typed(&sandbox, &["run", &file], (24, 80));
        if ends != "end" {
            shown.await_words(&["▸ wire", "bit/s"]);
        }
        match ends {
            "key" => shown.press("\u{3}"),
            "signal" => {
                let plumb = processes(&sandbox).into_iter().find(|pid| name(*pid) == "plumb");
                signal(plumb.expect("it runs"), "TERM");
            }
            "error" => signal(agents(&sandbox)[0], "KILL"),
            _ => {}
        }
        let (status, text) = shown.ended();
        assert_eq!(status, Some(wanted), "{ends}: {text}");
        let printed = if wanted == 0 { "Two hosts on a wire" } else { "error:" };
        assert!(text.contains(printed), "{ends}: no `{printed}` in\n{text}");
    }
}

pub(super) fn plain_lines_on_request() {
    for (words, size) in [(&["--plain"][..], (24, 80)), (&[], (20, 60))] {
        let sandbox = sandbox();
        let file = sandbox.file("wire.toml", &wire(1, "200ms"));
        let shown = typed(&sandbox, &[&["run", &file], words].concat(), size);
        let (status, text) = shown.ended();
        assert_eq!(status, Some(0), "{text}");
        assert!(!text.contains("live view"), "{text}");
    }
}

pub(super) fn client_shows_its_rate() {
    let sandbox = sandbox();
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr()).expect("loopback");
    let port = free.port().to_string();
    let mut server = sandbox.command(&["server", "--port", &port, "--bind", "127.0.0.1"]);
    server.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = sys::child::spawn_in(&mut server, None, "the server").expect("plumb was built");
    let mut printed = BufReader::new(server.stdout.take().expect("a pipe"));
    let mut first = String::new();
    printed.read_line(&mut first).expect("text");
    assert!(first.contains("serving"), "{first}");
    let words = ["client", "127.0.0.1", "-p", &port, "-t", "3", "--no-keep"];
    let shown = typed(&sandbox, &words, (60, 80));
    let terminal = Arc::clone(&shown.terminal);
    let (status, written) = shown.ended();
    assert_eq!(status, Some(0), "{written}");
    assert!(written.contains(" of 3 s") && written.contains('█'), "the live view is shown: {written:?}");
    let left = terminal.lock().expect("the lock is not poisoned").parser.screen().contents();
    assert!(left.contains("0.0-") && left.contains("Received"), "{left}");
    assert!(!left.contains('█') && !left.contains(" of 3 s"), "the live view is removed: {left}");
    let plain = sandbox.succeed(&words);
    assert!(!plain.err.contains('\u{1b}') && plain.out.contains("0.0-"), "{plain:?}");
    server.kill().expect("it runs");
    let _ = server.wait();
}
