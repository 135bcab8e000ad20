//! As many members as one says, each with a connection of its own, that answer the roll and do nothing else:
//! `cargo run --release --example idle_members -- nats://127.0.0.1:4222 10000`, with a `nats-server -m 8222` that lets anybody in:
//! `curl 127.0.0.1:8222/varz` tells what they cost it, `plumb fleet list` beside it what a roll call does.
#![expect(clippy::disallowed_macros, reason = "it tells when all are there")]

use std::{error::Error, time::Duration};

use async_nats::{Client, ConnectOptions};
use fleet::MemberInfo;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::{runtime::Builder, time::sleep};

/// As members have it.
const PING: Duration = Duration::from_secs(5);
/// Connections that are made at the same time.
const AT_ONCE: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, count] = arguments.as_slice() else { return Err("usage: idle_members SERVER COUNT".into()) };
    let count: usize = count.parse()?;
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let members = stream::iter((0..count).map(|number| member(server, number)));
        let members: Vec<Client> = members.buffer_unordered(AT_ONCE).try_collect().await?;
        println!("{} members are there, until Ctrl-C", members.len());
        loop {
            sleep(PING).await;
        }
    })
}

/// A member's connection and subscriptions, and its answers to whoever asks who is there.
async fn member(server: &str, number: usize) -> Result<Client, Box<dyn Error>> {
    let name = format!("rack-{number}");
    let options = ConnectOptions::new().name(format!("plumb {name}")).ping_interval(PING);
    let client = options.connect(server).await?;
    let mut orders = client.subscribe(format!("plumb.order.{name}.*")).await?;
    let mut roll = client.subscribe("plumb.roll.*").await?;
    client.flush().await?;
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
        name,
    };
    let (info, answering) = (serde_json::to_vec(&info)?, client.clone());
    tokio::spawn(async move {
        while let Some(question) = roll.next().await {
            let Some(reply) = question.reply else { continue };
            if let Err(error) = answering.publish(reply, info.clone().into()).await {
                println!("an answer was not sent: {error}");
            }
        }
    });
    tokio::spawn(async move { while orders.next().await.is_some() {} });
    Ok(client)
}
