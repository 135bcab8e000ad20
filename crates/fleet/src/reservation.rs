//! Reserves a network device on its host for a single measurement.

use std::{io, os::unix::net::UnixDatagram};

use crate::abstract_name;

const PREFIX: &str = "plumb/interface/";

#[derive(Debug)]
pub struct Reservation {
    _lock: UnixDatagram,
    _holder: Option<UnixDatagram>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupied {
    pub by: String,
}

impl Reservation {
    pub fn take(device: &str, by: &str) -> io::Result<Result<Self, Occupied>> {
        let name = format!("{PREFIX}{device}");
        match abstract_name::bind(&name) {
            Ok(lock) => Ok(Ok(Self { _lock: lock, _holder: abstract_name::announce(&name, by).ok() })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let by = abstract_name::holders(&name).into_iter().next();
                Ok(Err(Occupied { by: by.unwrap_or_else(|| "another process".to_owned()) }))
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_device_once_until_released() {
        let device = format!("test-{}", std::process::id());
        let first = Reservation::take(&device, "run one").expect("a socket").expect("free");
        let Err(Occupied { by }) = Reservation::take(&device, "two").expect("a socket") else {
            panic!("reserved twice")
        };
        assert!(by.starts_with("run one (process ") && by.contains(&std::process::id().to_string()), "{by}");
        assert!(Reservation::take(&format!("{device}0"), "two").expect("a socket").is_ok(), "another device");
        drop(first);
        assert!(Reservation::take(&device, "two").expect("a socket").is_ok());
    }
}
