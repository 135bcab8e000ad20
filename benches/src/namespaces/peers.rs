//! The peers: `ip` commands, `ip -batch` and Mininet, each used efficiently.

use super::{CHECK, milliseconds, verify};
use crate::{
    private::Private,
    rounds::{Contender, Measured},
    target::Target,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    script: &'static str,
    program: &'static str,
    /// Slow peers run only in every second round, because their ratios are far from the targets.
    is_slow: bool,
    pub(super) targets: &'static [Target],
}

pub(super) const ALL: [Peer; 3] = [
    Peer {
        name: "ip",
        script: include_str!("ip.sh"),
        program: "",
        is_slow: true,
        targets: &[Target::at_most(0.09)],
    },
    Peer {
        name: "ip -batch",
        script: include_str!("ip-batch.sh"),
        program: "",
        is_slow: false,
        targets: &[Target::at_most(1.0 / 3.0)],
    },
    Peer {
        name: "Mininet",
        script: include_str!("mininet.sh"),
        program: include_str!("mininet.py"),
        is_slow: true,
        targets: &[Target::at_most(1.0 / 15.0)],
    },
];

impl Contender for Peer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn works_in(&self, round: usize) -> bool {
        !self.is_slow || round.is_multiple_of(2)
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let mut peer = Private::start(self.name, self.script, &[CHECK, self.program])?;
        let time = peer.work()?;
        verify(&peer.checked()?)?;
        Ok(vec![milliseconds(time)].into())
    }
}
