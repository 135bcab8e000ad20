//! Commands in remedies. They use the run's names, so they remain valid after its lab is removed.

use samples::{PathRecord, RunHeader};

pub(crate) struct Commands<'a> {
    header: &'a RunHeader,
}

impl<'a> Commands<'a> {
    pub(crate) const fn of(header: &'a RunHeader) -> Self {
        Self { header }
    }

    /// Returns no commands for imported runs.
    pub(crate) fn again(&self, of_a_run: &str, of_a_client: &str) -> Vec<String> {
        let RunHeader { id, scenario, origin, .. } = self.header;
        match (origin.imported(), scenario.command()) {
            (Some(_), _) => Vec::new(),
            (None, Some(_)) if of_a_client.is_empty() => Vec::new(),
            (None, Some(command)) => vec![format!("{command} {of_a_client}")],
            (None, None) => vec![format!("plumb run {id} {of_a_run}")],
        }
    }

    pub(crate) fn probed(&self, of_a_client: &str) -> Vec<String> {
        let RunHeader { scenario, paths, .. } = self.header;
        let is_here = |line: &str| line.trim_start().starts_with("local");
        let elsewhere = !paths.is_empty()
            && paths.iter().all(|path| PathRecord::exists(&path.layers))
            && !scenario.text.lines().any(is_here);
        if elsewhere { Vec::new() } else { self.again("--probe all", of_a_client) }
    }

    pub(crate) fn section(&self, name: &str) -> Option<String> {
        let RunHeader { id, origin, .. } = self.header;
        origin.imported().is_none().then(|| format!("plumb report {id} --section {name}"))
    }

    /// Returns a command that shows the run's counters if plumb created its lab. Otherwise returns `commands`, with the
    /// sending host if known.
    pub(crate) fn at_sender(&self, path: &str, commands: &[&str]) -> Vec<String> {
        let own = self.header.origin.imported().is_none() && self.header.scenario.command().is_none();
        let path = self.header.paths.iter().find(|measured| own && measured.name == path);
        let host = path.and_then(|path| path.from.split(':').next());
        let booted = |host: &&str| self.header.machines.iter().any(|machine| machine.host == **host);
        // In an overlay between existing hosts, the last layer is the hosts' network.
        let over_network = |last: &String| PathRecord::exists(std::slice::from_ref(last));
        let no_lab = path.and_then(|path| path.layers.last()).is_some_and(over_network);
        match host {
            Some(host) if no_lab => {
                let on_host = |command: &&str| match command.split_once("  # ") {
                    Some((command, reason)) => format!("{command}  # on {host}; {reason}"),
                    None => format!("{command}  # on {host}"),
                };
                commands.iter().map(on_host).collect()
            }
            Some(host) if !booted(&host) => self.section("drops").into_iter().collect(),
            _ => commands.iter().map(|&command| command.to_owned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::egress;
    use samples::{BootedMachine, ImportRecord, Origin};
    use units::Nanos;

    #[test]
    fn repeats_run_by_name_and_inspects_its_lab() {
        let mut header = egress(5).record.header;
        let id = header.id.clone();
        assert_eq!(
            Commands::of(&header).again("--precision 2%", "--repeat 20"),
            [format!("plumb run {id} --precision 2%")]
        );
        let path = header.paths[0].clone();
        let host = path.from.split(':').next().expect("is never empty").to_owned();
        assert_eq!(
            Commands::of(&header).at_sender(&path.name, &["ip -s link"]),
            [format!("plumb report {id} --section drops")]
        );
        let there = format!("ip -s link  # on {host}");
        header.machines = vec![BootedMachine {
            host,
            booted: None,
            ready: Nanos(1),
            resident: None,
            settings: None,
            kernel: None,
        }];
        assert_eq!(Commands::of(&header).at_sender(&path.name, &["ip -s link"]), ["ip -s link"]);
        assert_eq!(Commands::of(&header).probed("").len(), 1);
        header.paths.iter_mut().for_each(|path| path.layers = vec!["network".into()]);
        assert!(Commands::of(&header).probed("").is_empty(), "no probe runs there");
        assert_eq!(Commands::of(&header).at_sender(&path.name, &["ip -s link"]), [there], "no lab exists");
    }

    #[test]
    fn repeats_client_command_but_not_imported_logs() {
        let mut header = egress(5).record.header;
        header.scenario.text = "plumb client 198.18.0.2 -P 4".into();
        let commands = Commands::of(&header);
        assert_eq!(
            commands.again("--precision 2%", "--repeat 20"),
            ["plumb client 198.18.0.2 -P 4 --repeat 20"]
        );
        assert_eq!(commands.at_sender(&header.paths[0].name, &["ip -s link"]), ["ip -s link"]);
        header.origin = Origin::Imported(ImportRecord::default());
        assert!(Commands::of(&header).again("--precision 2%", "--repeat 20").is_empty());
    }
}
