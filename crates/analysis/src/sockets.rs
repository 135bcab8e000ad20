//! Effective socket settings at each end of a result's trials.

use findings::EndSocket;
use workload::{Measurement, SocketFacts};

pub(crate) fn ends<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Vec<EndSocket> {
    let mut ends: Vec<EndSocket> = Vec::new();
    for (end, socket) in measurements
        .flat_map(|measurement| measurement.kind().sockets())
        .filter(|(_, socket)| is_known(socket))
    {
        match ends.iter_mut().find(|known| known.end == end) {
            Some(known) => known.socket.ran_on.extend(&socket.ran_on),
            None => ends.push(EndSocket { end: end.to_owned(), socket: socket.clone() }),
        }
    }
    for end in &mut ends {
        end.socket.ran_on.sort_unstable();
        end.socket.ran_on.dedup();
    }
    ends
}

/// Other tools report no socket settings.
fn is_known(socket: &SocketFacts) -> bool {
    *socket != SocketFacts::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::stream_at;

    #[test]
    fn combines_cpus_of_all_trials_of_an_end() {
        let on = |cpus: &[u32]| {
            let Measurement::Stream(mut data) = stream_at(&[1e9]) else { unreachable!("it is a stream") };
            data.flows[0].sender.socket.ran_on = cpus.to_vec();
            data.flows[0].receiver.socket = SocketFacts::default();
            Measurement::Stream(data)
        };
        let ends = ends([on(&[1, 0]), on(&[1, 3])].iter());
        assert_eq!(ends.len(), 1, "{ends:?}");
        assert_eq!((ends[0].end.as_str(), &*ends[0].socket.ran_on), ("sender", &[0, 1, 3][..]));
    }
}
