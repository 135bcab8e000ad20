//! The words of the language as what they mean.

use workload::{Direction, Mode, Transport, Waiting};

use crate::document::{DirectionWord, ModeWord, TransportWord, WaitingWord};

impl From<DirectionWord> for Direction {
    fn from(word: DirectionWord) -> Self {
        match word {
            DirectionWord::Forward => Self::Forward,
            DirectionWord::Reverse => Self::Reverse,
            DirectionWord::Both => Self::Both,
        }
    }
}

impl From<TransportWord> for Transport {
    fn from(word: TransportWord) -> Self {
        match word {
            TransportWord::Tcp => Self::Tcp,
            TransportWord::Udp => Self::Udp,
        }
    }
}

impl From<ModeWord> for Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::App => Self::App,
            ModeWord::Limit => Self::Limit,
        }
    }
}

impl From<WaitingWord> for Waiting {
    fn from(word: WaitingWord) -> Self {
        match word {
            WaitingWord::Block => Self::Block,
            WaitingWord::Spin => Self::Spin,
        }
    }
}
