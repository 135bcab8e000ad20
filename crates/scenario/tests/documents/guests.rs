//! Tests how a lab is split between the host and its guests.

use scenario::{HostName, Lab, Link, Scenario, builtin};

const CHANGED: &str = "[[routes]]\nhost = \"client\"\nto = \"0.0.0.0/0\"\nvia = \"198.18.64.1\"\n\n\
                       [devices.\"client:eth0\"]\nmtu = 4000\n\n\
                       [devices.\"pve:server\"]\ngro = \"off\"\n\n[paths.guest-to-guest]";

fn lab() -> Lab {
    let text = builtin::find("bridge-multiqueue").expect("built in").text;
    let text = text
        .replace("mtu = 9000", "mtu = 9000\naddress = \"198.18.64.1/24\"")
        .replace("[paths.guest-to-guest]", CHANGED);
    let scenario = Scenario::parse("test", &text).unwrap_or_else(|diagnosis| {
        panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>());
    });
    scenario.lab
}

fn hosts(lab: &Lab) -> Vec<&str> {
    lab.hosts.iter().map(|host| host.name.as_str()).collect()
}

fn links(lab: &Lab) -> Vec<&str> {
    lab.links.iter().map(Link::name).collect()
}

fn devices(lab: &Lab) -> Vec<String> {
    lab.devices.keys().map(ToString::to_string).collect()
}

#[test]
fn outside_has_hosts_bridges_and_ports() {
    let lab = lab();
    let outside = lab.outside();
    assert_eq!(hosts(&outside), ["pve"]);
    assert_eq!(outside.links, lab.links, "tap devices are created on the host");
    assert_eq!(links(&outside), ["client", "server", "vmbr0"]);
    assert_eq!(devices(&outside), ["pve:server"]);
    assert_eq!(outside.routes, []);
}

#[test]
fn inside_has_guest_devices_and_routes() {
    let lab = lab();
    let inside = |host: &str| lab.inside(&HostName::new(host));
    let client = inside("client");
    assert_eq!(hosts(&client), ["client"]);
    assert_eq!(links(&client), ["client"], "the bridge is outside");
    assert_eq!(devices(&client), ["client:eth0"]);
    assert_eq!(client.routes, lab.routes);
    let server = inside("server");
    assert_eq!((server.routes.len(), server.links.len()), (0, 1));
    assert!(!devices(&server).contains(&"pve:server".to_owned()), "the bridge port is outside");
}

#[test]
fn lab_of_namespaces_is_entirely_outside() {
    let quick = Scenario::parse("quick", builtin::find("quick").expect("built in").text).expect("parses").lab;
    assert_eq!(quick.outside(), quick);
}
