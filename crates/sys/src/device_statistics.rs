//! Driver-specific statistics of network devices (`ethtool -S`), see linux/ethtool.h. They are not available
//! over netlink.
#![expect(unsafe_code, reason = "SIOCETHTOOL has no wrapper")]

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::error::{Context, Error, Result};

/// `SIOCETHTOOL` from linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const STATISTICS: u32 = 1;
const NAME: usize = 32;
/// The kernel writes all statistics, regardless of the requested number. No device has nearly this many.
const ROOM: usize = 1 << 15;

#[derive(Debug)]
pub struct DeviceStatistics {
    socket: OwnedFd,
}

#[repr(C)]
struct Table<const WORDS: usize> {
    command: u32,
    /// The string set in `ethtool_gstrings`, or the count in `ethtool_stats`.
    second: u32,
    /// Starts with the count in `ethtool_gstrings`, or the first value in `ethtool_stats`.
    rest: [u32; WORDS],
}

impl DeviceStatistics {
    pub fn here() -> Result<Self> {
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
            .named("open", || "a socket for device requests")?;
        Ok(Self { socket })
    }

    pub fn read(&self, device: &str) -> Result<Vec<(String, u64)>> {
        let count = match self.count(device) {
            Err(error) if error.is_unsupported() => 0,
            count => count?,
        };
        if count == 0 {
            return Ok(Vec::new());
        }
        if count > ROOM / 2 {
            return Err(Error::new("read the statistics of", device, libc::E2BIG));
        }
        let names = self.names(device, count)?;
        Ok(names.into_iter().zip(self.values(device, count)?).collect())
    }

    fn count(&self, device: &str) -> Result<usize> {
        // struct ethtool_sset_info: a command, a reserved field, a two-word mask, and a count for each set in
        // the mask.
        let mut request =
            Table::<3> { command: ETHTOOL_GSSET_INFO, second: 0, rest: [1 << STATISTICS, 0, 0] };
        self.ask(device, &mut request)?;
        Ok(if request.rest[0] == 0 { 0 } else { request.rest[2] as usize })
    }

    fn names(&self, device: &str, count: usize) -> Result<Vec<String>> {
        let mut request = table::<{ 1 + ROOM * NAME / 4 }>(ETHTOOL_GSTRINGS, STATISTICS);
        request.rest[0] = count as u32;
        self.ask(device, &mut *request)?;
        let found = (request.rest[0] as usize).min(count);
        let name = |words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        Ok(request.rest[1..].chunks_exact(NAME / 4).take(found).map(name).collect())
    }

    fn values(&self, device: &str, count: usize) -> Result<Vec<u64>> {
        let mut request = table::<{ ROOM * 2 }>(ETHTOOL_GSTATS, count as u32);
        self.ask(device, &mut *request)?;
        let found = (request.second as usize).min(count);
        let value = |words: &[u32]| {
            let [a, b] = [words[0].to_ne_bytes(), words[1].to_ne_bytes()];
            u64::from_ne_bytes([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
        };
        Ok(request.rest.chunks_exact(2).take(found).map(value).collect())
    }

    fn ask<const WORDS: usize>(&self, device: &str, request: &mut Table<WORDS>) -> Result<()> {
        let operation = "read the statistics of";
        // SAFETY: `ifreq` is plain data, so zeros are valid.
        let mut outer: libc::ifreq = unsafe { std::mem::zeroed() };
        if device.len() >= outer.ifr_name.len() {
            return Err(Error::new(operation, device, libc::ENODEV));
        }
        for (to, from) in outer.ifr_name.iter_mut().zip(device.bytes()) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        outer.ifr_ifru.ifru_data = (&raw mut *request).cast();
        // SAFETY: the kernel reads the command and writes its reply to the table, which has space for ROOM
        // statistics; only devices with at most half as many are queried.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut outer) } {
            -1 => Err(Error::last(operation, device)),
            _ => Ok(()),
        }
    }
}

fn table<const WORDS: usize>(command: u32, second: u32) -> Box<Table<WORDS>> {
    // SAFETY: a table consists of integers, so zeros are valid.
    let mut table: Box<Table<WORDS>> = unsafe { Box::new_zeroed().assume_init() };
    (table.command, table.second) = (command, second);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_nothing_without_statistics_and_names_missing_device() {
        let statistics = DeviceStatistics::here().expect("any process may open a socket");
        assert_eq!(statistics.read("lo").expect("exists"), []);
        for name in ["no-such-device", "a-name-that-is-longer-than-any-device-may-have"] {
            let error = statistics.read(name).expect_err("no such device");
            assert!(error.errno() == libc::ENODEV && error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn every_statistic_has_a_value() {
        let Some(statistics) = DeviceStatistics::here().ok().and_then(|all| all.read("eth0").ok()) else {
            return;
        };
        let named = |(name, _): &(String, u64)| !name.is_empty() && name.len() < NAME;
        assert!(statistics.iter().all(named), "{statistics:?}");
    }
}
