//! A netlink socket that sends batches of requests.
//!
//! Only the last message of a batch requests an acknowledgement, because the kernel reports errors anyway (RFC 3549,
//! section 2.3.2.2; net/netlink/af_netlink.c).

use std::{future::Future, sync::Arc, time::Duration};

use nlink::netlink::{
    MessageBuilder, MessageIter, NetlinkSocket, NlMsgHdr, Protocol,
    message::{NLM_F_ACK, NLM_F_DUMP, NlMsgError},
};
use tokio::runtime::Runtime;

use crate::refusal::{Refusal, errno};

/// The kernel replies immediately. This timeout only prevents a lost reply from hanging a run.
const PATIENCE: Duration = Duration::from_secs(10);

/// The size of a batch, well below the socket's send buffer (212,992 bytes by default), so that all errors fit the
/// receive buffer.
const BATCH_BYTES: usize = 32 * 1024;

const FLAGS_OFFSET: usize = 6;

pub(crate) struct Channel {
    runtime: Arc<Runtime>,
    socket: NetlinkSocket,
}

impl Channel {
    pub(crate) fn open_here(runtime: &Arc<Runtime>) -> Result<Self, Refusal> {
        let _inside = runtime.enter();
        Ok(Self { runtime: Arc::clone(runtime), socket: NetlinkSocket::new(Protocol::Route)? })
    }

    pub(crate) fn transact(
        &self,
        messages: impl IntoIterator<Item = MessageBuilder>,
    ) -> Result<Vec<Option<Refusal>>, Refusal> {
        let mut verdicts = Vec::new();
        let mut batch = Batch::default();
        for message in messages {
            batch.push(message, self.socket.next_seq());
            if batch.bytes.len() >= BATCH_BYTES {
                verdicts.extend(self.carry_out(std::mem::take(&mut batch))?);
            }
        }
        verdicts.extend(self.carry_out(batch)?);
        Ok(verdicts)
    }

    pub(crate) fn dump(&self, request: MessageBuilder) -> Result<Vec<Vec<u8>>, Refusal> {
        self.reply(request, NLM_F_DUMP)
    }

    pub(crate) fn request_one(&self, request: MessageBuilder) -> Result<Option<Vec<u8>>, Refusal> {
        // Like the last message of a dump, the acknowledgement marks the end of the reply.
        Ok(self.reply(request, NLM_F_ACK)?.into_iter().next())
    }

    pub(crate) fn pause(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    fn reply(&self, mut request: MessageBuilder, ended_by: u16) -> Result<Vec<Vec<u8>>, Refusal> {
        let seq = self.socket.next_seq();
        request.set_seq(seq);
        let mut bytes = request.finish();
        add_flags(&mut bytes, 0, ended_by);
        self.wait(async {
            self.socket.send(&bytes).await?;
            let mut payloads = Vec::new();
            while !collect(&self.socket.recv_unicast().await?, seq, &mut payloads)? {}
            Ok(payloads)
        })
    }

    fn carry_out(&self, mut batch: Batch) -> Result<Vec<Option<Refusal>>, Refusal> {
        let Some(last) = batch.starts.last() else { return Ok(Vec::new()) };
        add_flags(&mut batch.bytes, *last, NLM_F_ACK);
        let mut verdicts: Vec<Option<Refusal>> = vec![None; batch.starts.len()];
        self.wait(async {
            self.socket.send(&batch.bytes).await?;
            while !collect_results(&self.socket.recv_unicast().await?, batch.first_seq, &mut verdicts)? {}
            Ok(())
        })?;
        Ok(verdicts)
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        self.runtime.block_on(async {
            tokio::time::timeout(PATIENCE, work)
                .await
                .map_err(|_| Refusal::new(errno::EIO, Some("no reply from the kernel within 10 s".into())))?
        })
    }
}

#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    first_seq: u32,
}

impl Batch {
    fn push(&mut self, mut message: MessageBuilder, seq: u32) {
        if self.starts.is_empty() {
            self.first_seq = seq;
        }
        message.set_seq(seq);
        self.starts.push(self.bytes.len());
        self.bytes.extend(message.finish());
    }
}

fn add_flags(bytes: &mut [u8], message_start: usize, more: u16) {
    let at = message_start + FLAGS_OFFSET;
    let flags = u16::from_ne_bytes([bytes[at], bytes[at + 1]]) | more;
    bytes[at..at + 2].copy_from_slice(&flags.to_ne_bytes());
}

fn collect_results(
    datagram: &[u8],
    first_seq: u32,
    verdicts: &mut [Option<Refusal>],
) -> Result<bool, Refusal> {
    let mut complete = false;
    for message in MessageIter::new(datagram) {
        let (header, payload) = message?;
        let index = header.nlmsg_seq.wrapping_sub(first_seq) as usize;
        if !header.is_error() || index >= verdicts.len() {
            continue;
        }
        verdicts[index] = refusal_of(header, payload)?;
        complete |= index + 1 == verdicts.len();
    }
    Ok(complete)
}

fn refusal_of(header: &NlMsgHdr, payload: &[u8]) -> Result<Option<Refusal>, Refusal> {
    let error = NlMsgError::from_bytes(payload)?;
    if error.is_ack() {
        return Ok(None);
    }
    Ok(Some(error.to_error(header.nlmsg_flags, payload).into()))
}

fn collect(datagram: &[u8], seq: u32, payloads: &mut Vec<Vec<u8>>) -> Result<bool, Refusal> {
    for message in MessageIter::new(datagram) {
        let (header, payload) = message?;
        if header.nlmsg_seq != seq {
            continue;
        }
        if header.is_done() {
            return Ok(true);
        }
        if header.is_error() {
            return match refusal_of(header, payload)? {
                Some(refusal) => Err(refusal),
                None => Ok(true),
            };
        }
        payloads.push(payload.to_vec());
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use crate::{message::link_up, namespaces::Namespaces, scratch};

    #[test]
    fn assigns_errors_to_messages_and_continues() {
        if !scratch::can_create_namespaces("assigns_errors_to_messages_and_continues") {
            return;
        }
        let lab = scratch::host();
        let namespaces = Namespaces::create(&lab).unwrap();
        let channel = namespaces.channel(&lab.hosts[0].name);
        for pattern in [[true, false, true], [false, true, false], [false, false, true]] {
            let messages = pattern.map(|good| link_up(if good { 1 } else { 77 }));
            let verdicts = channel.transact(messages).unwrap();
            let good: Vec<_> = verdicts.iter().map(Option::is_none).collect();
            assert_eq!(good, pattern);
        }
    }

    #[test]
    fn returns_result_of_each_message_in_large_batch() {
        if !scratch::can_create_namespaces("returns_result_of_each_message_in_large_batch") {
            return;
        }
        let lab = scratch::host();
        let namespaces = Namespaces::create(&lab).unwrap();
        let messages = (0..5_000).map(|n| link_up(if n % 50 == 0 { 77 } else { 1 }));
        let verdicts = namespaces.channel(&lab.hosts[0].name).transact(messages).unwrap();
        assert_eq!(verdicts.len(), 5_000);
        assert!(verdicts.iter().enumerate().all(|(n, verdict)| verdict.is_some() == (n % 50 == 0)));
    }
}
