//! Limits open connections. At an address's limit, closes that address's oldest connection. At the server's limit,
//! closes the oldest connection of the address with the most connections.

use budgets::{Amounts, Budget, Exhausted, Share, Source};
use tokio::task::{AbortHandle, JoinSet};

/// A browser opens up to six connections. A proxy opens one connection per reader who follows a run.
const LIMITS: Budget = Budget { address: 64, server: 256 };

pub(crate) struct Connections {
    all: Vec<Connection>,
    amounts: Amounts,
    tasks: JoinSet<()>,
}

struct Connection {
    source: Source,
    task: AbortHandle,
    _share: Share,
}

impl Connections {
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), amounts: Amounts::new(LIMITS), tasks: JoinSet::new() }
    }

    pub(crate) fn add(&mut self, source: Source, served: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        self.all.retain(|connection| !connection.task.is_finished());
        if let Err(limit) = self.amounts.check(source, 1) {
            self.end_oldest(source, limit);
        }
        if let Ok(share) = self.amounts.take(source, 1) {
            self.all.push(Connection { source, task: self.tasks.spawn(served), _share: share });
        }
    }

    fn end_oldest(&mut self, source: Source, limit: Exhausted) {
        let most = self.amounts.most();
        let oldest = self.all.iter().position(|connection| match limit {
            Exhausted::Address => connection.source == source,
            Exhausted::Server => self.amounts.of(connection.source) == most,
        });
        if let Some(oldest) = oldest {
            self.all.remove(oldest).task.abort();
        }
    }

    pub(crate) async fn ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

#[cfg(test)]
impl Connections {
    pub(crate) const LIMITS: Budget = LIMITS;
}
