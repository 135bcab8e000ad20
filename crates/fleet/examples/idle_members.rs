//! Connects many members to a `nats-server -m 8222`: `cargo run --release --example idle_members --
//! nats://127.0.0.1:4222 10000`. `curl 127.0.0.1:8222/varz` shows the server's load, and `plumb fleet list`
//! shows how long it takes to list the members.
#![expect(clippy::disallowed_macros, reason = "it prints a line when all members are connected")]

use std::{error::Error, io, time::Duration};

use fleet::MemberInfo;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    runtime::Builder,
    time::sleep,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, count] = arguments.as_slice() else { return Err("usage: idle_members SERVER COUNT".into()) };
    let (place, count) = (server.trim_start_matches("nats://"), count.parse::<usize>()?);
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        for number in 0..count {
            let stream = TcpStream::connect(place).await?;
            tokio::spawn(async move {
                if let Err(error) = member(stream, number).await {
                    println!("member {number}: {error}");
                }
            });
        }
        println!("{count} members are connected; press Ctrl-C to stop");
        loop {
            sleep(Duration::from_secs(60)).await;
        }
    })
}

async fn member(stream: TcpStream, number: usize) -> io::Result<()> {
    let name = format!("rack-{number}");
    let info = MemberInfo {
        host: format!("{name}.dc1.example"),
        tool: "0.1.0".to_owned(),
        messages: 1,
        since: 1_764_115_200_000,
        devices: ["eth0", "eth1", "docker0"].map(str::to_owned).to_vec(),
        sessions: 0,
        address: None,
        drained: false,
        instance: format!("{number:016x}"),
        name: name.clone(),
    };
    let info = serde_json::to_string(&info)?;
    let mut stream = BufReader::new(stream);
    let hello =
        format!("CONNECT {{\"verbose\":false}}\r\nSUB plumb.order.{name}.* 1\r\nSUB plumb.roll.* 2\r\n");
    stream.write_all(hello.as_bytes()).await?;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::Error::other("the server closed its connection"));
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["PING"] => stream.write_all(b"PONG\r\n").await?,
            ["MSG", subject, .., length] => {
                let mut id = vec![0; length.parse::<usize>().map_err(io::Error::other)? + 2];
                stream.read_exact(&mut id).await?;
                let id = String::from_utf8_lossy(&id[..id.len() - 2]).into_owned();
                let user = subject.rsplit('.').next().unwrap_or_default();
                let answer = format!("PUB plumb.answer.{user}.{name}.{id} {}\r\n{info}\r\n", info.len());
                stream.write_all(answer.as_bytes()).await?;
            }
            _ => {}
        }
    }
}
