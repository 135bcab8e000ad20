//! Remembers peers that have no connected socket yet.

use std::net::SocketAddr;

use traffic::ping_pong::Cookies;
use units::Nanos;

use super::ingress::Conversation;

pub(super) const LONGEST: usize = 65_535;

const KNOWN: usize = 256;

const REMEMBERED: Nanos = Nanos::from_secs(10);

#[derive(Default)]
pub(super) struct KnownPeers(Vec<(Conversation, u64)>);

impl KnownPeers {
    pub(super) fn remember(&mut self, new: Conversation, now: u64) {
        self.0.retain(|(known, since)| known.peer != new.peer && now.saturating_sub(*since) < REMEMBERED.0);
        if self.0.len() >= KNOWN {
            self.0.remove(0);
        }
        self.0.push((new, now));
    }

    pub(super) fn take(&mut self, peer: SocketAddr) -> Option<Conversation> {
        let place = self.0.iter().position(|(known, _)| known.peer == peer)?;
        Some(self.0.remove(place).0)
    }

    pub(super) fn find(&self, peer: SocketAddr, now: u64) -> Option<&Conversation> {
        let (known, since) = self.0.iter().find(|(known, _)| known.peer == peer)?;
        (now.saturating_sub(*since) < REMEMBERED.0).then_some(known)
    }
}

pub(super) struct UdpDemux {
    pub(super) known: KnownPeers,
    pub(super) cookies: Cookies,
    pub(super) buffer: Vec<u8>,
}

impl Default for UdpDemux {
    fn default() -> Self {
        Self { known: KnownPeers::default(), cookies: Cookies::default(), buffer: vec![0; LONGEST] }
    }
}
