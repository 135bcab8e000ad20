//! The part of Firecracker's API used to boot a machine. Source: src/firecracker/swagger/firecracker.yaml of
//! Firecracker 1.17.

pub(crate) struct Operation {
    /// `{}` is a placeholder for a name.
    pub(crate) path: &'static str,
    pub(crate) body: &'static [Property],
    pub(crate) when_running: bool,
}

pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Boolean,
    Integer(i64, i64),
    Word(&'static [&'static str]),
    Object(&'static [Property]),
}

const ANY: Kind = Kind::Integer(0, i64::MAX);

const fn required(name: &'static str, kind: Kind) -> Property {
    Property { name, required: true, kind }
}

const fn optional(name: &'static str, kind: Kind) -> Property {
    Property { name, required: false, kind }
}

const fn before_the_start(path: &'static str, body: &'static [Property]) -> Operation {
    Operation { path, body, when_running: false }
}

const TOKEN_BUCKET: &[Property] =
    &[required("size", ANY), required("refill_time", ANY), optional("one_time_burst", ANY)];

const RATE_LIMITER: &[Property] =
    &[optional("bandwidth", Kind::Object(TOKEN_BUCKET)), optional("ops", Kind::Object(TOKEN_BUCKET))];

const MACHINE_CONFIGURATION: &[Property] = &[
    required("vcpu_count", Kind::Integer(1, 32)),
    required("mem_size_mib", ANY),
    optional("smt", Kind::Boolean),
    optional("track_dirty_pages", Kind::Boolean),
    optional("huge_pages", Kind::Word(&["None", "Transparent", "2M"])),
    optional("cpu_template", Kind::Word(&["C3", "T2", "T2S", "T2CL", "T2A", "V1N1", "None"])),
];

const BOOT_SOURCE: &[Property] = &[
    required("kernel_image_path", Kind::Text),
    optional("initrd_path", Kind::Text),
    optional("boot_args", Kind::Text),
];

const NETWORK_INTERFACE: &[Property] = &[
    required("iface_id", Kind::Text),
    required("host_dev_name", Kind::Text),
    optional("guest_mac", Kind::Text),
    optional("mtu", Kind::Integer(68, 65_535)),
    optional("rx_rate_limiter", Kind::Object(RATE_LIMITER)),
    optional("tx_rate_limiter", Kind::Object(RATE_LIMITER)),
];

const VSOCK: &[Property] = &[
    required("guest_cid", Kind::Integer(3, u32::MAX as i64)),
    required("uds_path", Kind::Text),
    optional("vsock_id", Kind::Text),
];

const BALLOON: &[Property] = &[
    required("amount_mib", ANY),
    required("deflate_on_oom", Kind::Boolean),
    optional("stats_polling_interval_s", ANY),
    optional("free_page_hinting", Kind::Boolean),
    optional("free_page_reporting", Kind::Boolean),
];

const ACTION: &[Property] =
    &[required("action_type", Kind::Word(&["FlushMetrics", "InstanceStart", "SendCtrlAltDel"]))];

pub(crate) const OPERATIONS: &[Operation] = &[
    before_the_start("/machine-config", MACHINE_CONFIGURATION),
    before_the_start("/boot-source", BOOT_SOURCE),
    before_the_start("/network-interfaces/{}", NETWORK_INTERFACE),
    before_the_start("/vsock", VSOCK),
    before_the_start("/balloon", BALLOON),
    Operation { path: "/actions", body: ACTION, when_running: true },
];
