//! Clients that were served of late: what they sent before they knew that they no longer are is not of an unknown protocol.

use std::{collections::VecDeque, net::SocketAddr};

use super::sessions::Ingress;

/// Clients of each kind that are remembered.
const KEPT: usize = 64;

/// The latest first.
#[derive(Debug, Default)]
pub(super) struct RecentlyClosed {
    tokens: VecDeque<u64>,
    peers: VecDeque<SocketAddr>,
}

impl RecentlyClosed {
    /// Remembers one that has ended.
    pub(super) fn add(&mut self, ingress: Option<&Ingress>) {
        match ingress {
            Some(Ingress::Requests(requests)) => keep(&mut self.tokens, requests.token()),
            Some(Ingress::Datagrams(conversation)) => keep(&mut self.peers, conversation.peer),
            Some(Ingress::Streams(_)) | None => {}
        }
    }

    /// Whether one that made connections had this token.
    pub(super) fn has_token(&self, token: u64) -> bool {
        self.tokens.contains(&token)
    }

    /// Whether one sent datagrams from there.
    pub(super) fn has_peer(&self, peer: SocketAddr) -> bool {
        self.peers.contains(&peer)
    }
}

fn keep<T>(all: &mut VecDeque<T>, new: T) {
    all.truncate(KEPT - 1);
    all.push_front(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{Conversation, DatagramProtocol};

    #[test]
    fn the_latest_are_known_and_older_ones_are_forgotten() {
        let mut closed = RecentlyClosed::default();
        let peer = |port| SocketAddr::from(([198, 18, 0, 1], port));
        for port in 1..=100 {
            closed.add(Some(&Ingress::Datagrams(Conversation::new(peer(port), DatagramProtocol::Sockperf))));
        }
        assert!(closed.has_peer(peer(100)) && closed.has_peer(peer(37)));
        assert!(!closed.has_peer(peer(36)) && !closed.has_token(1));
    }
}
