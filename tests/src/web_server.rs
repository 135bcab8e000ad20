//! Runs `plumb web`, and sends it raw requests that no browser would send.

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use crate::{Sandbox, signal};

pub struct WebServer {
    child: Child,
    pub origin: String,
    pub token: Option<String>,
}

impl WebServer {
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::at("127.0.0.1:0", sandbox, arguments)
    }

    pub fn at(address: &str, sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["web", "--listen", address], arguments].concat());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("plumb was built");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut token = None;
        for line in lines.map_while(Result::ok) {
            if let Some(text) = line.strip_prefix("token: ") {
                token = Some(text.to_owned());
            }
            if let Some(place) = line.strip_prefix("plumb web: ") {
                let origin = place.split("/ (").next().expect("an address").to_owned();
                return Self { child, origin, token };
            }
        }
        panic!("plumb web ended before it served: {:?}", child.wait());
    }

    pub fn answer(&self, request: &str, head: &str, body: &str) -> String {
        let host = self.origin.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("it serves");
        let length = body.len();
        let sent = format!(
            "{request} HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(sent.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            // The server resets a connection with an unread body.
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        String::from_utf8(answer).expect("text")
    }

    pub fn get(&self, page: &str) -> String {
        let host = self.origin.trim_start_matches("http://");
        self.answer(&format!("GET {page}"), &format!("Host: {host}\r\n"), "")
    }

    pub fn children(&self) -> String {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        // Threads may exit in the meantime.
        tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect()
    }

    pub fn end(mut self) {
        signal(self.child.id(), "TERM");
        let status = self.child.wait().expect("a child of this test");
        assert_eq!(status.code(), Some(0), "{status}");
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
