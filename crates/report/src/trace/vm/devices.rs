//! A machine's network devices: their packet-processing thread, attachment and traffic.

use findings::VmSummary;
use samples::{NegotiatedFeatures, VmDevice};
use units::{BitRate, Bytes};

use crate::{
    page::{self, *},
    phrases,
    trace::words,
};

pub(super) fn section(summary: &VmSummary) -> Option<Section> {
    let devices = &summary.vm.devices;
    if devices.is_empty() {
        return None;
    }
    let settings = ["Device", "Model", "Attached to", "Queues", "vhost", "MTU", "Qdisc"].map(left).to_vec();
    let rows = devices.iter().map(setting).collect();
    let caption = "Queues: in use by the guest, of those available.";
    let caption = Some(Text::faint(caption));
    let mut blocks = vec![Block::Table(Table { columns: settings, rows, caption })];
    let counted: Vec<&VmDevice> = devices.iter().filter(|device| device.counters.is_some()).collect();
    if !counted.is_empty() {
        let columns =
            ["Packets/s from guest", "From guest", "Packets/s to guest", "To guest", "Dropped"].map(right);
        let columns = [left("Device")].into_iter().chain(columns).collect();
        let rows = counted.into_iter().map(|device| carried(summary, device)).collect();
        let caption = "Counted by the tap device: with offloads, each may be several packets on the wire. The kernel \
             does not count tap queues separately; the guest's driver does (ethtool -S). Dropped: packets that \
             the guest did not receive in time.";
        let caption = Some(Text::faint(caption));
        blocks.push(Block::Table(Table { columns, rows, caption }));
    }
    Some(page::section("Network devices", blocks))
}

fn name(device: &VmDevice) -> &str {
    device.tap.as_deref().unwrap_or(&device.backend)
}

fn setting(device: &VmDevice) -> Vec<Text> {
    let known = |text: Option<String>| Text::from(text.unwrap_or_else(|| "-".to_owned()));
    let master = device.master.as_ref().map(|master| format!("{} ({})", master.name, master.kind));
    let model = device.model.clone();
    let vhost = match device.vhost {
        Some(true) => Text::good("on"),
        Some(false) => Text::doubtful("off"),
        None => "-".into(),
    };
    vec![
        Text::strong(name(device)),
        known(model),
        known(master),
        known(queues(device)),
        vhost,
        known(device.state.as_ref().map(|state| state.mtu.to_string())),
        known(device.qdisc.clone()),
    ]
}

fn queues(device: &VmDevice) -> Option<String> {
    match (device.queues, device.unused_queues) {
        (0, 0) => None,
        (used, 0) => Some(used.to_string()),
        (used, unused) => Some(format!("{used} of {}", used + unused)),
    }
}

fn carried(summary: &VmSummary, device: &VmDevice) -> Vec<Text> {
    let seconds = summary.trace.elapsed.seconds().max(1e-9);
    let counted = device.counters.clone().unwrap_or_default();
    let packets = |count: u64| Text::from(glued(&words::per_second(count as f64 / seconds)));
    let rate = |bytes: Bytes| Text::from(glued(&BitRate(bytes.0 as f64 * 8.0 / seconds).to_string()));
    let dropped = counted.tx_dropped + counted.rx_dropped;
    vec![
        Text::strong(name(device)),
        packets(counted.rx_packets),
        rate(counted.rx_bytes),
        packets(counted.tx_packets),
        rate(counted.tx_bytes),
        Text::of(if dropped > 0 { Tone::Bad } else { Tone::Plain }, phrases::grouped(dropped)),
    ]
}

pub(super) fn offloads(summary: &VmSummary) -> Option<Section> {
    let blocks: Vec<Block> = summary.vm.devices.iter().flat_map(of_device).collect();
    (!blocks.is_empty()).then(|| detail("Offloads", blocks))
}

fn of_device(device: &VmDevice) -> Vec<Block> {
    let features = device.state.as_ref().map(|state| {
        let of = |on: bool| {
            let names = state.features.iter().filter(|(_, active)| **active == on);
            names.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        };
        vec![("on, on the host".to_owned(), Text::from(of(true))), ("off".to_owned(), of(false).into())]
    });
    let phrase = device.negotiated.as_ref().map(negotiated);
    let pairs: Vec<(String, Text)> = features.into_iter().chain(phrase).flatten().collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    vec![Block::Heading(Text::strong(name(device))), Block::KeyValues(pairs)]
}

fn negotiated(phrase: &NegotiatedFeatures) -> Vec<(String, Text)> {
    let set = phrase.set.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ");
    let mut pairs = vec![("set in QEMU".to_owned(), Text::from(set))];
    pairs.extend(
        phrase.features.as_ref().map(|taken| ("accepted by the driver".to_owned(), taken.join(", ").into())),
    );
    let driver = phrase.driver.map(|up| if up { "up" } else { "not up" });
    pairs.extend(driver.map(|driver| ("the guest's driver".to_owned(), driver.into())));
    pairs
}
