//! A run that is under way: what is stored of it, and, by server-sent events
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), the same again whenever that has changed, until it ends.
//! Must not know who makes the run.

mod following;
mod state;

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use futures_util::stream;
use maud::html;
use samples::RunId;

use self::following::Following;
use crate::{
    failure::Failure,
    layout::{self, RunEntry},
    links,
    site::Site,
    time,
};

/// From one look at the store to the next. A look costs little, but a trial may be measured meanwhile.
const LOOK: Duration = Duration::from_millis(500);
/// After so many looks without a change something is sent all the same: a reader that is gone is noticed by that.
const QUIET_LOOKS: usize = 20;

/// The run as it is now; the script keeps it so.
pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Path(run): Path<String>,
) -> Result<Response, Failure> {
    let run = RunId(run);
    let id = run.clone();
    let following = site.read(move |_, store| Following::begin(store, &id)).await?;
    let content = html! {
        div #live data-events=(links::events(&run)) { (state::shown(&following)) }
        p #connection .faint hidden role="status" { "The connection is lost; trying again." }
        noscript { p.faint { "As of " (time::second_of_day(time::now())) " UTC. Without scripts, reload to see what came since." } }
        script src="/static/live.js" defer {}
    };
    Ok(layout::run_page(&site, &format!("{run}, live"), &run, RunEntry::Live, &content))
}

/// Where a follower stands between two events.
enum Follower {
    New(RunId),
    Following(Box<Following>),
    Ended,
}

/// An event for each change, and `end` as the last one.
pub(crate) async fn events(State(site): State<Arc<Site>>, Path(run): Path<String>) -> Response {
    let events = stream::unfold((site, Follower::New(RunId(run))), |(site, follower)| async move {
        let (event, follower) = next(&site, follower).await?;
        Some((Ok::<_, Infallible>(event), (site, follower)))
    });
    Sse::new(events).into_response()
}

/// Waits for the next change; `None` when there is none any more, or the server ends.
async fn next(site: &Arc<Site>, follower: Follower) -> Option<(Event, Follower)> {
    let mut following = match follower {
        Follower::Ended => return None,
        Follower::New(run) => {
            let begun = site.read(move |_, store| Following::begin(store, &run)).await;
            return Some(told(begun.ok()?));
        }
        Follower::Following(following) => following,
    };
    for _ in 0..QUIET_LOOKS {
        tokio::select! {
            () = site.stopped() => return None,
            () = tokio::time::sleep(LOOK) => {}
        }
        let looked = site.read(move |_, store| {
            let changed = following.look(store);
            Ok((following, changed))
        });
        let (looked_at, changed) = looked.await.ok()?;
        following = looked_at;
        match changed {
            Ok(true) => return Some(told(*following)),
            // A lock that lasted is waited for like a trial.
            Ok(false) | Err(store::StoreError::Locked { .. } | store::StoreError::Away { .. }) => {}
            Err(_) => return None,
        }
    }
    Some((Event::default().comment("no change"), Follower::Following(following)))
}

fn told(following: Following) -> (Event, Follower) {
    let shown = state::shown(&following).into_string();
    if following.has_ended() {
        (Event::default().event("end").data(shown), Follower::Ended)
    } else {
        (Event::default().event("state").data(shown), Follower::Following(Box::new(following)))
    }
}
