//! A lab with virtual machines falls into what this machine's kernel makes and what the kernel of each guest makes.

use scenario::{HostName, Lab, Link, Scenario, builtin};

const CHANGED: &str = "[[routes]]\nhost = \"client\"\nto = \"0.0.0.0/0\"\nvia = \"198.18.64.1\"\n\n\
                       [devices.\"client:eth0\"]\nmtu = 4000\n\n\
                       [devices.\"pve:server\"]\ngro = \"off\"\n\n[paths.guest-to-guest]";

/// Two virtual machines on a bridge; the client has a route, its device and the server's port have settings.
fn lab() -> Lab {
    let text = builtin::find("bridge-multiqueue").expect("shipped").text;
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
fn outside_are_the_hosts_the_bridges_and_the_ports_but_no_guest() {
    let lab = lab();
    let outside = lab.outside();
    assert_eq!(hosts(&outside), ["pve"]);
    assert_eq!(outside.links, lab.links, "a tap device is made here");
    assert_eq!(links(&outside), ["client", "server", "vmbr0"]);
    assert_eq!(devices(&outside), ["pve:server"]);
    assert_eq!(outside.routes, []);
}

#[test]
fn inside_is_what_the_guest_has_of_its_own() {
    let lab = lab();
    let inside = |host: &str| lab.inside(&HostName::new(host));
    let client = inside("client");
    assert_eq!(hosts(&client), ["client"]);
    assert_eq!(links(&client), ["client"], "no bridge");
    assert_eq!(devices(&client), ["client:eth0"]);
    assert_eq!(client.routes, lab.routes);
    let server = inside("server");
    assert_eq!((server.routes.len(), server.links.len()), (0, 1));
    assert!(!devices(&server).contains(&"pve:server".to_owned()), "its port is not its own");
}

#[test]
fn a_lab_of_namespaces_is_all_outside() {
    let quick = Scenario::parse("quick", builtin::find("quick").expect("shipped").text).expect("parses").lab;
    assert_eq!(quick.outside(), quick);
}
