//! The requirements of tests. An unmet requirement skips the test and prints the reason.

use std::{
    collections::BTreeSet,
    path::Path,
    process::ExitCode,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::postgres_server;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Root,
    /// Root that can switch to other users. A user namespace that maps only one user does not suffice.
    OtherUsers,
    Program(&'static str, &'static str),
    Release(&'static str, &'static str),
    Cpus(usize),
    File(&'static str, &'static str),
    GuestKernel,
    /// The test runs on each installed kernel series, e.g. 6.1 and 6.12, unless `PLUMB_GUEST_KERNEL` is set.
    EachGuestKernel,
    /// A line of the kernel's configuration, and the kernel's Debian package.
    GuestKernelWith(&'static str, &'static str),
    PostgresServer,
}

impl Need {
    pub const BTF: Self = Self::File("/sys/kernel/btf/vmlinux", "a kernel with BTF");

    #[must_use]
    pub fn unmet(self) -> Option<String> {
        match self {
            Self::Root if !is_root() => Some("needs root".to_owned()),
            Self::OtherUsers if !(is_root() && has_other_users()) => {
                Some("needs root that can switch to other users".to_owned())
            }
            Self::Program(program, package) if !is_on_path(program) => {
                Some(format!("needs {program} (apt-get install {package})"))
            }
            Self::Release(program, place) if !is_on_path(program) => {
                Some(format!("needs {program} (a release of {place}, on the PATH)"))
            }
            Self::File(path, what) if !Path::new(path).exists() => Some(format!("needs {what} ({path})")),
            Self::GuestKernel | Self::EachGuestKernel if kernels().next().is_none() => {
                Some("needs a kernel for guests (apt-get install linux-image-cloud-amd64)".to_owned())
            }
            Self::GuestKernelWith(line, package)
                if !kernels().any(|release| is_built_with(&release, line)) =>
            {
                Some(format!("needs a kernel for guests with {line} (apt-get install {package})"))
            }
            Self::PostgresServer => postgres_server::unmet(),
            Self::Cpus(count) if cpus() < count => {
                Some(format!("needs {count} CPUs, but this machine has {}", cpus()))
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub needs: &'static [Need],
    pub test: fn(),
}

/// Passes if one of three attempts passes, because other work may disturb them.
pub fn in_one_of_three(test: fn()) {
    let disturbed = (0..2).all(|_| std::panic::catch_unwind(test).is_err());
    if disturbed {
        test();
    }
}

#[must_use]
pub fn run(cases: &[Case]) -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Tests run one at a time, because labs share the machine's two CPUs and leftovers are counted.
    arguments.test_threads = Some(1);
    let older = older_series();
    let trials = cases.iter().flat_map(|case| {
        let each = case.needs.contains(&Need::EachGuestKernel);
        let older = older.iter().filter(move |_| each).map(Some);
        std::iter::once(None).chain(older).map(|series| trial(case, series, arguments.list))
    });
    let trials = trials.collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    for (name, seconds) in TOOK.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("took {seconds} s: {name}");
    }
    conclusion.exit_code()
}

static TOOK: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());

#[must_use]
pub fn guest_kernel() -> Option<String> {
    let chosen = GUEST_KERNEL.lock().unwrap_or_else(PoisonError::into_inner).clone();
    chosen.or_else(|| std::env::var(GUEST_KERNEL_VARIABLE).ok())
}

static GUEST_KERNEL: Mutex<Option<String>> = Mutex::new(None);
pub const GUEST_KERNEL_VARIABLE: &str = "PLUMB_GUEST_KERNEL";

fn trial(case: &Case, series: Option<&String>, only_list: bool) -> Trial {
    let name = series.map_or_else(|| case.name.to_owned(), |series| format!("{}_on_{series}", case.name));
    let unmet = case.needs.iter().find_map(|need| need.unmet());
    if let (Some(reason), false) = (&unmet, only_list) {
        println!("skipped: {name}: {reason}");
    }
    let (test, series, timed) = (case.test, series.cloned(), name.clone());
    Trial::test(name, move || {
        *GUEST_KERNEL.lock().unwrap_or_else(PoisonError::into_inner) = series;
        let began = Instant::now();
        let outcome = std::panic::catch_unwind(test);
        TOOK.lock().unwrap_or_else(PoisonError::into_inner).push((timed, began.elapsed().as_secs()));
        outcome.map_err(|panic| Failed::from(message(panic.as_ref())))
    })
    .with_ignored_flag(unmet.is_some())
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

pub(crate) fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("Uid:"))
        .and_then(|ids| ids.split_whitespace().nth(1));
    effective == Some("0")
}

pub(crate) fn has_other_users() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace()
        .nth(2)
        .and_then(|count| count.parse().ok())
        .is_some_and(|count: u64| count > 65_534)
}

fn is_on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let places =
        std::env::split_paths(&folders).chain([Path::new("/usr/sbin").into(), Path::new("/sbin").into()]);
    places.into_iter().any(|folder| folder.join(program).is_file())
}

fn kernels() -> impl Iterator<Item = String> {
    let kernels = std::fs::read_dir("/boot").into_iter().flatten().filter_map(Result::ok);
    let names = kernels.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| name.strip_prefix("vmlinuz-").map(str::to_owned))
        .filter(|release| Path::new("/lib/modules").join(release).join("modules.dep").is_file())
}

#[must_use]
pub fn guest_kernel_series() -> Vec<String> {
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
    let mut all = BTreeSet::new();
    for release in kernels() {
        let mut parts = release.split('.');
        if let (Some(major), Some(minor)) = (number(parts.next()), number(parts.next())) {
            all.insert((major, minor));
        }
    }
    all.into_iter().map(|(major, minor)| format!("{major}.{minor}")).collect()
}

/// Returns all series except for the newest (plumb's default), or none if the environment selects a kernel.
fn older_series() -> Vec<String> {
    let mut all = guest_kernel_series();
    all.pop();
    if std::env::var_os(GUEST_KERNEL_VARIABLE).is_some() { Vec::new() } else { all }
}

fn is_built_with(release: &str, line: &str) -> bool {
    let config = std::fs::read_to_string(format!("/boot/config-{release}")).unwrap_or_default();
    config.lines().any(|its| its == line)
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
