//! The error type of this crate: an operation, an object and the kernel's error.

use std::io;

use thiserror::Error;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot {operation} {object}: {}{}", describe(*errno), suffix(hint.as_deref()))]
pub struct Error {
    pub operation: &'static str,
    pub object: String,
    errno: i32,
    hint: Option<String>,
}

impl Error {
    pub(crate) fn new(operation: &'static str, object: impl Into<String>, errno: i32) -> Self {
        Self { operation, object: object.into(), errno, hint: None }
    }

    pub(crate) fn from_io(operation: &'static str, object: impl Into<String>, error: &io::Error) -> Self {
        Self::new(operation, object, error.raw_os_error().unwrap_or(libc::EIO))
    }

    pub(crate) fn last(operation: &'static str, object: impl Into<String>) -> Self {
        Self::from_io(operation, object, &io::Error::last_os_error())
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub const fn errno(&self) -> i32 {
        self.errno
    }

    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    #[must_use]
    pub const fn is_unsupported(&self) -> bool {
        matches!(
            self.errno,
            libc::EOPNOTSUPP
                | libc::EPROTONOSUPPORT
                | libc::ENOENT
                | libc::EAFNOSUPPORT
                | libc::ENOSYS
                | libc::ENOPROTOOPT
        )
    }

    #[must_use]
    pub const fn exists_already(&self) -> bool {
        self.errno == libc::EEXIST
    }

    #[must_use]
    pub const fn is_gone(&self) -> bool {
        self.errno == libc::ESRCH
    }

    #[must_use]
    pub const fn is_permission(&self) -> bool {
        matches!(self.errno, libc::EPERM | libc::EACCES)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(Self::from_raw_os_error(error.errno).kind(), error)
    }
}

pub(crate) trait Context<T> {
    fn named<O: Into<String>>(self, operation: &'static str, object: impl FnOnce() -> O) -> Result<T>;
}

impl<T> Context<T> for rustix::io::Result<T> {
    fn named<O: Into<String>>(self, operation: &'static str, object: impl FnOnce() -> O) -> Result<T> {
        self.map_err(|errno| Error::new(operation, object(), errno.raw_os_error()))
    }
}

impl<T> Context<T> for io::Result<T> {
    fn named<O: Into<String>>(self, operation: &'static str, object: impl FnOnce() -> O) -> Result<T> {
        self.map_err(|error| Error::from_io(operation, object(), &error))
    }
}

fn suffix(hint: Option<&str>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}

fn describe(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    match name(errno) {
        Some(name) => format!("{text} ({name})"),
        None => format!("{text} (errno {errno})"),
    }
}

macro_rules! names {
    ($($name:ident)*) => {
        /// musl lacks `strerrorname_np`.
        fn name(errno: i32) -> Option<&'static str> {
            match errno {
                $(libc::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

names! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST
    EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE
    EDOM ERANGE EDEADLK ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP EPROTO EOVERFLOW EUSERS ENOTSOCK EDESTADDRREQ
    EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EAFNOSUPPORT EADDRINUSE
    EADDRNOTAVAIL ENETDOWN ENETUNREACH ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ETIMEDOUT
    ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_contains_operation_object_reason_and_symbol() {
        let error = Error::new("enter network namespace of", "host node1", libc::EPERM);
        assert_eq!(
            error.to_string(),
            "cannot enter network namespace of host node1: Operation not permitted (EPERM)"
        );
        assert!(error.is_permission() && !error.is_unsupported());
    }

    #[test]
    fn hint_follows_the_reason() {
        let error = Error::new("create", "x", libc::ENOSPC).with_hint("look there");
        assert!(error.to_string().ends_with("(ENOSPC); look there"), "{error}");
    }

    #[test]
    fn prints_unknown_errno_as_a_number() {
        assert!(Error::new("do", "x", 4095).to_string().ends_with("(errno 4095)"));
    }

    #[test]
    fn io_error_preserves_kind_and_message() {
        let error = io::Error::from(Error::new("open", "x", libc::ENOENT));
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("cannot open x"));
    }

    #[test]
    fn missing_kernel_features_are_unsupported() {
        for errno in [
            libc::EOPNOTSUPP,
            libc::EPROTONOSUPPORT,
            libc::ENOENT,
            libc::EAFNOSUPPORT,
            libc::ENOSYS,
            libc::ENOPROTOOPT,
        ] {
            assert!(Error::new("try", "it", errno).is_unsupported(), "{errno}");
        }
        assert!(!Error::new("try", "it", libc::EINVAL).is_unsupported());
    }
}
