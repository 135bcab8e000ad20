//! Remembers clients that ended recently, so that their late messages are not logged as an unknown protocol.

use std::{collections::VecDeque, net::SocketAddr};

use super::ingress::Ingress;

const CAPACITY: usize = 64;

#[derive(Debug, Default)]
pub(super) struct RecentlyClosed {
    tokens: VecDeque<u64>,
    peers: VecDeque<SocketAddr>,
}

impl RecentlyClosed {
    pub(super) fn add(&mut self, ingress: Option<&Ingress>) {
        match ingress {
            Some(Ingress::Requests(requests)) => keep(&mut self.tokens, requests.token),
            Some(Ingress::Datagrams(conversation)) => keep(&mut self.peers, conversation.peer),
            Some(Ingress::Streams(_)) | None => {}
        }
    }

    pub(super) fn has_token(&self, token: u64) -> bool {
        self.tokens.contains(&token)
    }

    pub(super) fn has_peer(&self, peer: SocketAddr) -> bool {
        self.peers.contains(&peer)
    }
}

fn keep<T>(all: &mut VecDeque<T>, new: T) {
    all.truncate(CAPACITY - 1);
    all.push_front(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingress::{Conversation, DatagramProtocol};

    #[test]
    fn remembers_only_the_latest() {
        let mut closed = RecentlyClosed::default();
        let peer = |port| SocketAddr::from(([198, 18, 0, 1], port));
        for port in 1..=100 {
            closed.add(Some(&Ingress::Datagrams(Conversation::new(peer(port), DatagramProtocol::Sockperf))));
        }
        assert!(closed.has_peer(peer(100)) && closed.has_peer(peer(37)));
        assert!(!closed.has_peer(peer(36)) && !closed.has_token(1));
    }
}
