//! Reads the negotiated features of a virtio network device from sysfs and compares them with the configuration.

use std::{fs, path::Path};

use scenario::{HostName, VirtioNet, link::Nic};

use crate::{error::CreateError, rings::QueuesAndRings};

/// Feature bits and their names from linux/virtio_net.h, virtio_ring.h and virtio_config.h, in lower case without
/// prefixes.
const NAMES: &str = include_str!("virtio_features.txt");

pub(crate) fn read(sysfs: &Path, device: &str) -> Option<Vec<String>> {
    features(fs::read_to_string(sysfs.join("class/net").join(device).join("device/features")).ok()?.trim())
}

pub(crate) fn verify(
    nic: &Nic,
    virtio: &VirtioNet,
    features: Option<&[String]>,
    found: QueuesAndRings,
) -> Result<(), CreateError> {
    let host = &nic.at.host;
    for (name, on) in virtio.features() {
        // Unknown if the driver reports no features.
        let is_on = features.map(|features| features.iter().any(|feature| feature == name));
        let word = |on: bool| if on { "on" } else { "off" };
        compare(host, name, &word(on), is_on.map(word).as_ref())?;
    }
    let (queues, rings) = (found.queues, found.rings);
    compare(host, "queues", &nic.queues, queues.map(|queues| queues.rx).as_ref())?;
    if let Some(places) = &virtio.rx_ring {
        compare(host, "rx-ring", places, rings.map(|rings| rings.rx).as_ref())?;
    }
    if let Some(places) = &virtio.tx_ring {
        compare(host, "tx-ring", places, rings.map(|rings| rings.tx).as_ref())?;
    }
    Ok(())
}

fn compare<T: PartialEq + ToString>(
    host: &HostName,
    setting: &'static str,
    wanted: &T,
    found: Option<&T>,
) -> Result<(), CreateError> {
    if found == Some(wanted) {
        return Ok(());
    }
    Err(CreateError::NotTaken {
        host: host.clone(),
        setting,
        wanted: wanted.to_string().into(),
        found: found.map_or_else(|| "unknown".into(), |found| found.to_string().into()),
    })
}

/// Parses a string of bits that starts with bit 0 (features_show in drivers/virtio/virtio.c).
fn features(bits: &str) -> Option<Vec<String>> {
    let name = |bit: usize| {
        let number = format!("{bit} ");
        NAMES
            .lines()
            .find_map(|row| row.strip_prefix(&number))
            .map_or_else(|| format!("bit {bit}"), str::to_owned)
    };
    let is_bitmap = !bits.is_empty() && bits.bytes().all(|bit| matches!(bit, b'0' | b'1'));
    let set = bits.bytes().enumerate().filter(|(_, bit)| *bit == b'1');
    is_bitmap.then(|| set.map(|(bit, _)| name(bit)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::RxTx;

    #[test]
    fn names_bits_like_kernel_headers() {
        for (bits, expected) in [
            ("1100", Some(vec!["csum", "guest_csum"])),
            ("00001", Some(vec!["bit 4"])),
            ("0", Some(vec![])),
            ("", None),
            ("0x79bfffe7", None),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(features(bits), expected, "{bits}");
        }
        let of_64 = format!("{}1", "0".repeat(63));
        assert_eq!(features(&of_64), Some(vec!["speed_duplex".to_owned()]));
    }

    fn check(virtio: VirtioNet, features: Option<&[&str]>, expected: &str) {
        let nic = Nic {
            name: "vm0".into(),
            at: "vm0:eth0".parse().unwrap(),
            port: "pve:vm0".parse().unwrap(),
            address: "198.18.0.7/24".parse().unwrap(),
            mtu: 1500,
            queues: 2,
        };
        let pair = |rx, tx| Some(RxTx { rx, tx });
        let found = QueuesAndRings { queues: pair(2, 2), rings: pair(1024, 256) };
        let features: Option<Vec<String>> =
            features.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let verdict = verify(&nic, &virtio, features.as_deref(), found).map_err(|error| error.to_string());
        match expected {
            "" => assert_eq!(verdict, Ok(()), "{virtio:?}"),
            expected => {
                let message = verdict.expect_err("the features differ");
                assert!(message.contains(expected), "`{expected}` is not in {message}");
            }
        }
    }

    #[test]
    fn error_shows_wanted_and_found_value() {
        let none = VirtioNet::default();
        check(none, None, "");
        check(VirtioNet { mrg_rxbuf: Some(false), rx_ring: Some(1024), ..none }, Some(&["csum"]), "");
        check(
            VirtioNet { csum: Some(true), ..none },
            Some(&["csum"]),
            "virtual machine `vm0` has guest_csum off instead of on",
        );
        check(VirtioNet { gro: Some(false), ..none }, Some(&["guest_tso6"]), "guest_tso6 on instead of off");
        check(VirtioNet { gro: Some(false), ..none }, None, "guest_tso4 unknown instead of off");
        check(VirtioNet { tx_ring: Some(1024), ..none }, Some(&[]), "tx-ring 256 instead of 1024");
    }
}
