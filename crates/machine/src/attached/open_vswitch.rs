//! Open vSwitch bridges, read with `ovs-vsctl` from the database (ovs-vswitchd.conf.db(5); RFC 7047 describes
//! the values).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Deserializer, Value};

use super::runtime::{self, Printed};

const OVS_VSCTL: &str = "ovs-vsctl";
/// Each command prints one table. The timeout is in seconds.
const QUERY: &str = "--timeout=5 --format=json -- --columns=name,ports list Bridge -- --columns=_uuid,interfaces list Port -- \
                     --columns=_uuid,name,ifindex,mac_in_use,options list Interface";

/// Index and MAC address of every port with a network device.
pub type SwitchPorts = Vec<(u32, String)>;

#[derive(Default)]
struct Group {
    names: Vec<String>,
    ports: SwitchPorts,
    patches: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Table<R> {
    data: Vec<R>,
}

/// Returns the ports of each bridge, or nothing if Open vSwitch is not running. Bridges connected by patch ports
/// are merged.
///
/// # Errors
/// Returns why `ovs-vsctl` cannot read the database.
pub fn open_vswitch_bridges() -> Result<BTreeMap<String, SwitchPorts>, String> {
    match runtime::run(OVS_VSCTL, &QUERY.split_whitespace().collect::<Vec<_>>()) {
        Printed::NotInstalled => Ok(BTreeMap::new()),
        // Open vSwitch is installed but not running.
        Printed::Failed(reason) if reason.contains("No such file") => Ok(BTreeMap::new()),
        Printed::Failed(reason) => Err(runtime::last_line(&reason)),
        Printed::Output(printed) => bridges(&printed).map_err(|error| error.to_string()),
    }
}

fn bridges(printed: &[u8]) -> serde_json::Result<BTreeMap<String, SwitchPorts>> {
    let mut tables = Deserializer::from_slice(printed);
    let bridges = Table::<(String, Value)>::deserialize(&mut tables)?.data;
    let ports = Table::<(Value, Value)>::deserialize(&mut tables)?.data;
    let interfaces = Table::<(Value, String, Value, Value, Value)>::deserialize(&mut tables)?.data;
    let mut groups: Vec<Group> = Vec::new();
    for (bridge, wanted) in bridges {
        let mut group = Group { names: vec![bridge], ..Group::default() };
        let of_bridge = ports.iter().filter(|(port, _)| items(&wanted).contains(port));
        let wanted: Vec<&Value> = of_bridge.flat_map(|(_, interfaces)| items(interfaces)).collect();
        for (_, name, index, mac, options) in interfaces.iter().filter(|(id, ..)| wanted.contains(&id)) {
            let index = index.as_u64().and_then(|index| index.try_into().ok());
            group.ports.extend(index.zip(mac.as_str().map(str::to_owned)));
            group.patches.extend(peer(options).map(|peer| (name.clone(), peer)));
        }
        let (connected, others) = groups.into_iter().partition(|other| group.is_patched_to(other));
        groups = others;
        groups.push(connected.into_iter().chain([group]).fold(Group::default(), Group::and));
    }
    Ok(groups.into_iter().map(|group| (group.names.join(" + "), group.ports)).collect())
}

/// A set with one item is written as the bare item.
fn items(set: &Value) -> &[Value] {
    match set.as_array().map(Vec::as_slice) {
        Some([kind, Value::Array(items)]) if kind == "set" => items,
        _ => std::slice::from_ref(set),
    }
}

fn peer(options: &Value) -> Option<String> {
    let peer = options[1].as_array()?.iter().find(|option| option[0] == "peer")?;
    peer[1].as_str().map(str::to_owned)
}

impl Group {
    fn is_patched_to(&self, other: &Self) -> bool {
        self.patches.iter().any(|(_, peer)| other.patches.iter().any(|(name, _)| name == peer))
    }

    fn and(mut self, other: Self) -> Self {
        self.names.extend(other.names);
        self.ports.extend(other.ports);
        self.patches.extend(other.patches);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of Open vSwitch 3.1 with shortened IDs. Patch ports connect `br-int` to `br-ex`, which has a bond.
    const TABLES: &str = r#"
{"data":[["br-ex",["set",[["uuid","p1"],["uuid","p4"]]]],["br-int",["set",[["uuid","p2"],["uuid","p3"]]]],
["lone",["uuid","p5"]]],"headings":["name","ports"]}
{"data":[[["uuid","p1"],["uuid","i1"]],[["uuid","p2"],["uuid","i2"]],[["uuid","p3"],["uuid","i3"]],
[["uuid","p4"],["set",[["uuid","i4"],["uuid","i5"]]]],[["uuid","p5"],["uuid","i6"]]],"headings":["_uuid","interfaces"]}
{"data":[[["uuid","i1"],"to-int",["set",[]],["set",[]],["map",[["peer","to-ex"]]]],
[["uuid","i2"],"to-ex",["set",[]],["set",[]],["map",[["peer","to-int"]]]],
[["uuid","i3"],"va",4,"92:50:44:5f:1f:9c",["map",[]]],
[["uuid","i4"],"eth1",2,"92:50:44:5f:1f:01",["map",[]]],[["uuid","i5"],"eth2",3,"92:50:44:5f:1f:02",["map",[]]],
[["uuid","i6"],"lone",9,"86:46:0d:91:19:4d",["map",[]]]],
"headings":["_uuid","name","ifindex","mac_in_use","options"]}
"#;

    #[test]
    fn reads_ports_of_connected_bridges() {
        let found = bridges(TABLES.as_bytes()).expect("valid");
        let indexes = |bridge: &str| found[bridge].iter().map(|(index, _)| *index).collect::<Vec<_>>();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["br-ex + br-int", "lone"]);
        assert_eq!(indexes("br-ex + br-int"), [2, 3, 4]);
        assert_eq!(found["lone"], [(9, "86:46:0d:91:19:4d".to_owned())]);
        bridges(b"{\"data\":[]}").expect_err("tables are missing");
    }
}
