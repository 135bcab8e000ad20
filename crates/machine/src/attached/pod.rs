//! Pods on this Kubernetes node, found with the JSON output of `crictl`.

use serde::Deserialize;

use super::{
    AttachError, Running,
    runtime::{self, Answer},
};

const CRICTL: &str = "crictl";

#[derive(Debug, Deserialize)]
struct Pods {
    #[serde(default)]
    items: Vec<Sandbox>,
}

#[derive(Debug, Deserialize)]
struct Sandbox {
    id: String,
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: String,
    namespace: String,
}

#[derive(Debug, Deserialize)]
struct Inspected {
    info: Info,
}

#[derive(Debug, Deserialize)]
struct Info {
    /// The first process of the sandbox, usually `pause`.
    pid: u32,
}

pub(super) fn find(namespace: &str, name: &str) -> Result<Running, AttachError> {
    let pods: Pods = ask(&["pods", "--state", "ready", "--output", "json"])?;
    let is_wanted = |pod: &&Sandbox| pod.metadata.name == name && pod.metadata.namespace == namespace;
    let Some(pod) = pods.items.iter().find(is_wanted) else {
        return Err(AttachError::NoPod {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            running: list(&pods.items),
        });
    };
    let inspected: Inspected = ask(&["inspectp", "--output", "json", &pod.id])?;
    Ok(Running { id: pod.id.clone(), pid: inspected.info.pid })
}

fn ask<T: serde::de::DeserializeOwned>(arguments: &[&str]) -> Result<T, AttachError> {
    match runtime::ask(CRICTL, arguments)? {
        Answer::NotInstalled => Err(AttachError::NoCrictl),
        Answer::Failed(reason) => Err(runtime::failed(CRICTL, arguments, &reason)),
        Answer::Found(found) => Ok(found),
    }
}

fn list(pods: &[Sandbox]) -> String {
    let names: Vec<String> =
        pods.iter().map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name)).collect();
    if names.is_empty() { "; no pod is ready".to_owned() } else { format!("; ready: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortened output of crictl 1.37 with containerd 1.6.
    #[test]
    fn reads_crictl_output() {
        let pods: Pods = serde_json::from_str(
            r#"{"items":[{"id":"9f2","metadata":{"name":"cart-7d9","uid":"u","namespace":"shop","attempt":0},
            "state":"SANDBOX_READY","createdAt":"1","labels":{},"annotations":{},"runtimeHandler":""}]}"#,
        )
        .expect("a list of pods");
        assert_eq!(list(&pods.items), "; ready: shop/cart-7d9");
        let inspected: Inspected =
            serde_json::from_str(r#"{"status":{"id":"9f2"},"info":{"pid":4711,"processStatus":"running"}}"#)
                .expect("a sandbox");
        assert_eq!(inspected.info.pid, 4711);
        let none: Pods = serde_json::from_str(r#"{"items":[]}"#).expect("no pods");
        assert_eq!(list(&none.items), "; no pod is ready");
    }
}
