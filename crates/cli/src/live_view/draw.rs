//! Draws the screen, which has at least 80 columns and 24 rows.

use std::time::{Duration, Instant};

use findings::Severity;
use ratatui::{
    Frame,
    layout::Rect,
    style::Style,
    text::{Line, Span},
    widgets::Paragraph,
};
use units::Nanos;
use watch::{Boot, Current, Left, State, Tone, mark, one_line};

use super::{
    colours::Colours,
    path::{self, columns},
    results::{self, padded},
};
use crate::{sparkline::sparkline, width};

/// The path may use 1/5 of the rows. The findings and the log together may use 1/4.
const PARTS: (usize, usize) = (5, 4);
const LEAST_NEWS: usize = 6;
const FINDINGS: usize = 2;
const WIDE: usize = 130;
const BAR: usize = 24;
const RATES: usize = 60;

pub(crate) fn draw(frame: &mut Frame<'_>, state: &mut State, colours: Colours, now: Instant) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let top = top(state, width, height, colours, now);
    let news = news(state, width, (height / PARTS.1).max(LEAST_NEWS), colours);
    let news_height = news.len();
    let table_height = height.saturating_sub(top.len() + news_height + 1);
    let mut row = 0;
    let mut put = |lines: Vec<Line<'static>>, rows: usize| {
        let y = area.y + (row as u16).min(area.height);
        let rows_there = (rows as u16).min(area.height.saturating_sub(row as u16));
        frame.render_widget(Paragraph::new(lines), Rect::new(area.x, y, area.width, rows_there));
        row += rows;
    };
    let rows = top.len();
    put(top, rows);
    let (table, first_row) = table(state, width, table_height, colours);
    state.first_row = first_row;
    put(table, table_height);
    put(news, news_height);
    put(vec![foot(state, width, colours, now)], 1);
}

fn top(state: &State, width: usize, height: usize, colours: Colours, now: Instant) -> Vec<Line<'static>> {
    let mut lines = vec![title(state, width, colours, now), progress(state, width, colours)];
    let name = state.path().map(|path| format!("path {}", path.name)).unwrap_or_default();
    lines.push(rule(&name, width, colours));
    let hops = path::hops(state);
    lines.extend(
        path::drawn(&hops, width, height / PARTS.0).into_iter().map(|line| Line::raw(one_line(&line))),
    );
    match &state.trial {
        Some(trial) => lines.extend(under_way(state, trial, width, colours)),
        None => lines.extend(setting_up(state, width, colours, now)),
    }
    lines
}

/// Draws `vhost  What vhost brings ...          1:02  about 3 min left`.
fn title(state: &State, width: usize, colours: Colours, now: Instant) -> Line<'static> {
    let name = one_line(&state.scenario.name);
    let right = format!("{}  {}", clock(now - state.started), remaining(state.pace.remaining(now)));
    let room = width.saturating_sub(columns(&name) + columns(&right) + 4);
    let about = one_line(&state.scenario.title);
    let about = if columns(&about) <= room { about } else { String::new() };
    Line::from(vec![
        Span::styled(name, colours.strong()),
        Span::styled(format!("  {}", padded(&about, room)), colours.faint()),
        Span::styled(format!("  {right}"), colours.strong()),
    ])
}

/// Draws `━━━━━━━─────  12 of up to 60 trials  block 2  1 disturbed, to repeat`.
fn progress(state: &State, width: usize, colours: Colours) -> Line<'static> {
    let (finished, all) = state.pace.trials();
    let done = (finished * BAR).checked_div(all).unwrap_or(BAR);
    let most = if state.plan.design.is_adaptive() { "up to " } else { "" };
    let mut status = format!("  {finished} of {most}{all} trials");
    if let Some(block) = state.block {
        status.push_str(&format!("  block {}", block + 1));
    }
    let again = state.pace.to_make_again();
    let again = if again > 0 { format!("  {again} disturbed, to repeat") } else { String::new() };
    let run = state.run.as_deref().map(one_line).unwrap_or_default();
    let room = width.saturating_sub(BAR + columns(&status) + columns(&again));
    let run = if columns(&run) + 2 <= room { format!("{run:>room$}") } else { String::new() };
    Line::from(vec![
        Span::styled("━".repeat(done), colours.accent()),
        Span::styled("─".repeat(BAR - done), colours.faint()),
        Span::raw(status),
        Span::styled(again, colours.doubtful()),
        Span::styled(run, colours.faint()),
    ])
}

fn under_way(state: &State, trial: &Current, width: usize, colours: Colours) -> Vec<Line<'static>> {
    let result = &state.plan.results[trial.planned.result];
    let levels: Vec<String> =
        result.levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    let concurrent = if trial.concurrent > 0 {
        format!(", plus {} concurrent trials", trial.concurrent)
    } else {
        String::new()
    };
    let what = format!("{} {}{}{concurrent}", result.workload, levels.join(","), mark(trial.planned.arm));
    let mut lines = vec![Line::from(vec![
        Span::styled("▸ ", colours.accent()),
        Span::styled(one_line(what.trim()), colours.strong()),
    ])];
    let now = trial.now.clone().unwrap_or_else(|| "configuring devices, checking the path".to_owned());
    let time = match result.load.kind().flows_for() {
        Some(whole) => {
            format!("{:.1} of {:.1} s", trial.elapsed.seconds().min(whole.seconds()), whole.seconds())
        }
        None => format!("{:.1} s", trial.elapsed.seconds()),
    };
    let time = if trial.now.is_some() { time } else { String::new() };
    let text = format!("  {now:<28}");
    let room = width.saturating_sub(columns(&text) + columns(&time) + 2).min(RATES);
    lines.push(Line::from(vec![
        Span::styled(text, colours.strong()),
        Span::styled(padded(&sparkline(trial.rates.iter().copied(), room), room), colours.accent()),
        Span::styled(format!("  {time}"), colours.faint()),
    ]));
    lines
}

fn setting_up(state: &State, width: usize, colours: Colours, now: Instant) -> Vec<Line<'static>> {
    let step = if state.step.is_empty() { "preparing" } else { &state.step };
    let mut lines = vec![Line::from(vec![
        Span::styled("▸ ", colours.accent()),
        Span::styled(one_line(step), colours.strong()),
    ])];
    let describe = |boot: &Boot| match boot.within {
        Some(within) => format!("{} booted ({})", boot.host, seconds(within.into())),
        None => format!("{} booting, {}", boot.host, seconds(now - boot.since)),
    };
    let under_way = state.boots.iter().filter(|boot| boot.within.is_none());
    let up = state.boots.iter().rev().filter(|boot| boot.within.is_some());
    let all: Vec<String> = under_way.chain(up).map(describe).collect();
    let status = if state.run.is_some() { String::new() } else { all.join("  ") };
    let first = wrapped(&one_line(&status), width.saturating_sub(2)).into_iter().next().unwrap_or_default();
    lines.push(Line::from(format!("  {first}")));
    lines
}

fn table(state: &State, width: usize, height: usize, colours: Colours) -> (Vec<Line<'static>>, usize) {
    let results = results::table(state, width, colours);
    let room = height.saturating_sub(2);
    let first = first_row(state, results.rows.len(), results.current, room);
    let hidden = results.rows.len().saturating_sub(room);
    let name = match hidden {
        0 => "results".to_owned(),
        _ => {
            let last = (first + room).min(results.rows.len());
            format!("results (lines {} to {last} of {}: ↑ ↓)", first + 1, results.rows.len())
        }
    };
    let mut lines = vec![rule(&name, width, colours), results.head];
    lines.extend(results.rows.into_iter().skip(first).take(room));
    (lines, first)
}

fn first_row(state: &State, rows: usize, current: Option<usize>, room: usize) -> usize {
    let last = rows.saturating_sub(room);
    let around = current.map_or(0, |current| current.saturating_sub(room / 2));
    state.scroll.unwrap_or(around).min(last)
}

fn news(state: &State, width: usize, height: usize, colours: Colours) -> Vec<Line<'static>> {
    if width < WIDE {
        let most = if state.log.is_empty() { height } else { height / FINDINGS };
        let is_empty = state.findings.is_empty();
        let mut lines = if is_empty { Vec::new() } else { findings(state, width, most, colours) };
        lines.extend(log(state, width, height - lines.len(), colours));
        return lines;
    }
    let half = width / 2 - 1;
    let (mut left, mut right) = (findings(state, half, height, colours), log(state, half, height, colours));
    let rows = left.len().max(right.len());
    for column in [&mut left, &mut right] {
        column.resize(rows, Line::default());
    }
    let side_by_side = |(mut one, other): (Line<'static>, Line<'static>)| {
        one.spans.push(Span::raw(" ".repeat((half + 2).saturating_sub(one.width()))));
        one.spans.extend(other.spans);
        one
    };
    left.into_iter().zip(right).map(side_by_side).collect()
}

fn findings(state: &State, width: usize, height: usize, colours: Colours) -> Vec<Line<'static>> {
    let all = &state.findings;
    let mut lines = vec![rule(&format!("findings so far ({})", all.len()), width, colours)];
    for finding in all {
        let style = match finding.severity {
            Severity::Serious => colours.bad(),
            Severity::Warning => colours.doubtful(),
            Severity::Note => colours.plain(),
        };
        let entry_lines = listed("•", &finding.text, style, width);
        // Drop findings that do not fit. The report will show all findings.
        if lines.len() + entry_lines.len() <= height {
            lines.extend(entry_lines);
        }
    }
    lines
}

fn log(state: &State, width: usize, height: usize, colours: Colours) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for entry in state.log.iter().rev() {
        let style = if entry.tone == Tone::Warning { colours.doubtful() } else { colours.plain() };
        let entry_lines = listed(&clock(entry.at), &entry.text, style, width);
        if lines.len() + entry_lines.len() + 1 > height {
            break;
        }
        lines.splice(..0, entry_lines);
    }
    lines.insert(0, rule("log", width, colours));
    lines
}

fn listed(sign: &str, text: &str, style: Style, width: usize) -> Vec<Line<'static>> {
    let indent = columns(sign) + 1;
    let mut before = format!("{sign} ");
    let line = |line: String| {
        let sign = std::mem::replace(&mut before, " ".repeat(indent));
        Line::from(vec![Span::raw(sign), Span::styled(line, style)])
    };
    wrapped(&one_line(text), width.saturating_sub(indent)).into_iter().map(line).collect()
}

fn foot(state: &State, width: usize, colours: Colours, now: Instant) -> Line<'static> {
    if state.is_ending {
        let text = "stopping: results are stored, the summary follows";
        return Line::styled(text, colours.doubtful());
    }
    let keys = "q stop and report  ↑↓ scroll  ! warning  ? unclear  ≈ within noise";
    let share =
        (state.cost + state.analyses).as_secs_f64() / (now - state.started).as_secs_f64().max(1.0) * 100.0;
    let cost = format!(" {share:.1} % CPU");
    let room = width.saturating_sub(columns(keys));
    Line::styled(format!("{keys}{cost:>room$}"), colours.faint())
}

fn rule(name: &str, width: usize, colours: Colours) -> Line<'static> {
    let name = one_line(name);
    let rest = width.saturating_sub(columns(&name) + 4);
    Line::from(vec![
        Span::styled("── ", colours.faint()),
        Span::styled(name, colours.strong()),
        Span::styled(format!(" {}", "─".repeat(rest)), colours.faint()),
    ])
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    textwrap::wrap(text, width::breaking(width.max(1))).into_iter().map(|line| line.into_owned()).collect()
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", Nanos::from(time).seconds())
}

fn remaining(left: Left) -> String {
    let rounded = |time: Duration| match time.as_secs() {
        0..10 => "a few seconds".to_owned(),
        seconds @ 10..100 => format!("{} s", seconds.div_ceil(5) * 5),
        seconds @ 100..5400 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    };
    match left {
        Left::About(time) => format!("about {} left", rounded(time)),
        Left::AtMost(time) => format!("up to {} left", rounded(time)),
        Left::AfterBoots(time, 1) => format!("{} after a machine has booted", rounded(time)),
        Left::AfterBoots(time, machines) => {
            format!("{} after {machines} machines have booted", rounded(time))
        }
    }
}

#[cfg(test)]
mod tests;
