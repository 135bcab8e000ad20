//! The peers: `ip` commands, `ip -batch` and Mininet, each in its best honest form.

use super::{CHECK, milliseconds, verify};
use crate::{private::Private, rounds::Contender};

/// A peer and what plumb should take in its stead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    name: &'static str,
    script: &'static str,
    program: &'static str,
    /// The largest ratio of our time to the peer's that is good enough.
    pub(super) target: f64,
}

/// Every peer, in the order of the table.
pub(super) const ALL: &[Peer] = &[
    Peer { name: "ip", script: include_str!("ip.sh"), program: "", target: 0.09 },
    Peer { name: "ip -batch", script: include_str!("ip-batch.sh"), program: "", target: 1.0 / 3.0 },
    Peer {
        name: "Mininet",
        script: include_str!("mininet.sh"),
        program: include_str!("mininet.py"),
        target: 1.0 / 15.0,
    },
];

impl Contender for Peer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Vec<f64>> {
        let mut peer = Private::start(self.name, self.script, &[CHECK, self.program])?;
        let time = peer.work()?;
        verify(&peer.checked()?)?;
        Ok(vec![milliseconds(time)])
    }
}
