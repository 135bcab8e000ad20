//! Names a network namespace that another program created on this machine.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    /// A file that refers to the namespace, e.g. `/run/netns/blue`.
    Namespace {
        path: String,
    },
    Process {
        pid: u32,
    },
    /// A container of Docker or Podman, by name or ID.
    Container {
        name: String,
    },
    /// A pod on this Kubernetes node.
    Pod {
        namespace: String,
        name: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    #[error("`{text}` is not an endpoint; use {}", Endpoint::FORMS)]
    Unknown { text: String },
    #[error("`{text}` is not a process ID; use a positive number, e.g. pid:4711")]
    Pid { text: String },
    #[error("`{path}` is not an absolute path; use e.g. netns:/run/netns/blue")]
    RelativePath { path: String },
    #[error("`{text}` is not a container name or ID; use letters, digits, dots, dashes and underscores")]
    Container { text: String },
    #[error("`{text}` is not a pod; use its namespace and name, e.g. pod:default/web-0")]
    Pod { text: String },
}

impl Endpoint {
    pub const FORMS: &str =
        "local, netns:PATH, pid:N, container:NAME, pod:NAMESPACE/NAME, ssh:DESTINATION or member:NAME";

    #[must_use]
    pub fn short_name(&self) -> String {
        match self {
            Self::Namespace { path } => path.rsplit('/').next().unwrap_or(path).to_owned(),
            Self::Process { pid } => format!("pid-{pid}"),
            Self::Container { name } | Self::Pod { name, .. } => name.clone(),
        }
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let text = rest.to_owned();
        match kind {
            "netns" if rest.starts_with('/') => Ok(Self::Namespace { path: text }),
            "netns" => Err(EndpointError::RelativePath { path: text }),
            "pid" => match rest.parse() {
                Ok(pid) if pid > 0 && rest.bytes().all(|byte| byte.is_ascii_digit()) => {
                    Ok(Self::Process { pid })
                }
                _ => Err(EndpointError::Pid { text }),
            },
            "container" if is_name(rest) => Ok(Self::Container { name: text }),
            "container" => Err(EndpointError::Container { text }),
            "pod" => match rest.split_once('/') {
                Some((namespace, name)) if is_name(namespace) && is_name(name) => {
                    Ok(Self::Pod { namespace: namespace.to_owned(), name: name.to_owned() })
                }
                _ => Err(EndpointError::Pod { text }),
            },
            _ => Err(EndpointError::Unknown {
                text: format!("{kind}{}{rest}", if rest.is_empty() { "" } else { ":" }),
            }),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { path } => write!(f, "netns:{path}"),
            Self::Process { pid } => write!(f, "pid:{pid}"),
            Self::Container { name } => write!(f, "container:{name}"),
            Self::Pod { namespace, name } => write!(f, "pod:{namespace}/{name}"),
        }
    }
}

/// Names are passed to other programs, so they must not look like options or patterns.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= 253 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_formats_every_kind() {
        for (text, short) in [
            ("netns:/run/netns/blue", "blue"),
            ("pid:4711", "pid-4711"),
            ("container:web_1.a", "web_1.a"),
            ("pod:shop/cart-7d9", "cart-7d9"),
        ] {
            let endpoint: Endpoint = text.parse().expect(text);
            assert_eq!((endpoint.to_string().as_str(), endpoint.short_name().as_str()), (text, short));
        }
    }

    #[test]
    fn explains_invalid_words() {
        for (text, wanted) in [
            ("web", "`web` is not an endpoint; use local, netns:PATH"),
            ("host:web", "`host:web` is not an endpoint"),
            ("pid:0", "`0` is not a process ID"),
            ("pid:+1", "`+1` is not a process ID"),
            ("netns:blue", "`blue` is not an absolute path"),
            ("container:", "`` is not a container"),
            ("container:-f", "`-f` is not a container"),
            ("container:a b", "`a b` is not a container"),
            ("pod:web", "`web` is not a pod"),
            ("pod:a/b/c", "`a/b/c` is not a pod"),
            ("pod:a/.*", "`a/.*` is not a pod"),
        ] {
            let error = text.parse::<Endpoint>().expect_err(text).to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
