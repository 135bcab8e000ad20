//! Checks workload settings and fills in their defaults, with one file per kind.

mod balloon;
mod connect;
mod first_touch;
mod hosts;
mod limits;
mod ping_pong;
mod placement;
mod socket;
mod stream;

use std::ops::Range;

use workload::{WorkloadKind, WorkloadSettings};

pub(crate) use hosts::hosts;
pub(super) use limits::{
    MESSAGES, STREAMS as COUNTS, count_out_of, message_out_of, rate_out_of, stream_messages,
};
pub(super) use socket::not_congestion;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, Spanned, WorkloadTable},
    names::{PathName, WorkloadName},
    workload::Workload,
};

struct Keys {
    owner: &'static str,
    this: &'static str,
    own: &'static [&'static str],
    reason: fn(&str) -> Option<&'static str>,
}

const fn keys(kind: WorkloadKind) -> &'static Keys {
    match kind {
        WorkloadKind::Stream => &stream::KEYS,
        WorkloadKind::PingPong => &ping_pong::KEYS,
        WorkloadKind::Connect => &connect::KEYS,
        WorkloadKind::FirstTouch => &first_touch::KEYS,
        WorkloadKind::Balloon => &balloon::KEYS,
    }
}

pub(crate) fn workloads(document: &Document) -> Result<Vec<Workload>, Vec<Problem>> {
    let mut problems = Vec::new();
    let workloads = document.workloads.iter().map(|entry| workload(document, entry, &mut problems)).collect();
    if problems.is_empty() { Ok(workloads) } else { Err(problems) }
}

fn workload(document: &Document, entry: &Entry<WorkloadTable>, problems: &mut Vec<Problem>) -> Workload {
    let table = &entry.table;
    problems.extend(inapplicable(table));
    let load = match table.kind.get_ref() {
        WorkloadKind::Stream => WorkloadSettings::Stream(stream::load(table, problems)),
        WorkloadKind::PingPong => WorkloadSettings::PingPong(ping_pong::load(table, problems)),
        WorkloadKind::Connect => WorkloadSettings::Connect(connect::load(table, problems)),
        WorkloadKind::FirstTouch => WorkloadSettings::FirstTouch(first_touch::load(table, problems)),
        WorkloadKind::Balloon => WorkloadSettings::Balloon(balloon::load(table, problems)),
    };
    limits::times(table, &load, problems);
    let paths = match load.kind().has_peer() {
        true => {
            problems.extend(without_baseline(document, entry));
            problems.extend(without_path(document, entry));
            paths(document, table)
        }
        false => hosts::resolve(document, entry, problems),
    };
    Workload {
        name: WorkloadName::new(entry.name()),
        placement: placement::placement(table, &load, problems),
        load,
        default_message: table.message.is_none(),
        paths,
    }
}

fn without_path(document: &Document, entry: &Entry<WorkloadTable>) -> Option<Problem> {
    let none = document.path_names().is_empty() && document.broken.names.is_empty();
    none.then(|| {
        let message = "the scenario has no paths";
        let help = "add `[paths.NAME]`, or `pairs` of existing hosts";
        Problem::new(entry.table.kind.span(), message, "needs a path").help(help)
    })
}

fn paths(document: &Document, table: &WorkloadTable) -> Vec<PathName> {
    let wanted =
        |name: &String| table.paths.is_empty() || table.paths.iter().any(|path| path.get_ref() == name);
    document.path_names().into_iter().filter(wanted).map(PathName::new).collect()
}

fn without_baseline(document: &Document, entry: &Entry<WorkloadTable>) -> Option<Problem> {
    let is_baseline = |mark: &Option<Spanned<bool>>| mark.as_ref().is_some_and(|mark| **mark);
    let baseline = document.paths.iter().find(|path| is_baseline(&path.table.baseline))?.name();
    let listed = &entry.table.paths;
    let place = listed.first()?.span().start..listed.last()?.span().end;
    let message = format!("`{}` does not run on the baseline path `{baseline}`", entry.name());
    let help = format!("add `{baseline}`: results are shown relative to it");
    let missing = listed.iter().all(|path| path.get_ref() != baseline);
    missing.then(|| Problem::new(place, message, "baseline missing").help(help))
}

fn inapplicable(table: &WorkloadTable) -> Vec<Problem> {
    let keys = keys(*table.kind);
    let others = table.of_kinds().into_iter().filter(|(key, _)| !keys.own.contains(key));
    let problem = |(key, place): (&'static str, Range<usize>)| {
        let other = WorkloadKind::ALL.iter().map(|kind| self::keys(*kind)).find(|it| it.own.contains(&key));
        let owner = other.map_or("another kind", |keys| keys.owner);
        let reason = (keys.reason)(key)
            .map_or_else(|| format!("it is a setting of {owner}; {}", keys.this), str::to_owned);
        let message = format!("`{key}` has no effect here: {reason}");
        Problem::new(place, message, "no effect").help("remove it")
    };
    others.map(problem).collect()
}

fn refuse<T>(setting: &Option<Spanned<T>>, name: &str, reason: &str, problems: &mut Vec<Problem>) {
    if let Some(setting) = setting {
        let message = format!("`{name}` has no effect here: {reason}");
        problems.push(Problem::new(setting.span(), message, "no effect").help("remove it"));
    }
}

fn or<T: Clone>(setting: &Option<Spanned<T>>, default: T) -> T {
    setting.as_ref().map_or(default, |setting| setting.get_ref().clone())
}
