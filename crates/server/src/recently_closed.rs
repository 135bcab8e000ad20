//! Clients that were served of late: what they sent before they knew that they are no longer is no stranger's.

use std::{collections::VecDeque, net::SocketAddr};

use super::sessions::WayIn;

/// Clients of each kind that are remembered.
const KEPT: usize = 64;

/// The latest first.
#[derive(Debug, Default)]
pub(super) struct Past {
    tokens: VecDeque<u64>,
    peers: VecDeque<SocketAddr>,
}

impl Past {
    /// Remembers one that has ended.
    pub(super) fn note(&mut self, way_in: Option<&WayIn>) {
        match way_in {
            Some(WayIn::Requests(requests)) => keep(&mut self.tokens, requests.token()),
            Some(WayIn::Datagrams(conversation)) => keep(&mut self.peers, conversation.peer),
            Some(WayIn::Streams(_)) | None => {}
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
    use crate::sessions::{Conversation, Spoken};

    #[test]
    fn the_latest_are_known_and_older_ones_are_forgotten() {
        let mut past = Past::default();
        let peer = |port| SocketAddr::from(([198, 18, 0, 1], port));
        for port in 1..=100 {
            past.note(Some(&WayIn::Datagrams(Conversation::new(peer(port), Spoken::Sockperf))));
        }
        assert!(past.has_peer(peer(100)) && past.has_peer(peer(37)));
        assert!(!past.has_peer(peer(36)) && !past.has_token(1));
    }
}
