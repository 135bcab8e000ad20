//! The kinds of network devices.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    Veth,
    Netkit,
    Macvlan,
    Vlan,
    Vxlan,
    Geneve,
    Gre,
    Ip6Gre,
    Gretap,
    Ip6Gretap,
    Wireguard,
    Xfrm,
    Bridge,
    /// The device of an Open vSwitch datapath or internal port.
    OpenVswitch,
    /// The host side of a virtual machine's network device.
    Tap,
    Virtio,
    /// Any other device, such as a network card. Labs do not use these.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    Pair,
    Ports,
    /// Packets go to the device at the other end, encapsulated in packets of an underlay.
    Tunnel,
    /// Packets go to the underlying device, if there is one.
    Lower,
}

impl DeviceKind {
    const ALL: [Self; Self::Other as usize + 1] = [
        Self::Veth,
        Self::Netkit,
        Self::Macvlan,
        Self::Vlan,
        Self::Vxlan,
        Self::Geneve,
        Self::Gre,
        Self::Ip6Gre,
        Self::Gretap,
        Self::Ip6Gretap,
        Self::Wireguard,
        Self::Xfrm,
        Self::Bridge,
        Self::OpenVswitch,
        Self::Tap,
        Self::Virtio,
        Self::Other,
    ];

    /// Returns the kind's name, the kernel's name for it, and whether its carrier is meaningful. The
    /// operational state of a tunnel is always "unknown", and a bridge without ports has no carrier.
    const fn facts(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Veth => ("veth", "veth", true),
            Self::Netkit => ("netkit", "netkit", true),
            Self::Macvlan => ("macvlan", "macvlan", true),
            Self::Vlan => ("vlan", "vlan", true),
            Self::Vxlan => ("vxlan", "vxlan", false),
            Self::Geneve => ("geneve", "geneve", false),
            Self::Gre => ("gre", "gre", false),
            Self::Ip6Gre => ("gre", "ip6gre", false),
            Self::Gretap => ("gretap", "gretap", false),
            Self::Ip6Gretap => ("gretap", "ip6gretap", false),
            Self::Wireguard => ("wireguard", "wireguard", false),
            Self::Xfrm => ("xfrm", "xfrm", false),
            Self::Bridge => ("bridge", "bridge", false),
            Self::OpenVswitch => ("ovs", "openvswitch", false),
            Self::Tap => ("tap", "tun", false),
            Self::Virtio => ("virtio", "", false),
            Self::Other => ("other", "", false),
        }
    }

    pub(crate) fn connection(self) -> Connection {
        match self {
            Self::Veth | Self::Netkit => Connection::Pair,
            Self::Bridge => Connection::Ports,
            Self::Vxlan => Connection::Tunnel,
            Self::Macvlan
            | Self::Vlan
            | Self::Geneve
            | Self::Gre
            | Self::Ip6Gre
            | Self::Gretap
            | Self::Ip6Gretap
            | Self::Wireguard
            | Self::Xfrm
            | Self::OpenVswitch
            | Self::Tap
            | Self::Virtio
            | Self::Other => Connection::Lower,
        }
    }

    pub(crate) fn of_word(word: &str) -> Self {
        let known = Self::ALL.into_iter().filter(|_| !word.is_empty());
        known.into_iter().find(|kind| kind.kernel_word() == word).unwrap_or(Self::Other)
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        self.facts().0
    }

    pub(crate) fn kernel_word(self) -> &'static str {
        self.facts().1
    }

    pub(crate) fn reports_carrier(self) -> bool {
        self.facts().2
    }
}
