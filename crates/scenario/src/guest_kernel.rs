//! The guest kernel, as specified by the user.

use std::{convert::Infallible, fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestKernel {
    #[default]
    Newest,
    /// The newest installed kernel of this release or series, e.g. `6.12`.
    Release(String),
    File(PathBuf),
}

impl FromStr for GuestKernel {
    type Err = Infallible;

    /// Text that starts with a digit and contains no `/` is a release. Write `./6.12` for a file with such a
    /// name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_release = text.starts_with(|letter: char| letter.is_ascii_digit()) && !text.contains('/');
        Ok(if text == "newest" {
            Self::Newest
        } else if is_release {
            Self::Release(text.to_owned())
        } else {
            Self::File(text.into())
        })
    }
}

impl fmt::Display for GuestKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest => f.write_str("newest"),
            Self::Release(release) => f.write_str(release),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_releases_and_files() {
        assert_eq!("newest".parse(), Ok(GuestKernel::Newest));
        for text in ["6.1", "6.12.117+deb12-cloud-amd64", "6"] {
            assert_eq!(text.parse(), Ok(GuestKernel::Release(text.to_owned())));
        }
        for text in ["/boot/vmlinuz-6.1", "./6.1", "bzImage"] {
            let kernel: GuestKernel = text.parse().expect("any text is a release or a file");
            assert_eq!((&kernel, kernel.to_string().as_str()), (&GuestKernel::File(text.into()), text));
        }
    }
}
