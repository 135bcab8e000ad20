//! Errors from the kernel, including those for unsupported operations.

use std::{fmt, io};

use thiserror::Error;

/// Error numbers of architectures with the generic `errno.h`, such as x86-64.
pub(crate) mod errno {
    pub(crate) const EPERM: i32 = 1;
    pub(crate) const ENOENT: i32 = 2;
    pub(crate) const EACCES: i32 = 13;
    pub(crate) const EEXIST: i32 = 17;
    pub(crate) const ENODEV: i32 = 19;
    pub(crate) const EINVAL: i32 = 22;
    pub(crate) const EIO: i32 = 5;
    /// XFRM also reports a missing algorithm with this error.
    pub(crate) const ENOSYS: i32 = 38;
    pub(crate) const ENOPROTOOPT: i32 = 92;
    pub(crate) const EPROTONOSUPPORT: i32 = 93;
    pub(crate) const EOPNOTSUPP: i32 = 95;
    pub(crate) const EPFNOSUPPORT: i32 = 96;
    pub(crate) const EAFNOSUPPORT: i32 = 97;
    pub(crate) const EADDRINUSE: i32 = 98;
    pub(crate) const ENETUNREACH: i32 = 101;
    pub(crate) const EHOSTUNREACH: i32 = 113;
}
use errno::{
    EACCES, EADDRINUSE, EAFNOSUPPORT, EEXIST, EHOSTUNREACH, EIO, ENETUNREACH, ENOENT, ENOPROTOOPT, ENOSYS,
    EOPNOTSUPP, EPERM, EPFNOSUPPORT, EPROTONOSUPPORT,
};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Refusal {
    errno: i32,
    text: Option<Box<str>>,
}

impl Refusal {
    pub(crate) fn new(errno: i32, text: Option<String>) -> Self {
        Self { errno, text: text.map(String::into_boxed_str) }
    }

    #[must_use]
    pub fn errno(&self) -> i32 {
        self.errno
    }

    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self.errno,
            EOPNOTSUPP | ENOENT | ENOSYS | EAFNOSUPPORT | EPFNOSUPPORT | EPROTONOSUPPORT | ENOPROTOOPT
        )
    }

    #[must_use]
    pub fn is_permission(&self) -> bool {
        matches!(self.errno, EPERM | EACCES)
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self.errno, ENETUNREACH | EHOSTUNREACH)
    }

    pub(crate) fn remedy(&self) -> &'static str {
        match self.errno {
            EPERM | EACCES => "run as root, or in a user namespace (run `plumb doctor` for details)",
            _ if self.is_unsupported() => "this kernel does not support it; run `plumb doctor` for details",
            EEXIST | EADDRINUSE => {
                "it already exists, in the scenario or on an existing host; use another number, name or address"
            }
            _ if self.is_unreachable() => "give the host an address in the network of the next hop",
            _ => "check this part of the scenario; `plumb doctor` tests each capability separately",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let standard = io::Error::from_raw_os_error(self.errno).to_string();
        let standard = standard.split(" (os error").next().unwrap_or_default();
        match &self.text {
            Some(text) => write!(f, "{text} ({standard})"),
            None => f.write_str(standard),
        }
    }
}

impl From<nlink::Error> for Refusal {
    fn from(error: nlink::Error) -> Self {
        match error.errno() {
            Some(errno) => Self::new(errno.abs(), error.ext_ack().map(str::to_owned)),
            None => Self::new(EIO, Some(error.to_string())),
        }
    }
}

impl From<sys::Error> for Refusal {
    fn from(error: sys::Error) -> Self {
        Self::new(error.errno(), Some(error.to_string()))
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::new(error.raw_os_error().unwrap_or(EIO), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_kernel_message_first() {
        let refusal = Refusal::new(EOPNOTSUPP, Some("Unknown device type".into()));
        assert_eq!(refusal.to_string(), "Unknown device type (Not supported)");
        assert!(refusal.is_unsupported());
    }

    #[test]
    fn absent_algorithm_is_a_missing_feature() {
        assert!(Refusal::new(errno::ENOSYS, None).is_unsupported());
    }

    #[test]
    fn invalid_argument_is_not_a_missing_feature() {
        assert!(!Refusal::new(errno::EINVAL, None).is_unsupported());
    }
}
