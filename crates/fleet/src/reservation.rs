//! The reservation of a network device for one measurement, on the host that has it. What it is for is not known here.

use std::{io, os::unix::net::UnixDatagram};

use crate::abstract_name;

/// Before the name of the device.
const PREFIX: &str = "plumb/interface/";

/// A device that is reserved. Dropping it lets go.
#[derive(Debug)]
pub struct Reservation {
    _lock: UnixDatagram,
    /// Only its name matters: it tells who has the device.
    _holder: Option<UnixDatagram>,
}

/// Another has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupied {
    /// Who, in words.
    pub by: String,
}

impl Reservation {
    /// Reserves `device` of the network namespace of this process, in the name of `by`, which others are told.
    ///
    /// # Errors
    /// When the kernel refuses for another reason than that it is taken.
    pub fn take(device: &str, by: &str) -> io::Result<Result<Self, Occupied>> {
        let name = format!("{PREFIX}{device}");
        match abstract_name::bind(&name) {
            Ok(lock) => Ok(Ok(Self { _lock: lock, _holder: abstract_name::tell(&name, by).ok() })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let by = abstract_name::told(&name).into_iter().next();
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
    fn a_device_is_taken_once_and_free_again_when_it_is_let_go() {
        let device = format!("test-{}", std::process::id());
        let first = Reservation::take(&device, "run one").expect("a socket").expect("nobody has it");
        let Err(Occupied { by }) = Reservation::take(&device, "two").expect("a socket") else {
            panic!("it was taken twice")
        };
        assert!(by.starts_with("run one (process ") && by.contains(&std::process::id().to_string()), "{by}");
        assert!(Reservation::take(&format!("{device}0"), "two").expect("a socket").is_ok(), "another device");
        drop(first);
        assert!(Reservation::take(&device, "two").expect("a socket").is_ok());
    }
}
