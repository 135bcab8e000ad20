//! Tests guests that cannot start.

use std::fs;

use plumb_tests::Sandbox;

use crate::{remains::processes, sandbox};

fn check(sandbox: &Sandbox, flags: &[&str], status: i32, printed: &[&str]) {
    let output = sandbox.plumb(&[&["vm", "run"], flags].concat());
    assert_eq!(output.status, Some(status), "{flags:?}: {output:?}");
    for printed in printed {
        assert!(output.err.contains(printed), "{flags:?}: `{printed}` is not in {}", output.err);
    }
    assert!(processes(sandbox).is_empty());
}

fn claimed(sandbox: &Sandbox, name: &str) -> String {
    let mut kernel = vec![0_u8; 4096];
    kernel[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    kernel[0x202..0x206].copy_from_slice(b"HdrS");
    let path = sandbox.home().join(name);
    fs::write(&path, kernel).expect("the sandbox can be written");
    path.to_str().expect("temporary folders have plain names").to_owned()
}

fn installed() -> String {
    let kernel = machine::Kernel::installed().expect("a kernel is installed");
    kernel.image.to_str().expect("kernels have plain names").to_owned()
}

fn no_modules(sandbox: &Sandbox) -> String {
    let folder = sandbox.home().join("modules");
    fs::create_dir(&folder).expect("the sandbox can be written");
    let names = ["virtio_pci", "virtio_mmio", "virtio_console", "virtio_net"];
    for name in names {
        fs::write(folder.join(format!("{name}.ko")), "no module").expect("the sandbox can be written");
    }
    let list: String = names.iter().map(|name| format!("{name}.ko:\n")).collect();
    fs::write(folder.join("modules.dep"), list).expect("the sandbox can be written");
    folder.to_str().expect("temporary folders have plain names").to_owned()
}

pub(crate) fn refuses_invalid_flags() {
    let sandbox = sandbox();
    let (unnamed, named) = (claimed(&sandbox, "kernel"), claimed(&sandbox, "vmlinuz-0.0.0-none"));
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["--kernel", "/etc/passwd"], 64, &["/etc/passwd is not a bootable x86 kernel"]),
        (&["--kernel", &unnamed], 64, &["--modules"]),
        (&["--kernel", &named], 1, &["/lib/modules/0.0.0-none/modules.dep"]),
        (&["--kernel", "/nonexistent"], 1, &["cannot read the kernel /nonexistent"]),
        (&["--kernel", "0.1"], 64, &["no kernel 0.1 is installed", "-cloud-"]),
        (&["--modules", "/nonexistent"], 64, &["--kernel"]),
        (&["--memory", "64M"], 64, &["--memory 64", "at least 192 MiB"]),
        (&["--vcpus", "0"], 64, &["--vcpus"]),
        (&["--vcpus", "256"], 64, &["--vcpus"]),
        (&["--board", "pc"], 64, &["q35", "microvm"]),
    ];
    for (flags, status, printed) in cases {
        check(&sandbox, flags, *status, printed);
    }
}

pub(crate) fn shows_a_panic() {
    let sandbox = sandbox();
    let (kernel, modules) = (installed(), no_modules(&sandbox));
    let output = sandbox.plumb(&["vm", "run", "--kernel", &kernel, "--modules", &modules]);
    assert_eq!(output.status, Some(1), "{output:?}");
    for printed in [
        "lost the agent of host guest",
        "plumb agent: cannot load kernel module /modules/virtio_pci.ko",
        "Kernel panic - not syncing",
        "QEMU: SHUTDOWN (guest-reset)",
        "--modules",
    ] {
        assert!(output.err.contains(printed), "`{printed}` is not in {}", output.err);
    }
    assert!(!output.err.contains("TCG doesn't support"), "{}", output.err);
    assert!(processes(&sandbox).is_empty());
    let program = sandbox.home().join("vmlinuz-program");
    fs::copy(env!("CARGO_BIN_EXE_plumb"), &program).expect("the sandbox can be written");
    let program = program.to_str().expect("temporary folders have plain names");
    check(
        &sandbox,
        &["--kernel", program, "--modules", &modules],
        1,
        &["cannot start virtual machine guest", "QEMU exited with status 1"],
    );
}

pub(crate) fn kvm_is_checked() {
    let sandbox = sandbox();
    let checks = sandbox.plumb(&["doctor", "--json"]).out;
    let checks: serde_json::Value = serde_json::from_str(&checks).expect("a JSON document");
    let checks = checks["checks"].as_array().expect("a list");
    let kvm = checks.iter().find(|check| check["id"] == "kvm").expect("it is checked");
    if kvm["status"] == "works" {
        let _ = sandbox.succeed(&["vm", "run", "--accel", "kvm"]);
    } else {
        check(&sandbox, &["--accel", "kvm"], 3, &["KVM does not work", "/dev/kvm", "--accel tcg"]);
    }
}

pub(crate) fn names_a_missing_monitor() {
    let sandbox = sandbox();
    let mut command = sandbox.command(&["vm", "run", "--accel", "tcg"]);
    let output = command.env("PATH", sandbox.home()).output().expect("plumb was built");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("apt-get install qemu-system-x86"), "{printed}");
}
