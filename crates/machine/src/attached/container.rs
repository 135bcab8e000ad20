//! Containers of Docker and Podman, found with the JSON output of `docker inspect` and `podman inspect`.

use serde::Deserialize;
use sys::process::{self, Process};

use super::{
    AttachError, Running,
    runtime::{self, Answer},
};

const RUNTIMES: [&str; 2] = ["docker", "podman"];
const RUNNING: &str = "running";

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    id: String,
    state: State,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct State {
    status: String,
    pid: u32,
}

pub(super) fn find(name: &str) -> Result<Running, AttachError> {
    let arguments = ["inspect", "--type", "container", name];
    let mut found: Vec<(&'static str, Inspected)> = Vec::new();
    let mut failure = None;
    let mut answered = Vec::new();
    for program in RUNTIMES {
        match runtime::ask::<Vec<Inspected>>(program, &arguments)? {
            Answer::NotInstalled => {}
            Answer::Failed(reason) if is_unknown(&reason) => answered.push(program),
            Answer::Failed(reason) => failure = Some((program, reason)),
            Answer::Found(containers) => found.extend(containers.into_iter().map(|one| (program, one))),
        }
    }
    // `docker` may be a wrapper for `podman`.
    found.dedup_by(|(_, second), (_, first)| second.id == first.id);
    match &found[..] {
        [(_, container)] => running(name, container).and_then(|it| on_this_machine(name, it)),
        [(first, _), (second, _), ..] => Err(AttachError::Ambiguous { name: name.to_owned(), first, second }),
        [] if answered.is_empty() => Err(failure.map_or(AttachError::NoRuntime, |(program, reason)| {
            runtime::failed(program, &arguments, &reason)
        })),
        [] => {
            let failed = failure.map(|(program, reason)| {
                format!("; {program} did not answer: {}", runtime::last_line(&reason))
            });
            let running = list(&answered) + &failed.unwrap_or_default();
            Err(AttachError::NoContainer { name: name.to_owned(), running })
        }
    }
}

fn running(name: &str, Inspected { id, state }: &Inspected) -> Result<Running, AttachError> {
    if state.status != RUNNING || state.pid == 0 {
        return Err(AttachError::NotRunning { name: name.to_owned(), status: state.status.clone() });
    }
    Ok(Running { id: id.clone(), pid: state.pid })
}

/// Fails if the container runs on another machine. With `DOCKER_HOST`, for example, a runtime's client prints a PID
/// of another machine. A container's cgroup path contains its ID, except for rootless containers without cgroups.
fn on_this_machine(name: &str, running: Running) -> Result<Running, AttachError> {
    let process = Process::running(running.pid).ok().flatten();
    let groups = process.and_then(|process| process.read("cgroup").ok()).unwrap_or_default();
    if process::user() != 0 || groups.contains(&running.id) {
        return Ok(running);
    }
    Err(AttachError::Elsewhere { name: name.to_owned(), pid: running.pid })
}

fn is_unknown(reason: &str) -> bool {
    reason.to_ascii_lowercase().contains("no such")
        && !reason.contains("no such file")
        && !reason.contains("Cannot connect")
}

fn list(programs: &[&'static str]) -> String {
    let names: Vec<String> = programs
        .iter()
        .flat_map(|program| runtime::lines(program, &["ps", "--format", "{{.Names}}"]))
        .collect();
    if names.is_empty() {
        "; no container is running".to_owned()
    } else {
        format!("; running: {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inspected(json: &str) -> Result<Running, String> {
        let all: Vec<Inspected> = serde_json::from_str(json).expect("a list of containers");
        running("web", &all[0]).map_err(|error| error.to_string())
    }

    /// Shortened output of Docker 20.10 and Podman 4.3.
    #[test]
    fn reads_pid_of_running_container() {
        let docker = r#"[{"Id":"4e1c","Created":"2026-11-27T10:00:00Z","State":{"Status":"running","Running":true,
            "Paused":false,"Restarting":false,"Pid":4711},"Name":"/web"}]"#;
        let podman = r#"[{"Id":"4e1c","State":{"OciVersion":"1.0.2-dev","Status":"running","Running":true,"Pid":4711,
            "ConmonPid":4709},"Name":"web"}]"#;
        for json in [docker, podman] {
            assert_eq!(inspected(json), Ok(Running { id: "4e1c".to_owned(), pid: 4711 }));
        }
        for status in ["exited", "created", "restarting"] {
            let json = format!(r#"[{{"Id":"4e1c","State":{{"Status":"{status}","Pid":0}}}}]"#);
            let error = inspected(&json).expect_err("not running");
            assert!(error.contains(&format!("container `web` is {status}, not running")), "{error}");
        }
    }

    #[test]
    fn rejects_process_of_another_machine() {
        let of = |id: &str| Running { id: id.to_owned(), pid: std::process::id() };
        let groups = std::fs::read_to_string("/proc/self/cgroup").expect("readable");
        assert!(on_this_machine("web", of(groups.lines().next().expect("a cgroup"))).is_ok());
        let error = on_this_machine("web", of("4e1c0ffee")).map_err(|error| error.to_string());
        if process::user() == 0 {
            assert!(error.is_err_and(|error| error.contains("run plumb on the container's machine")));
        }
    }

    #[test]
    fn distinguishes_unknown_container_from_failing_runtime() {
        for (output, unknown) in [
            ("Error: No such container: web", true),
            ("Error: no such container web", true),
            ("Error: inspecting object: no such container web", true),
            (
                "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
                false,
            ),
            ("dial unix /run/docker.sock: connect: no such file or directory", false),
            ("permission denied while trying to connect to the Docker daemon socket", false),
        ] {
            assert_eq!(is_unknown(output), unknown, "{output}");
        }
    }
}
