//! Queries a running QEMU's monitor and sends commands to it (qapi/{machine,misc,qom,run-state,virtio}.json
//! of QEMU 7.2).

mod question;

use std::{
    collections::BTreeMap,
    os::unix::net::UnixStream,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use serde_json::{Value, json};

pub use self::question::MonitorError;
use self::question::Questions;

const FOLDERS: [&str; 2] = ["/machine/peripheral", "/machine/peripheral-anon"];
const NIC: &str = "child<virtio-net-";
const SETTINGS: [&str; 17] = [
    "mq",
    "vectors",
    "mrg_rxbuf",
    "rx_queue_size",
    "tx_queue_size",
    "host_mtu",
    "csum",
    "guest_csum",
    "host_tso4",
    "host_tso6",
    "host_ufo",
    "guest_tso4",
    "guest_tso6",
    "guest_ufo",
    "packed",
    "rss",
    "mac",
];

/// A connection to the monitor, which accepts no other client in the meantime.
#[derive(Debug)]
pub struct Monitor {
    questions: Questions,
    version: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonitorSays {
    pub version: String,
    pub guest: Option<String>,
    pub status: String,
    pub kvm: Option<bool>,
    pub cpu_threads: Vec<u32>,
    pub io_threads: Vec<(String, u32)>,
    pub nics: Vec<NicSays>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NicSays {
    pub model: String,
    pub netdev: Option<String>,
    pub set: BTreeMap<String, String>,
    /// The negotiated features, or `None` before QEMU 7.2.
    pub features: Option<Vec<String>>,
    pub driver: Option<bool>,
    pub vhost: Option<bool>,
}

impl Monitor {
    /// `stop` ends every wait. Fails if the monitor has another client.
    pub fn open(at: &Path, stop: &Arc<AtomicBool>) -> Result<Self, MonitorError> {
        let (questions, version) = Questions::open(at, stop)?;
        Ok(Self { questions, version })
    }

    pub(super) fn greeted(socket: UnixStream) -> Result<Self, MonitorError> {
        let (questions, version) =
            Questions::greeted(socket, Path::new("of a virtual machine"), &Arc::default())?;
        Ok(Self { questions, version })
    }

    pub fn order(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        self.questions.order(command, arguments)
    }

    /// Returns the PID of QEMU, or of the program that passed the socket to QEMU.
    #[must_use]
    pub fn listener(&self) -> Option<u32> {
        sys::socket::peer_pid(self.questions.socket()).ok()
    }

    pub fn ask(&mut self) -> Result<MonitorSays, MonitorError> {
        let number = |thread: &Value| u32::try_from(thread["thread-id"].as_u64()?).ok();
        let name = self.questions.ask("query-name", &json!({}))?;
        let status = self.questions.ask("query-status", &json!({}))?;
        let kvm = self.questions.ask("query-kvm", &json!({}))?;
        let cpus = self.questions.ask("query-cpus-fast", &json!({}))?;
        let io_threads = self.questions.ask("query-iothreads", &json!({}))?;
        let named = |thread: &Value| Some((text(&thread["id"])?, number(thread)?));
        Ok(MonitorSays {
            version: self.version.clone(),
            guest: text(&name["name"]),
            status: text(&status["status"]).unwrap_or_else(|| "unknown".to_owned()),
            kvm: kvm["enabled"].as_bool(),
            cpu_threads: list(&cpus).filter_map(number).collect(),
            io_threads: list(&io_threads).filter_map(named).collect(),
            nics: self.nics()?,
        })
    }

    fn nics(&mut self) -> Result<Vec<NicSays>, MonitorError> {
        let devices = self.questions.ask("x-query-virtio", &json!({}))?;
        let devices: Vec<String> = list(&devices).filter_map(|device| text(&device["path"])).collect();
        let found = self.devices(NIC)?;
        found.iter().map(|(path, kind)| self.nic(path, kind, &devices)).collect()
    }

    pub fn devices(&mut self, kind: &str) -> Result<Vec<(String, String)>, MonitorError> {
        let mut found = Vec::new();
        for folder in FOLDERS {
            let children = self.questions.ask("qom-list", &json!({ "path": folder }))?;
            let named = |child: &Value| Some((text(&child["name"])?, text(&child["type"])?));
            let own = list(&children).filter_map(named).filter(|(_, its)| its.starts_with(kind));
            found.extend(own.map(|(name, its)| (format!("{folder}/{name}"), its)));
        }
        Ok(found)
    }

    fn nic(&mut self, path: &str, kind: &str, devices: &[String]) -> Result<NicSays, MonitorError> {
        let mut nic = NicSays { model: model(kind).to_owned(), ..NicSays::default() };
        for setting in SETTINGS {
            if let Some(value) = self.get(path, setting)? {
                nic.set.insert(setting.to_owned(), value);
            }
        }
        nic.netdev = self.get(path, "netdev")?;
        // With PCI, the listed device is a child of this device. With virtio-mmio, both are the same device.
        let is_its = |device: &&String| {
            device.strip_prefix(path).is_some_and(|rest| matches!(rest, "" | "/virtio-backend"))
        };
        if let Some(device) = devices.iter().find(is_its) {
            let status = self.questions.ask("x-query-virtio-status", &json!({ "path": device }))?;
            take_status(&mut nic, &status);
        }
        Ok(nic)
    }

    fn get(&mut self, path: &str, property: &str) -> Result<Option<String>, MonitorError> {
        let value = self.questions.ask("qom-get", &json!({ "path": path, "property": property }))?;
        Ok(match value {
            Value::Null => None,
            Value::String(text) => Some(text),
            Value::Bool(on) => Some(if on { "on" } else { "off" }.to_owned()),
            other => Some(other.to_string()),
        })
    }
}

fn take_status(nic: &mut NicSays, status: &Value) {
    nic.vhost = status["vhost-started"].as_bool();
    nic.driver = status["status"]["statuses"]
        .as_array()
        .map(|all| all.iter().any(|word| text(word).is_some_and(|it| it.contains("DRIVER_OK"))));
    // Both contain strings such as `VIRTIO_NET_F_MQ: Multiqueue with ...`.
    let taken = ["dev-features", "transports"].map(|part| &status["guest-features"][part]);
    let named = |feature: &Value| Some(text(feature)?.split(':').next()?.to_owned());
    let known = taken.iter().any(|part| part.is_array());
    nic.features = known.then(|| taken.into_iter().flat_map(list).filter_map(named).collect());
}

fn model(kind: &str) -> &str {
    kind.trim_start_matches("child<").trim_end_matches('>')
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
