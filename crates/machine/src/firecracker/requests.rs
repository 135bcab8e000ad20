//! The API requests that configure and start a machine, available since Firecracker 1.8. Source:
//! src/firecracker/swagger/firecracker.yaml of version 1.17.

use protocol::guest::{VSOCK, VSOCK_PORT};
use scenario::Vm;
use serde_json::{Value, json};
use sys::MemoryFolder;

use super::tap::NamedTap;

#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(super) enum Descriptor {
    Kernel = 10,
    Image,
    Folder,
    Life,
}

const VSOCK_FILE: &str = "guest.vsock";
/// Lower CIDs are reserved.
const GUEST_CID: u32 = 3;
/// A panic reboots the guest, and Firecracker exits when a guest asks the keyboard controller for a reboot
/// (docs/api_requests/actions.md).
const KERNEL_ARGUMENTS: &str = "console=ttyS0 quiet panic=-1 rootfstype=ramfs reboot=k pci=off 8250.nr_uarts=1 i8042.noaux i8042.nomux i8042.dumbkbd";

/// When the guest connects to the controller's port, Firecracker connects to this socket (docs/vsock.md of
/// Firecracker).
pub(super) fn host_socket() -> String {
    format!("{VSOCK_FILE}_{VSOCK_PORT}")
}

pub(super) fn in_folder(file: &str) -> String {
    MemoryFolder::path_by(Descriptor::Folder as i32, file).display().to_string()
}

pub(super) fn to_boot(vm: &Vm, tap: Option<&NamedTap>) -> Vec<(String, Value)> {
    let inherited = |descriptor: Descriptor| format!("/proc/self/fd/{}", descriptor as i32);
    let machine = json!({ "vcpu_count": vm.vcpus, "mem_size_mib": vm.memory.0 >> 20 });
    let boot = json!({
        "kernel_image_path": inherited(Descriptor::Kernel),
        "initrd_path": inherited(Descriptor::Image),
        "boot_args": format!("{KERNEL_ARGUMENTS} {VSOCK}={VSOCK_PORT}"),
    });
    let vsock = json!({ "guest_cid": GUEST_CID, "uds_path": in_folder(VSOCK_FILE) });
    let mut requests = vec![
        ("/machine-config".to_owned(), machine),
        ("/boot-source".to_owned(), boot),
        ("/vsock".to_owned(), vsock),
    ];
    requests.extend(tap.map(network_interface));
    requests.push(("/actions".to_owned(), json!({ "action_type": "InstanceStart" })));
    requests
}

fn network_interface(tap: &NamedTap) -> (String, Value) {
    const ID: &str = "eth0";
    let mac: Vec<String> = tap.mac.iter().map(|byte| format!("{byte:02x}")).collect();
    let body = json!({ "iface_id": ID, "host_dev_name": tap.device, "guest_mac": mac.join(":") });
    (format!("/network-interfaces/{ID}"), body)
}
