//! Reads iperf3's text output, and finds the start and end of each test.

use std::mem;

use super::{
    bracket::{BracketLine, bracketed},
    command::CommandSettings,
    messages::{Message, message},
    test::{Belongs, Outcome, Test},
};
use crate::{
    format::{Claim, Format, Line, Out},
    imported_test::End,
    loops::Loops,
    places, unread,
};

/// Maximum number of tests to remember. Limits the memory for a log of many interrupted clients.
const MOST_ABANDONED: usize = 256;
const OLDER: &str = "output of iperf 2, which is not supported";
const ROWS: &str = "damaged iperf3 rows";

#[derive(Debug, Default)]
pub(crate) struct Text {
    test: Option<Test>,
    version: Option<String>,
    time: Option<String>,
    asked: CommandSettings,
    loops: Loops,
    /// Whether the command starts several tests, not only the next one.
    looped: bool,
    port: Option<String>,
    ruled: bool,
    /// Whether the next line describes the machine (`-V`).
    after_version: bool,
    older: bool,
    /// The first line and the outcomes of consecutive client logs without summaries. If the last one is also
    /// incomplete, the clients may have run simultaneously and interleaved their rows.
    abandoned: (u64, Vec<Outcome>),
    is_interleaved: bool,
    has_text: bool,
}

impl Format for Text {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let after_version = mem::take(&mut self.after_version);
        if let Some(bracketed) = bracketed(line.text) {
            return self.bracketed(bracketed, line, out);
        }
        let message = message(line.text);
        if matches!(message, None | Some(Message::Command(_))) {
            self.loops.line(line.text);
        }
        match message {
            Some(message) => {
                self.message(message, line.number, out);
                Claim::Claimed
            }
            None if after_version && !line.text.trim().is_empty() => Claim::Claimed,
            None => {
                self.has_text |= !line.text.trim().is_empty();
                Claim::Declined
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.finish(out);
        (self.version, self.port) = (None, None);
        (self.older, self.ruled, self.is_interleaved) = (false, false, false);
    }
}

impl Text {
    fn bracketed(&mut self, bracketed: BracketLine, line: &Line<'_>, out: &mut Out) -> Claim {
        let number = line.number;
        match bracketed {
            BracketLine::OlderTool => self.older_tool(number, out),
            BracketLine::OlderRow => {
                self.leave_to_older_tool(out);
                out.unread(OLDER, number);
            }
            // The lines above ethr's headings look like iperf3's.
            BracketLine::Ethr => {
                self.test = self.test.take().filter(Test::has_rows);
                self.finish(out);
                out.unread(unread::ETHR, number);
            }
            _ if self.older => out.unread(OLDER, number),
            BracketLine::Row(_) | BracketLine::Mangled if self.is_cut(&bracketed, line) => {
                self.test(number).damaged(number);
            }
            BracketLine::Row(row) => {
                self.has_text = false;
                self.in_test(number, out, |test| test.row(&row, number));
            }
            BracketLine::Header { segments, sent, received } => {
                self.in_test(number, out, |test| test.heads(segments, sent, received));
            }
            BracketLine::Connection { id, local, remote } => {
                if self.test.as_ref().is_some_and(Test::has_rows) {
                    self.finish(out);
                }
                self.test(number).connection(id, local, remote);
            }
            BracketLine::OutOfOrder { id, count } => {
                self.reached(number).iter_mut().for_each(|test| test.out_of_order(id, count));
            }
            BracketLine::Sent { id, datagrams } => {
                self.reached(number).iter_mut().for_each(|test| test.plain_summary(id, datagrams));
            }
            BracketLine::Mangled => out.unread(ROWS, number),
        }
        Claim::Claimed
    }

    fn in_test(&mut self, line: u64, out: &mut Out, add: impl Fn(&mut Test) -> Belongs) {
        if add(self.test(line)) == Belongs::Next {
            self.finish(out);
            add(self.test(line));
        }
    }

    fn reached(&mut self, line: u64) -> Option<&mut Test> {
        let test = self.test.as_mut()?;
        test.reaches(line);
        Some(test)
    }

    /// Whether the row is damaged, or its last number may be cut off by the end of the file.
    fn is_cut(&self, bracketed: &BracketLine, line: &Line<'_>) -> bool {
        match bracketed {
            BracketLine::Row(row) => !line.whole && row.side.is_none(),
            // Outside a test, another tool printed this line.
            _ => self.test.is_some(),
        }
    }

    fn message(&mut self, message: Message, line: u64, out: &mut Out) {
        match message {
            Message::Connecting { host, port } => {
                self.port = Some(port);
                self.begin(End::Client, host, line, out);
            }
            Message::Accepted { host } => self.begin(End::Server, host, line, out),
            Message::Listening(port) => {
                self.finish(out);
                self.port = Some(port);
                self.older = false;
            }
            Message::Done => {
                self.reached(line);
                self.finish(out);
            }
            Message::Failed(error) => self.failed(error, line, out),
            Message::Version(version) => {
                self.version = Some(version);
                self.after_version = true;
            }
            Message::Time(time) => self.time = Some(time),
            Message::Command(asked) => {
                self.finish(out);
                (self.asked, self.port, self.ruled) = (asked, None, false);
                self.looped = self.loops.variable().is_some();
                self.is_interleaved = false;
            }
            Message::OlderTool => self.older_tool(line, out),
            Message::Ruler => match &mut self.test {
                Some(test) => test.ruled = true,
                None => self.ruled = true,
            },
            Message::Else => {}
            message => self.apply(message),
        }
    }

    fn apply(&mut self, message: Message) {
        let Some(test) = &mut self.test else { return };
        match message {
            Message::Reverse => test.reverse = true,
            Message::Cpu(cpu) => test.cpu = Some(cpu),
            Message::Rate(rate) => test.asked.rate = Some(units::BitRate(rate)),
            Message::Congestion(name) => test.congestion = Some(name),
            Message::SegmentSize(size) => test.segment_size = Some(size),
            Message::Starting { protocol, message, options } => {
                test.asked.transport = Some(protocol);
                test.asked.message = message.map(units::Bytes).or(test.asked.message);
                test.asked.options.extend(options);
            }
            _ => {}
        }
    }

    fn begin(&mut self, end: End, peer: String, line: u64, out: &mut Out) {
        let follows = end == End::Client && !self.has_text;
        let has_room = self.abandoned.1.len() < MOST_ABANDONED;
        match self.test.take_if(|test| follows && has_room && test.is_abandoned()) {
            Some(test) => {
                if self.abandoned.1.is_empty() {
                    self.abandoned.0 = *test.lines().start();
                }
                self.abandoned.1.push(test.finish());
            }
            None => self.finish(out),
        }
        (self.older, self.is_interleaved) = (false, false);
        let test = self.test(line);
        test.end = Some(end);
        test.peer = Some(peer);
    }

    fn failed(&mut self, error: String, line: u64, out: &mut Out) {
        match self.reached(line) {
            Some(test) => {
                test.failure = Some(error);
                self.finish(out);
            }
            // An interrupt of a waiting server is not a failure.
            None if error.contains("server has terminated") => {}
            None => out.note(format!("line {line}: iperf3 reported \"{error}\"")),
        }
    }

    fn older_tool(&mut self, line: u64, out: &mut Out) {
        self.leave_to_older_tool(out);
        out.unread(OLDER, line);
        self.older = true;
    }

    fn leave_to_older_tool(&mut self, out: &mut Out) {
        if self.test.as_ref().is_some_and(|test| !test.has_anything()) {
            self.test = None;
        }
        self.finish(out);
    }

    fn test(&mut self, line: u64) -> &mut Test {
        let (version, time, asked) = (&self.version, &mut self.time, &mut self.asked);
        let (port, ruled, looped) = (&mut self.port, &mut self.ruled, self.looped);
        self.test.get_or_insert_with(|| {
            let mut test = Test::new(line);
            test.version.clone_from(version);
            test.time = time.take();
            test.asked = if looped || asked.server { asked.clone() } else { mem::take(asked) };
            test.port.clone_from(port);
            test.ruled = mem::take(ruled);
            test
        })
    }

    fn finish(&mut self, out: &mut Out) {
        let (before, mut outcomes) = mem::take(&mut self.abandoned);
        if let Some(test) = self.test.take() {
            let (lines, has_begun, is_alone) = (test.lines(), test.end.is_some(), outcomes.is_empty());
            let first = if is_alone { *lines.start() } else { before };
            outcomes.push(test.finish());
            let is_complete = outcomes.last().is_some_and(|outcome| outcome.is_complete);
            self.is_interleaved = if is_alone { self.is_interleaved && !has_begun } else { !is_complete };
            if self.is_interleaved {
                let place = places::lines(&(first..=*lines.end()));
                return out.note(format!(
                    "{place}: skipped interleaved rows of several iperf3 clients; log each client to its own file"
                ));
            }
        }
        for Outcome { found, notes, .. } in outcomes {
            notes.into_iter().for_each(|note| out.note(note));
            found.into_iter().for_each(|found| out.found(found));
        }
    }
}
