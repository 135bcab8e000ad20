//! How the kernel and the machine call themselves. See uname(2).

/// The release of the running kernel, such as `6.18.0`.
#[must_use]
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// The architecture of the machine, such as `x86_64`.
#[must_use]
pub fn machine() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

/// The name of the machine.
#[must_use]
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_running_kernel() {
        assert_eq!(machine(), std::env::consts::ARCH);
        let first = kernel_release().split('.').next().map(str::parse::<u32>);
        assert!(matches!(first, Some(Ok(major)) if major >= 3), "{}", kernel_release());
        assert!(!hostname().is_empty());
    }
}
