//! Draws the path of a trial, with the hosts and the devices that packets pass through.

use scenario::{DeviceRef, HostName};
use watch::State;

const LINK: &str = "──";
const WITHIN: &str = " ─ ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    name: String,
    devices: Vec<String>,
}

pub(super) fn hops(state: &State) -> Vec<Hop> {
    let Some(path) = state.path() else { return Vec::new() };
    let mut hops: Vec<(&HostName, Vec<String>)> = Vec::new();
    let devices: Vec<&DeviceRef> = match &path.devices[..] {
        [] => vec![&path.from.device],
        all => all.iter().collect(),
    };
    for at in devices {
        match hops.last_mut() {
            Some((host, devices)) if *host == &at.host => devices.push(at.device.to_string()),
            _ => hops.push((&at.host, vec![at.device.to_string()])),
        }
    }
    let named = |(host, devices): (&HostName, _)| {
        let name = if state.is_vm(host) { format!("{host} (VM)") } else { host.to_string() };
        Hop { name, devices }
    };
    hops.into_iter().map(named).collect()
}

pub(super) fn drawn(hops: &[Hop], width: usize, rows: usize) -> Vec<String> {
    boxes(hops, width).filter(|lines| lines.len() <= rows).unwrap_or_else(|| in_words(hops, width))
}

fn boxes(hops: &[Hop], width: usize) -> Option<Vec<String>> {
    let mut lines: Vec<[String; 3]> = vec![Default::default()];
    for (place, hop) in hops.iter().enumerate() {
        let (is_first, is_last) = (place == 0, place + 1 == hops.len());
        let one = boxed(hop, is_first, is_last);
        let taken = columns(&lines.last()?[1]);
        let goes_on = if is_last { 0 } else { columns(LINK) };
        let link = if taken == 0 || is_first { 0 } else { columns(LINK) };
        if taken > 0 && taken + link + columns(&one[1]) + goes_on > width {
            lines.last_mut()?[1].push_str(LINK);
            lines.push(Default::default());
        }
        let row = lines.last_mut()?;
        if !is_first {
            let gap = " ".repeat(columns(LINK));
            row.iter_mut().zip([gap.as_str(), LINK, &gap]).for_each(|(line, part)| line.push_str(part));
        }
        row.iter_mut().zip(one).for_each(|(line, part)| line.push_str(&part));
        if columns(&row[1]) + goes_on > width {
            return None;
        }
    }
    Some(lines.into_iter().flatten().map(|line| line.trim_end().to_owned()).collect())
}

fn boxed(hop: &Hop, is_first: bool, is_last: bool) -> [String; 3] {
    let inside = hop.devices.join(WITHIN);
    let room = columns(&inside).max(columns(&hop.name) + 1);
    let rule = |columns: usize| "─".repeat(columns);
    let (left, right) = (if is_first { "│" } else { "┤" }, if is_last { "│" } else { "├" });
    [
        format!("╭ {} {}╮", hop.name, rule(room - columns(&hop.name))),
        format!("{left} {inside}{} {right}", " ".repeat(room - columns(&inside))),
        format!("╰{}╯", rule(room + 2)),
    ]
}

/// Draws `app: eth0 ── node1: veth0 ─ br0`, wrapped between devices.
fn in_words(hops: &[Hop], width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (place, hop) in hops.iter().enumerate() {
        for (inner, device) in hop.devices.iter().enumerate() {
            let piece = if inner == 0 { format!("{}: {device}", hop.name) } else { device.clone() };
            let before = match (place, inner) {
                (0, 0) => "",
                (_, 0) => " ── ",
                _ => WITHIN,
            };
            let line = lines.last_mut().expect("not empty");
            if !line.is_empty() && columns(line) + columns(before) + columns(&piece) + 3 > width {
                line.push_str(before.trim_end());
                lines.push(format!("  {} {piece}", before.trim()));
            } else {
                line.push_str(before);
                line.push_str(&piece);
            }
        }
    }
    lines
}

pub(super) fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(name: &str, devices: &[&str]) -> Hop {
        Hop { name: name.to_owned(), devices: devices.iter().map(|&device| device.to_owned()).collect() }
    }

    #[test]
    fn wraps_host_boxes_into_rows() {
        let path = [hop("app", &["eth0"]), hop("node1", &["veth0", "br0", "eth0"]), hop("egress", &["eth0"])];
        let wide = [
            "╭ app ─╮  ╭ node1 ─────────────╮  ╭ egress ─╮",
            "│ eth0 ├──┤ veth0 ─ br0 ─ eth0 ├──┤ eth0    │",
            "╰──────╯  ╰────────────────────╯  ╰─────────╯",
        ];
        assert_eq!(drawn(&path, 80, 3), wide);
        let narrow = drawn(&path, 36, 6);
        assert_eq!(narrow[1], "│ eth0 ├──┤ veth0 ─ br0 ─ eth0 ├──");
        assert_eq!(narrow[4], "──┤ eth0    │");
        assert!(narrow.iter().all(|line| columns(line) <= 36), "{narrow:?}");
    }

    #[test]
    fn falls_back_to_wrapped_text() {
        let path = [hop("app", &["eth0"]), hop("node1", &["veth0", "br0", "vxlan0", "eth0"])];
        let lines = drawn(&path, 30, 3);
        assert_eq!(lines, ["app: eth0 ── node1: veth0 ─", "  ─ br0 ─ vxlan0 ─ eth0"]);
        let one = drawn(&path[..1], 30, 0);
        assert_eq!(one, ["app: eth0"]);
    }
}
