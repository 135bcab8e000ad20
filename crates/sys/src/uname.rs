//! Names of the kernel and the machine.

#[must_use]
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

#[must_use]
pub fn machine() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

#[must_use]
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_names_of_the_running_kernel() {
        assert_eq!(machine(), std::env::consts::ARCH);
        let first = kernel_release().split('.').next().map(str::parse::<u32>);
        assert!(matches!(first, Some(Ok(major)) if major >= 3), "{}", kernel_release());
        assert!(!hostname().is_empty());
    }
}
