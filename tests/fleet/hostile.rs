//! Tests hostile NATS servers: a client's memory stays bounded, and Ctrl-C stops the client.

use std::{
    fs,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use plumb_tests::{Limits, Sandbox, stays_bounded};

/// The memory limit in KiB. A client of an honest server uses 24 MiB.
const MOST_KIB: u64 = 64 << 10;
const ENOUGH: u64 = 256 << 20;
/// The maximum wait for a client that may have stopped reading.
const A_WHILE: Duration = Duration::from_secs(2);
/// A client exits within 2 s, or later on a busy machine.
const END: Duration = Duration::from_secs(20);

struct Lie {
    name: &'static str,
    greets: bool,
    once: &'static str,
    forever: &'static str,
    reads: bool,
}

const LIES: &[Lie] = &[
    Lie { name: "endless line", greets: false, once: "INFO {", forever: "x", reads: true },
    Lie {
        name: "endless list of servers",
        greets: false,
        once: "INFO {\"connect_urls\":[",
        forever: "\"a:1\",",
        reads: true,
    },
    Lie { name: "no line", greets: false, once: "", forever: "\0", reads: true },
    Lie {
        name: "many INFO before the handshake",
        greets: false,
        once: "",
        forever: "INFO {}\r\n",
        reads: true,
    },
    Lie { name: "silence", greets: false, once: "", forever: "", reads: true },
    Lie { name: "another protocol", greets: false, once: "", forever: "HTTP/1.1 200 OK\r\n", reads: true },
    Lie { name: "many INFO", greets: true, once: "", forever: "INFO {}\r\n", reads: true },
    Lie { name: "many PING", greets: true, once: "", forever: "PING\r\n", reads: true },
    Lie { name: "many PING, PONG unread", greets: true, once: "", forever: "PING\r\n", reads: false },
    Lie { name: "many PONG", greets: true, once: "", forever: "PONG\r\n", reads: false },
    Lie { name: "many errors", greets: true, once: "", forever: "-ERR 'no \x1b[2J'\r\n", reads: true },
    Lie { name: "long error", greets: true, once: "-ERR '", forever: "x", reads: true },
    Lie {
        name: "a message of 2^64-1 bytes",
        greets: true,
        once: "MSG a 1 18446744073709551615\r\n",
        forever: "x",
        reads: true,
    },
    Lie {
        name: "a message of 1 GB",
        greets: true,
        once: "MSG a 1 1000000000\r\n",
        forever: "x",
        reads: true,
    },
    Lie {
        name: "headers of 1 GB",
        greets: true,
        once: "HMSG a 1 1000000000 1000000000\r\n",
        forever: "x",
        reads: true,
    },
    Lie {
        name: "endless replies",
        greets: true,
        once: "",
        forever: "MSG plumb.answer.m.m.00 1 2\r\n{}\r\n",
        reads: true,
    },
    Lie {
        name: "many members",
        greets: true,
        once: "",
        forever: "MSG plumb.answer.ops.m.00 1 98\r\n{\"name\":\"m\",\"host\":\"h\",\"tool\":\"t\",\"messages\":1,\"since\":0,\"devices\":[],\"sessions\":0,\"instance\":\"0\"}\r\n",
        reads: true,
    },
    Lie {
        name: "many orders",
        greets: true,
        once: "",
        forever: "MSG plumb.order.m.ops 2 2\r\n{}\r\n",
        reads: true,
    },
    Lie {
        name: "many questions",
        greets: true,
        once: "",
        forever: "MSG plumb.roll.ops 3 2\r\n00\r\n",
        reads: true,
    },
    Lie {
        name: "endless questions, replies unread",
        greets: true,
        once: "",
        forever: "MSG plumb.roll.ops 3 2\r\n00\r\n",
        reads: false,
    },
    Lie {
        name: "messages for no subscription",
        greets: true,
        once: "",
        forever: "MSG a 9999 2\r\n00\r\n",
        reads: true,
    },
];

impl Lie {
    fn listen(&'static self) -> (u16, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let sent = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&sent);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                thread::spawn(move || drop(self.serve(stream, &count)));
            }
        });
        (port, sent)
    }

    fn serve(&self, mut stream: TcpStream, sent: &AtomicU64) -> io::Result<()> {
        if self.greets {
            stream.write_all(b"INFO {\"nonce\":\"AAAA\",\"headers\":true}\r\n")?;
            let (mut read, mut bytes) = (Vec::new(), [0; 4096]);
            while !read.ends_with(b"PING\r\n") {
                let count = stream.read(&mut bytes)?;
                if count == 0 {
                    return Ok(());
                }
                read.extend(&bytes[..count]);
            }
            stream.write_all(b"PONG\r\n")?;
        }
        if self.reads {
            let mut other = stream.try_clone()?;
            thread::spawn(move || io::copy(&mut other, &mut io::sink()));
        }
        stream.write_all(self.once.as_bytes())?;
        let text = self.forever.repeat((64 << 10) / self.forever.len().max(1));
        while !text.is_empty() {
            stream.write_all(text.as_bytes())?;
            sent.fetch_add(text.len() as u64, Ordering::Relaxed);
        }
        loop {
            thread::park();
        }
    }
}

fn lies_to(user: &str, command: impl Fn(&Sandbox, &str) -> Command) {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_plumb"));
    let folder = sandbox.home().join("fleet").display().to_string();
    for lie in LIES {
        let (port, sent) = lie.listen();
        let _ = fs::remove_dir_all(&folder);
        for words in [
            &["init", &format!("nats://127.0.0.1:{port}")][..],
            &["add", "ops", "--controller"],
            &["add", "m"],
        ] {
            let _ = sandbox.succeed(&[&["fleet"], words, &["--folder", &folder]].concat());
        }
        let command = command(&sandbox, &format!("{folder}/{user}.toml"));
        let limits = Limits { memory_kib: MOST_KIB, end: END };
        let is_enough = || sent.load(Ordering::Relaxed) > ENOUGH;
        let taken = stays_bounded(&sandbox, command, limits, A_WHILE, is_enough);
        taken.unwrap_or_else(|error| panic!("{}: {error}", lie.name));
    }
}

pub(crate) fn hostile_server_of_a_member() {
    lies_to("m", |sandbox, file| sandbox.command(&["member", file]));
}

pub(crate) fn hostile_server_of_a_controller() {
    lies_to("ops", |sandbox, file| {
        let mut command = sandbox.command(&["fleet", "drain", "m"]);
        command.env("PLUMB_FLEET", file);
        command
    });
}
