//! Checks names for invalid characters and duplicates.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    diagnosis::Problem,
    document::{Document, LinkTables, Section, Spanned, VERSION},
    names::DeviceRef,
    resolve::Draft,
};

/// `IFNAMSIZ` in linux/if.h, minus the terminating NUL.
const DEVICE_NAME: usize = 15;
/// When tunnel modules are loaded, they create `gre0` and the devices listed after it in every namespace.
const RESERVED: [&str; 12] = [
    "lo", "all", "default", "gre0", "gretap0", "erspan0", "ip6gre0", "ip6tnl0", "tunl0", "sit0", "ip_vti0",
    "ip6_vti0",
];
const NAME: usize = 48;
const HOSTS: usize = 1000;

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    head(document, problems);
    section("host", &document.hosts, problems);
    section("guest", &document.links.guests, problems);
    section("pod", &document.links.pods, problems);
    section("vm", &document.vms, problems);
    section("gateway", &document.gateways, problems);
    section("path", &document.paths, problems);
    section("workload", &document.workloads, problems);
    section("factor", &document.factors, problems);
    for table in document.links.all() {
        problems.extend(table.noun().and_then(|noun| no_name(noun, table.name())));
    }
    hosts(document, problems);
    devices(draft, problems);
}

fn head(document: &Document, problems: &mut Vec<Problem>) {
    let version = *document.schema;
    if version != VERSION {
        let message = format!("this version of plumb reads schema {VERSION}, not {version}");
        problems.push(Problem::new(document.schema.span(), message, "version").help("write `schema = 1`"));
    }
    let name = document.name.get_ref();
    if !is_slug(name) {
        let message = format!("`{name}` is not a valid scenario name");
        let help = format!("use up to {NAME} lower-case letters, digits and dashes");
        problems.push(Problem::new(document.name.span(), message, "invalid name").help(help));
    }
}

pub(super) fn is_slug(name: &str) -> bool {
    let slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= NAME && name.chars().all(slug)
}

fn section<T>(kind: &str, section: &Section<T>, problems: &mut Vec<Problem>) {
    problems.extend(section.iter().filter_map(|entry| no_name(kind, &entry.name)));
}

fn no_name(kind: &str, name: &Spanned<String>) -> Option<Problem> {
    let message = format!("`{name}` is not a valid {kind} name");
    let help = format!(
        "use up to {NAME} letters, digits, dashes, dots or underscores, starting with a letter or digit"
    );
    (!is_name(name)).then(|| Problem::new(name.span(), message, "invalid name").help(help))
}

fn is_name(name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= NAME && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(part)
}

fn hosts(document: &Document, problems: &mut Vec<Problem>) {
    let mut first: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for name in document.host_names() {
        if first.insert(name, name.span()).is_some() {
            problems.push(twice(name, "host", "guests and pods are hosts too; choose another name"));
        }
    }
    if first.len() > HOSTS {
        let message = format!("the lab has {} hosts; the limit is {HOSTS}", first.len());
        let place = first.into_values().max_by_key(|place| place.start).unwrap_or(0..0);
        problems.push(Problem::new(place, message, "last host"));
    }
}

fn twice(name: &Spanned<String>, kind: &str, help: &str) -> Problem {
    let message = format!("duplicate {kind} `{name}`");
    Problem::new(name.span(), message, "repeated here").help(help)
}

fn devices(draft: &Draft, problems: &mut Vec<Problem>) {
    let mut first: BTreeMap<&DeviceRef, &Range<usize>> = BTreeMap::new();
    for (at, place) in &draft.places.devices {
        device_name(at, place, problems);
        if let Some(before) = first.insert(at, place)
            && before != place
        {
            let message = format!("duplicate device `{at}`");
            let help = format!("{} all create devices; rename one of them", LinkTables::KEYS.join(", "));
            problems.push(Problem::new(place.clone(), message, "repeated here").help(help));
        }
    }
}

fn device_name(at: &DeviceRef, place: &Range<usize>, problems: &mut Vec<Problem>) {
    let name = at.device.as_str();
    if name.len() > DEVICE_NAME {
        let message = format!(
            "the device name `{name}` is {} bytes long; the kernel's limit is {DEVICE_NAME}",
            name.len()
        );
        problems.push(Problem::new(place.clone(), message, "too long").help("shorten it"));
    } else if !is_name(name) || RESERVED.contains(&name) {
        let message = format!("`{name}` is not a valid device name");
        let help = format!(
            "use letters, digits, dashes, dots or underscores; reserved names: {}",
            RESERVED.join(", ")
        );
        problems.push(Problem::new(place.clone(), message, "invalid name").help(help));
    }
}
