//! Simulates the `firecracker` program. It validates every request, but runs no guest.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    process::ExitCode,
};

use protocol::guest::{FIRST_WORDS, VSOCK, VSOCK_PORT};
use serde_json::{Value, json};

use crate::validator::{Machine, Request};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Obeys,
    Refuses,
    Ends,
    Panics,
}

impl Behaviour {
    pub(crate) const ALL: [Self; 4] = [Self::Obeys, Self::Refuses, Self::Ends, Self::Panics];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Obeys => "firecracker",
            Self::Refuses => "firecracker-refuses",
            Self::Ends => "firecracker-ends",
            Self::Panics => "firecracker-panics",
        }
    }
}

pub(crate) const REFUSAL: &str = "Open tap device failed: Resource busy (os error 16)";
pub(crate) const LAST_WORDS: &str = "Kernel panic - not syncing: No working init found.";

pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let name = Path::new(&arguments[0]).file_name().unwrap_or_default().to_string_lossy();
    let behaviour = Behaviour::ALL.into_iter().find(|behaviour| behaviour.name() == name);
    let socket = arguments.iter().skip_while(|argument| *argument != "--api-sock").nth(1);
    match (behaviour, socket) {
        (Some(Behaviour::Ends), _) => {
            eprintln!("RunWithApiError error: Failed to bind the API socket");
            ExitCode::from(1)
        }
        (Some(behaviour), Some(socket)) => {
            serve(behaviour, Path::new(socket));
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(153),
    }
}

fn serve(behaviour: Behaviour, socket: &Path) {
    let listener = UnixListener::bind(socket).expect("the folder can be written");
    let (stream, _) = listener.accept().expect("it listens");
    let (mut machine, mut put) = (Machine::default(), Vec::new());
    let mut from = BufReader::new(stream.try_clone().expect("a descriptor"));
    while let Some(request) = read(&mut from) {
        let taken = machine.take(&request).and_then(|body| {
            opened(behaviour, &request.path, &body)?;
            put.push((request.path.clone(), body));
            Ok(())
        });
        answer(&stream, taken);
        if machine.runs {
            return boot(behaviour, &put);
        }
    }
}

fn read(from: &mut BufReader<UnixStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if from.read_line(&mut head).expect("a socket") == 0 {
            return None;
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut parsed = httparse::Request::new(&mut headers);
    assert!(parsed.parse(head.as_bytes()).expect("HTTP").is_complete());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers: Vec<(String, String)> =
        parsed.headers.iter().map(|header| (header.name.to_lowercase(), text(header.value))).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().expect("a number"))];
    from.read_exact(&mut body).expect("as long as it says");
    let (method, path) =
        (parsed.method.expect("complete").to_owned(), parsed.path.expect("complete").to_owned());
    Some(Request { method, path, headers, body })
}

fn answer(mut to: &UnixStream, taken: Result<(), String>) {
    let head = "Server: Firecracker API\r\nConnection: keep-alive\r\n";
    let text = match taken {
        Ok(()) => format!("HTTP/1.1 204 \r\n{head}\r\n"),
        Err(fault) => {
            let body = json!({ "fault_message": fault }).to_string();
            let length = body.len();
            format!(
                "HTTP/1.1 400 \r\n{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            )
        }
    };
    to.write_all(text.as_bytes()).expect("it is read");
}

fn opened(behaviour: Behaviour, path: &str, body: &Value) -> Result<(), String> {
    let begin = |name: &str| {
        let file = body[name].as_str().expect("it is valid");
        let bytes = fs::read(file).map_err(|error| format!("The kernel file cannot be opened: {error}"))?;
        Ok::<_, String>(bytes.into_iter().take(6).collect::<Vec<u8>>())
    };
    match path {
        "/boot-source" => {
            let (kernel, image) = (begin("kernel_image_path")?, begin("initrd_path")?);
            let right = kernel.starts_with(b"\x7fELF") && image == b"070701";
            right
                .then_some(())
                .ok_or_else(|| format!("{kernel:?} is not an ELF file, or {image:?} is not an archive"))
        }
        _ if path.starts_with("/network-interfaces/") => {
            let devices = fs::read_to_string("/proc/self/net/dev").expect("Linux");
            let name = format!("{}:", body["host_dev_name"].as_str().expect("it is valid"));
            match behaviour {
                Behaviour::Refuses => Err(REFUSAL.to_owned()),
                _ if !devices.contains(&name) => {
                    Err(format!("Open tap device failed: no {name} among {devices}"))
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn boot(behaviour: Behaviour, put: &[(String, Value)]) {
    let at = |path: &str| &put.iter().find(|(known, _)| known == path).expect("it was put").1;
    let arguments = at("/boot-source")["boot_args"].as_str().expect("it is valid");
    assert!(arguments.split(' ').any(|word| word == format!("{VSOCK}={VSOCK_PORT}")), "{arguments}");
    if behaviour == Behaviour::Panics {
        println!("{LAST_WORDS}");
        return;
    }
    println!("{FIRST_WORDS}");
    let folder = at("/vsock")["uds_path"].as_str().expect("it is valid");
    let mut channel = UnixStream::connect(format!("{folder}_{VSOCK_PORT}")).expect("the host listens");
    let mut reader = channel.try_clone().expect("a descriptor");
    io::copy(&mut reader, &mut channel).expect("it is read");
}
