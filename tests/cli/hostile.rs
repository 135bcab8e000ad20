//! Tests peers that disconnect or alter their replies, and the resulting error messages.

use std::{
    cell::RefCell,
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use plumb_tests::{Output, wait_until};
use serde_json::Value;

use super::sandbox;

/// Several times the longest timeout.
const WATCHED: Duration = Duration::from_secs(120);
const COOKIE: usize = 37;
const PARAMETERS: u8 = 9;
const STREAMS: u8 = 10;
const START: u8 = 1;
const RUNNING: u8 = 2;
const END: u8 = 4;
const RESULTS: u8 = 13;
const DISPLAY: u8 = 14;

fn ended(mut command: Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    let child = RefCell::new(child);
    let over = wait_until(WATCHED, || child.borrow_mut().try_wait().is_ok_and(|status| status.is_some()));
    let mut child = child.into_inner();
    if !over {
        child.kill().expect("it runs");
    }
    let output = Output::from(child.wait_with_output().expect("a child of this test"));
    assert!(over, "plumb did not exit: {output:?}");
    output
}

fn close_the_streams(listener: &TcpListener, streams: usize) {
    let (mut control, _) = listener.accept().expect("the client");
    control.read_exact(&mut [0; COOKIE]).expect("a cookie");
    control.write_all(&[PARAMETERS]).expect("connected");
    let mut length = [0; 4];
    control.read_exact(&mut length).expect("a length");
    control.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize]).expect("as much JSON");
    control.write_all(&[STREAMS]).expect("connected");
    let accept = || {
        let (mut stream, _) = listener.accept().expect("a stream");
        stream.read_exact(&mut [0; COOKIE]).expect("a cookie");
        stream
    };
    let held: Vec<TcpStream> = (0..streams).map(|_| accept()).collect();
    control.write_all(&[START, RUNNING]).expect("connected");
    for mut stream in &held {
        let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = stream.write_all(&[7; 100_000]);
    }
    thread::sleep(Duration::from_millis(300));
    drop(held);
    while control.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
}

pub(super) fn server_closes_its_streams() {
    for (words, streams, way) in [
        (&["-R"][..], 1, "connection 0 (reverse) with 127.0.0.1:"),
        (&["-R", "-P", "2"], 2, "every connection (reverse) with 127.0.0.1:"),
        (&["-R", "-n", "1G"], 1, "connection 0 (reverse) with 127.0.0.1:"),
        (&[], 1, "connection 0 (forward) with 127.0.0.1:"),
        (&["--bidir"], 2, "with 127.0.0.1:"),
        (&["-R", "--json"], 1, "connection 0 (reverse) with 127.0.0.1:"),
    ] {
        let sandbox = sandbox();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let port = listener.local_addr().expect("bound").port().to_string();
        thread::spawn(move || close_the_streams(&listener, streams));
        let mut command = sandbox.command(&["client", "127.0.0.1", "-p", &port]);
        command.args(words);
        if !words.contains(&"-n") {
            command.args(["-t", "600"]);
        }
        let output = ended(command);
        assert_eq!(output.status, Some(1), "{words:?}: {output:?}");
        for printed in [way, "was closed by the other end after", "check its output"] {
            assert!(output.err.contains(printed), "{words:?}: no `{printed}` in {}", output.err);
        }
        if words.contains(&"--json") {
            let document: Value = serde_json::from_str(&output.out).expect("one document");
            assert!(document["error"].as_str().is_some_and(|error| error.contains(way)), "{document}");
        }
    }
}

fn alter_one(socket: &UdpSocket) {
    const ALTERED: u64 = 40;
    let mut message = [0; 2048];
    while let Ok((length, client)) = socket.recv_from(&mut message) {
        let answer = &mut message[..length];
        answer[9] &= !1;
        if answer[..8] == ALTERED.to_be_bytes() {
            answer[0] ^= 0x80;
        }
        let _ = socket.send_to(answer, client);
    }
}

pub(super) fn reports_stray_replies() {
    let sandbox = sandbox();
    let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("loopback");
    let port = socket.local_addr().expect("bound").port().to_string();
    thread::spawn(move || alter_one(&socket));
    for schedule in [&["--rate", "100"][..], &[]] {
        let words = [
            &["ping", "--no-keep", "--sockperf", "127.0.0.1", "-p", &port, "-t", "1", "--warmup", "0"],
            schedule,
        ]
        .concat();
        let printed = ended(sandbox.command(&words));
        assert_eq!(printed.status, Some(0), "{words:?}: {printed:?}");
        for word in ["Stray replies", "1 of ", "a sequence number that was never sent"] {
            assert!(printed.out.contains(word), "{words:?}: no `{word}` in {}", printed.out);
        }
        let document = ended(sandbox.command(&[&words[..], &["--json"]].concat()));
        let document: Value = serde_json::from_str(&document.out).expect("one document");
        let outcome = &document["outcome"];
        assert_eq!((&outcome["strays"], &outcome["lost"]), (&1.into(), &1.into()), "{outcome}");
        let trips = outcome["round_trips"]["count"].as_u64().expect("a count");
        assert!(schedule.is_empty() || trips == 99, "{words:?}: {outcome}");
        let warnings = document["warnings"].as_array().expect("warnings");
        assert!(warnings.iter().any(|warning| warning["kind"] == "strays"), "{warnings:?}");
    }
}

/// A carriage return, and escape sequences that clear the screen, set the title, or conceal or reverse text. Some are
/// eight-bit forms.
const OBEYED: [&str; 8] = [
    "\u{1b}[2J",
    "\u{1b}]0;title\u{7}",
    "\u{9b}2J",
    "\u{9d}0;title\u{9c}",
    "\u{1b}[8m",
    "\u{7f}\r",
    "\u{202e}",
    "\u{2066}\u{200f}",
];

fn is_harmless(what: &str, output: &Output, sequence: &str) {
    obeys_nothing(what, output, sequence);
    let text = format!("{}{}", output.out, output.err);
    let first = sequence.chars().next().expect("there is one");
    let shown = format!("\\u{:04x}", u32::from(first));
    assert!(text.contains(&shown), "{what} with {sequence:?}: no {shown} in {text:?}");
}

fn obeys_nothing(what: &str, output: &Output, sequence: &str) {
    let turns = |sign: char| matches!(sign, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_obeyed = |sign: char| (sign.is_control() && sign != '\n' && sign != '\t') || turns(sign);
    let text = format!("{}{}", output.out, output.err);
    assert_eq!(text.chars().find(|sign| is_obeyed(*sign)), None, "{what} with {sequence:?}: {text:?}");
}

fn in_toml(text: &str) -> String {
    text.chars().map(|sign| format!("\\u{:04X}", u32::from(sign))).collect()
}

pub(super) fn files_are_harmless() {
    for sequence in OBEYED {
        let sandbox = sandbox();
        let written = in_toml(sequence);
        let wire = plumb_tests::wire(2, "1s");
        let titled = sandbox.file("titled.toml", &wire.replace("Two hosts", &format!("Two{written} hosts")));
        is_harmless("a title", &sandbox.succeed(&["scenario", "check", &titled]), sequence);
        is_harmless("a title", &sandbox.succeed(&["run", &titled, "--dry-run"]), sequence);
        let named =
            sandbox.file("named.toml", &wire.replace("from = \"left\"", &format!("from = \"l{written}\"")));
        for format in ["text", "short", "json"] {
            let printed = sandbox.plumb(&["scenario", "check", "--format", format, &named]);
            assert_eq!(printed.status, Some(64), "{printed:?}");
            is_harmless("a host that is not there", &printed, sequence);
        }
        let table = "| Queue | Rate (Gbit/s) |\n| --- | --- |\n| 1 | 5.1 |\n| 2 | 7.3 |\n";
        let file = sandbox.file(&format!("t{sequence}.md"), table);
        is_harmless("a file", &sandbox.succeed(&["import", "--sources", &file]), sequence);
        for words in [&["runs"][..], &["runs", "--json"], &["report", "-f", "raw"]] {
            is_harmless("an imported file", &sandbox.succeed(words), sequence);
        }
        is_harmless(
            "a file that is not there",
            &sandbox.plumb(&["import", &format!("no{sequence}.md")]),
            sequence,
        );
        is_harmless("a name", &sandbox.plumb(&["report", &format!("no{sequence}")]), sequence);
        // clap omits some of these characters.
        obeys_nothing("a flag", &sandbox.plumb(&["report", &format!("--no{sequence}")]), sequence);
        is_harmless("a lab", &sandbox.plumb(&["lab", "down", &format!("no{sequence}")]), sequence);
    }
}

const MARKUP: &str = "</script><script>alert(1)</script>]]><img src=x onerror=alert(1)>";
const FORMATS: [&str; 8] = ["terminal", "markdown", "html", "latex", "json", "csv", "csv-trials", "raw"];

pub(super) fn every_format_is_harmless() {
    let long = "W".repeat(10_000);
    for sequence in OBEYED.into_iter().chain([MARKUP, &long]) {
        let sandbox = sandbox();
        let rows = ["a", "b", "c"].map(|name| format!("| {name}{sequence} | {}.5 |\n", name.len() + 4));
        // The table format cannot express a line break inside a name.
        let table =
            format!("# Of {sequence}\n\n| Setting | Rate (Gbit/s) |\n| --- | --- |\n{}", rows.concat());
        let file = sandbox.file("table.md", &table.replace('\r', ""));
        let _ = sandbox.succeed(&["import", &file, "--title", &format!("Of {sequence}")]);
        for format in FORMATS {
            let mut printed = sandbox.succeed(&["report", "--format", format]);
            printed.out = printed.out.replace("\r\n", "\n");
            obeys_nothing(format, &printed, sequence);
            if format == "html" {
                // One script is the page's own, and the other is the embedded record, which does not run.
                assert_eq!(printed.out.matches("<script").count(), 2, "{sequence:?}");
                assert_eq!(printed.out.matches("<img").count(), 0, "{sequence:?}");
            }
        }
        let folder = sandbox.home().join("pictures");
        let _ = sandbox.succeed(&["plot", "-o", &format!("{}/", folder.display())]);
        let mut pictures = 0;
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let text = std::fs::read_to_string(entry.expect("a file").path()).expect("a picture");
            assert!(!text.contains("<script") && !text.contains("<img"), "{sequence:?}: {text:.2000}");
            obeys_nothing("a picture", &Output { status: Some(0), out: text, err: String::new() }, sequence);
            pictures += 1;
        }
        assert!(pictures > 0, "{sequence:?}");
    }
}

fn say(listener: &TcpListener, printed: &str) {
    let (mut control, _) = listener.accept().expect("the client");
    control.read_exact(&mut [0; COOKIE]).expect("a cookie");
    let document = |control: &mut TcpStream| {
        let mut length = [0; 4];
        control.read_exact(&mut length).expect("a length");
        control.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize]).expect("as much JSON");
    };
    control.write_all(&[PARAMETERS]).expect("connected");
    document(&mut control);
    control.write_all(&[STREAMS]).expect("connected");
    let (mut stream, _) = listener.accept().expect("a stream");
    let taken = thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
    control.write_all(&[START, RUNNING]).expect("connected");
    let mut state = [0];
    control.read_exact(&mut state).expect("it ends");
    assert_eq!(state[0], END, "the client ends the test");
    control.write_all(&[RESULTS]).expect("connected");
    document(&mut control);
    let stream = serde_json::json!({
        "id": 1, "bytes": 1_000_000, "retransmits": -1, "jitter": 0, "errors": 0, "packets": 0, "start_time": 0, "end_time": 1,
    });
    let results = serde_json::json!({
        "cpu_util_total": 1, "cpu_util_user": 1, "cpu_util_system": 0, "sender_has_retransmits": -1,
        "streams": [stream], "server_output_text": printed,
    });
    let results = results.to_string();
    control.write_all(&(results.len() as u32).to_be_bytes()).expect("connected");
    control.write_all(results.as_bytes()).expect("connected");
    control.write_all(&[DISPLAY]).expect("connected");
    while control.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
    let _ = taken.join();
}

pub(super) fn servers_are_harmless() {
    for sequence in OBEYED {
        let sandbox = sandbox();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let port = listener.local_addr().expect("bound").port().to_string();
        let printed = format!("all is well{sequence}\n");
        thread::spawn(move || say(&listener, &printed));
        let words = ["client", "127.0.0.1", "-p", &port, "-t", "1", "--no-keep", "--get-server-output"];
        let output = ended(sandbox.command(&words));
        assert_eq!(output.status, Some(0), "{output:?}");
        assert!(output.out.contains("all is well"), "{output:?}");
        is_harmless("a server's output", &output, sequence);
    }
}
