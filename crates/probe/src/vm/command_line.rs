//! Parses the traffic-related options of QEMU's command line (qemu(1) of QEMU 7.2).

use std::borrow::Cow;

use serde_json::{Map, Value};
use units::Bytes;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) board: Option<String>,
    pub(super) cpu: Option<String>,
    pub(super) cpus: Option<u32>,
    pub(super) memory: Option<Bytes>,
    pub(super) kvm: Option<bool>,
    pub(super) libvirt: bool,
    pub(super) netdevs: Vec<Netdev>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Netdev {
    pub(super) id: Option<String>,
    pub(super) backend: String,
    pub(super) interface: Option<String>,
    pub(super) descriptors: Vec<i32>,
    pub(super) vhost: Option<bool>,
    pub(super) model: Option<String>,
}

pub(super) fn read(words: &[String]) -> CommandLine {
    let mut line = CommandLine::default();
    let mut models: Vec<(String, String)> = Vec::new();
    for (flag, value) in options(words) {
        match flag {
            "machine" | "M" => line.machine(value),
            "accel" => line.kvm = line.kvm.or_else(|| accelerator(head(value))),
            "enable-kvm" => line.kvm = Some(true),
            "cpu" => line.cpu = Some(head(value).to_owned()),
            "smp" => line.cpus = number(value, "cpus").or(line.cpus),
            "m" => line.memory = memory(value).or(line.memory),
            "netdev" | "nic" => line.netdevs.extend(netdev(value)),
            "device" => models.extend(model(value)),
            _ => {}
        }
        // libvirt creates a secret with this name for every machine.
        line.libvirt |= flag == "object" && value.contains("masterKey0");
    }
    for netdev in &mut line.netdevs {
        let found = models.iter().find(|(id, _)| Some(id) == netdev.id.as_ref());
        netdev.model = netdev.model.take().or_else(|| found.map(|(_, model)| model.clone()));
    }
    line
}

impl CommandLine {
    fn machine(&mut self, value: &str) {
        let named = key(value, "type").unwrap_or_else(|| head(value));
        if !named.contains('=') && !named.is_empty() {
            self.board = Some(named.to_owned());
        }
        let accelerators = key(value, "accel").and_then(|all| accelerator(all.split(':').next()?));
        self.kvm = self.kvm.or(accelerators);
    }
}

fn options(words: &[String]) -> impl Iterator<Item = (&str, &str)> {
    words.iter().enumerate().skip(1).filter_map(|(at, word)| {
        let flag = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        let value = words.get(at + 1).map(String::as_str).filter(|value| !value.starts_with('-'));
        Some((flag, value.unwrap_or_default()))
    })
}

fn accelerator(word: &str) -> Option<bool> {
    match word {
        "kvm" => Some(true),
        "tcg" => Some(false),
        _ => None,
    }
}

fn head(value: &str) -> &str {
    value.split(',').next().unwrap_or_default()
}

fn key<'a>(value: &'a str, key: &str) -> Option<&'a str> {
    value.split(',').find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

/// Parses `4`, `4,sockets=1` or `cpus=4,...`.
fn number(value: &str, named: &str) -> Option<u32> {
    key(value, named).unwrap_or_else(|| head(value)).parse().ok()
}

/// Parses `512`, `4G` or `size=4194304k,slots=...`. The default unit is MiB.
fn memory(value: &str) -> Option<Bytes> {
    let text = key(value, "size").unwrap_or_else(|| head(value));
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "b" => 0,
        "k" => 10,
        "" | "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).map(Bytes)
}

/// Parses `tap,id=net0,fds=10:11,vhost=on`, or the JSON equivalent from libvirt.
fn netdev(value: &str) -> Option<Netdev> {
    let value = &*plain(value);
    let descriptors = ["fd", "fds"].into_iter().filter_map(|name| key(value, name));
    let backend = key(value, "type").unwrap_or_else(|| head(value));
    (backend != "none" && !backend.is_empty()).then(|| Netdev {
        id: key(value, "id").map(str::to_owned),
        backend: backend.to_owned(),
        interface: key(value, "ifname").map(str::to_owned),
        descriptors: descriptors.flat_map(|all| all.split(':')).filter_map(|it| it.parse().ok()).collect(),
        vhost: key(value, "vhost").and_then(switch),
        model: key(value, "model").map(str::to_owned),
    })
}

fn plain(value: &str) -> Cow<'_, str> {
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(value) else { return value.into() };
    let part = |(name, value): (String, Value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    object.into_iter().map(part).collect::<Vec<_>>().join(",").into()
}

fn switch(word: &str) -> Option<bool> {
    match word {
        "on" | "true" | "yes" => Some(true),
        "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

fn model(value: &str) -> Option<(String, String)> {
    let value = &*plain(value);
    let driver = key(value, "driver").unwrap_or_else(|| head(value));
    Some((key(value, "netdev")?.to_owned(), driver.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CommandLine {
        read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn parses_command_line_of_proxmox() {
        let found = line(
            "/usr/bin/kvm -id 100 -name web,debug-threads=on -smp 4,sockets=1,cores=4,maxcpus=4 -cpu host,+kvm_pv_eoi \
             -m 8192 -netdev type=tap,id=net0,ifname=tap100i0,script=/x,downscript=/y,vhost=on,queues=4 -device \
             virtio-net-pci,mac=BC:24:11:00:00:01,netdev=net0,bus=pci.0,vectors=10,mq=on -machine \
             type=q35+pve0,accel=kvm",
        );
        assert_eq!((found.board.as_deref(), found.cpu.as_deref()), (Some("q35+pve0"), Some("host")));
        assert_eq!((found.cpus, found.memory, found.kvm), (Some(4), Some(Bytes(8192 << 20)), Some(true)));
        let [netdev] = &found.netdevs[..] else { panic!("{found:?}") };
        assert_eq!(netdev.interface.as_deref(), Some("tap100i0"));
        assert_eq!((netdev.backend.as_str(), netdev.vhost), ("tap", Some(true)));
        assert_eq!(netdev.model.as_deref(), Some("virtio-net-pci"));
    }

    #[test]
    fn parses_command_line_of_libvirt() {
        let found = line(
            r#"/usr/bin/qemu-system-x86_64 -name guest=vm1,debug-threads=on -object {"qom-type":"secret","id":"masterKey0","format":"raw","file":"/k"} -machine pc-q35-7.2,usb=off,dump-guest-core=off -accel kvm -cpu host,migratable=on -m size=4194304k -smp 2,sockets=2 -netdev {"type":"tap","fds":"23:24","vhost":true,"vhostfds":"26:27","id":"hostnet0"} -device {"driver":"virtio-net-pci","mq":true,"vectors":6,"netdev":"hostnet0","id":"net0","bus":"pci.1"}"#,
        );
        assert!(found.libvirt);
        assert_eq!((found.board.as_deref(), found.kvm), (Some("pc-q35-7.2"), Some(true)));
        assert_eq!((found.cpus, found.memory), (Some(2), Some(Bytes(4 << 30))));
        let [netdev] = &found.netdevs[..] else { panic!("{found:?}") };
        assert_eq!(netdev.descriptors, [23, 24]);
        assert_eq!((netdev.vhost, netdev.model.as_deref()), (Some(true), Some("virtio-net-pci")));
    }

    #[test]
    fn missing_options_are_unknown() {
        assert_eq!(line("qemu-system-x86_64"), CommandLine::default());
        let found = line(
            "qemu-system-x86_64 -M microvm,memory-backend=m -accel tcg,thread=multi -nic none -net nic -m x",
        );
        assert_eq!((found.board.as_deref(), found.kvm, found.memory), (Some("microvm"), Some(false), None));
        assert_eq!(found.netdevs, []);
        let found = line("kvm -nic tap,ifname=t0,model=e1000 -netdev user,id=u");
        let models: Vec<_> =
            found.netdevs.iter().map(|it| (it.backend.as_str(), it.model.as_deref())).collect();
        assert_eq!(models, [("tap", Some("e1000")), ("user", None)]);
    }
}
