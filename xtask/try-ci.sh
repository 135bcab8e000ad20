#!/usr/bin/env bash
# Runs the scripts of action.yml and deploy/gitlab/plumb.yml twice in an empty root: without a baseline, and with the
# first run as the baseline. junitparser reads their JUnit files.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-musl/debug/plumb
[ -x "$program" ] || { echo "there is no build to try: cargo build --bin plumb" >&2; exit 1; }
root=$work/root
mkdir -p "$root/"{bin,release,tmp,runner,proc,sys,action/xtask,scripts}
xtask/package.sh tar "$root/release" "x86_64=$program" >/dev/null
(cd "$root/release" && sha256sum -- * >SHA256SUMS)
cp xtask/install.sh "$root/release/"
cp xtask/install.sh "$root/action/xtask/"
cp "$(command -v busybox)" "$root/bin/"
chroot "$root" /bin/busybox --install -s /bin

xtask/setup.sh /usr/share/doc/python3-venv:python3-venv
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check junitparser==5.0.3 pyyaml==6.0.4
"$work/venv/bin/python" - "$root/scripts" <<'PYTHON'
import pathlib, shlex, sys, yaml
folder = pathlib.Path(sys.argv[1])
def write(name, variables, script):
    lines = [f"export {key}={shlex.quote(str(value))}" for key, value in variables.items()]
    (folder / name).write_text("\n".join(["set -e", *lines, script]))
given = {"release": "/release", "flags": "--trials 5 --path vxlan-to-vxlan"}
for name, baseline in ("first", ""), ("second", "/job/first.json"):
    action = yaml.safe_load(pathlib.Path("action.yml").read_text())
    inputs = {key: value.get("default", "") for key, value in action["inputs"].items()} | given | {"baseline": baseline}
    for number, step in enumerate(step for step in action["runs"]["steps"] if "run" in step):
        variables = {key: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")] for key, value in step["env"].items()}
        assert step["shell"] == "sh" and "${{" not in step["run"], step
        write(f"github-{name}-{number}", variables, step["run"])
    job = yaml.safe_load(pathlib.Path("deploy/gitlab/plumb.yml").read_text())["plumb"]
    variables = job["variables"] | {"PLUMB_RELEASE": "/release", "PLUMB_FLAGS": given["flags"], "PLUMB_BASELINE": baseline}
    write(f"gitlab-{name}", variables, "\n".join(job["script"]))
PYTHON

# Arguments: the job's folder and scripts.
job() {
    unshare --mount bash -euc 'root=$0 folder=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        for script; do
            path=/bin:$([ ! -e "$root/runner/path" ] || tr "\n" : <"$root/runner/path")
            chroot "$root" /bin/env -i PATH="$path" HOME=/tmp RUNNER_TEMP=/runner GITHUB_ACTION_PATH=/action \
                GITHUB_PATH=/runner/path GITHUB_STEP_SUMMARY="$folder/summary.md" \
                sh -c "cd $folder && sh /scripts/$script"
        done' "$root" "$@"
}
for service in github gitlab; do
    rm -rf "$root/job" "$root/runner/path"
    mkdir "$root/job"
    for round in first second; do
        scripts=("$service-$round")
        [ "$service" = gitlab ] || scripts=("$service-$round-"{0,1,2})
        status=0
        job /job "${scripts[@]}" >"$work/log" 2>&1 || status=$?
        # An undecided check is a warning.
        case $status in 0 | 2) ;; *) echo "$service exited with $status: $(cat "$work/log")" >&2 && exit 1 ;; esac
        [ "$round" = second ] || mv "$root/job/plumb/run.json" "$root/job/first.json"
        [ "$round" = second ] || rm -r "$root/job/plumb"
    done
    "$work/venv/bin/python" - "$root/job/plumb/check.xml" <<'PYTHON'
import junitparser, sys
suites = junitparser.JUnitXml.fromfile(sys.argv[1])
cases = [case for suite in suites for case in suite]
written = (suites.tests, suites.failures, suites.errors, suites.skipped)
suites.update_statistics()
assert written == (suites.tests, suites.failures, suites.errors, suites.skipped) and suites.errors == 0, written
assert len(cases) == 4 and all(case.name and case.classname == "quick" for case in cases), cases
print(f"{sys.argv[1]}: {written[0]} test cases, {written[1]} failed, {written[3]} undecided")
PYTHON
    test -s "$root/job/plumb/report.html"
done
