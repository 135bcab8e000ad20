//! The planned results and times as a run records them.

use std::time::{SystemTime, UNIX_EPOCH};

use samples::{ResultRecord, UnixMillis};
use scenario::PlannedResult;

use crate::request::Request;

pub(crate) fn results(request: &Request<'_>) -> Vec<ResultRecord> {
    request.plan.results.iter().map(PlannedResult::record).collect()
}

pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
