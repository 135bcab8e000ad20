//! What Firecracker is asked for: a request for each part of the machine, then its start. Source: the description of its
//! interface, src/firecracker/swagger/firecracker.yaml of Firecracker 1.17; what is asked for here is in 1.8 and later.

use protocol::guest::{VSOCK, VSOCK_PORT};
use scenario::Vm;
use serde_json::{Value, json};
use sys::MemoryFolder;

use super::tap::NamedTap;

/// The numbers of the descriptors that Firecracker inherits.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(super) enum Descriptor {
    Kernel = 10,
    /// The guest's image.
    Image,
    /// The folder of its sockets.
    Folder,
    /// What it never reads or writes, and closes when it ends.
    Life,
}

/// The socket by which the guest's could be reached, in the folder.
const VSOCK_FILE: &str = "guest.vsock";
/// The least number that a guest can have: lower ones are reserved.
const GUEST_CID: u32 = 3;
/// A panic restarts the guest at once, as its end does; Firecracker ends when a guest asks the keyboard's controller to
/// restart it (docs/api_requests/actions.md). It has one serial port, no mouse and no PCI to look for.
const KERNEL_ARGUMENTS: &str = "console=ttyS0 quiet panic=-1 rootfstype=ramfs reboot=k pci=off 8250.nr_uarts=1 i8042.noaux i8042.nomux i8042.dumbkbd";

/// The name, in the folder, of the socket that Firecracker connects to when the guest connects to the controller's port
/// (docs/vsock.md of Firecracker).
pub(super) fn host_socket() -> String {
    format!("{VSOCK_FILE}_{VSOCK_PORT}")
}

/// The path of a file of the folder for Firecracker.
pub(super) fn in_folder(file: &str) -> String {
    MemoryFolder::path_by(Descriptor::Folder as i32, file).display().to_string()
}

/// The requests that boot a guest, in order: paths, and what is put there.
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

/// Without rate limiters, nothing limits it. Its guest's agent gives it its MTU.
fn network_interface(tap: &NamedTap) -> (String, Value) {
    const ID: &str = "eth0";
    let mac: Vec<String> = tap.mac.iter().map(|byte| format!("{byte:02x}")).collect();
    let body = json!({ "iface_id": ID, "host_dev_name": tap.device, "guest_mac": mac.join(":") });
    (format!("/network-interfaces/{ID}"), body)
}
