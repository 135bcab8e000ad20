//! Flags that select variants of a scenario.

use clap::{Args, ValueEnum};
use scenario::{
    Family, HostKind, Scenario,
    variant::{self, VariantError},
};

use crate::{
    failure::Misuse,
    value_parsers::{Word, one_of},
};

const FULL: &str = "full";
const VM: &str = "vm";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Variants {
    /// Use the scenario's full grid: its variant `full`
    #[arg(long, requires = "scenario")]
    full: bool,
    /// Use virtual machines instead of namespaces as guests: the variant `vm`
    #[arg(long, value_enum, value_name = "KIND", requires = "scenario")]
    guests: Option<Guests>,
    /// Apply `[variants.NAME]` of the scenario (may be repeated)
    #[arg(long = "variant", value_name = "NAME", requires = "scenario")]
    named: Vec<String>,
    /// Address families, e.g. ipv4,ipv6 to measure each result in both [default: the scenario's]
    #[arg(long, value_name = "FAMILIES", value_delimiter = ',', value_parser = one_of(FAMILIES), requires = "scenario")]
    family: Vec<Family>,
    /// Use IPv4 only
    #[arg(short = '4', conflicts_with_all = ["family", "v6"], requires = "scenario")]
    v4: bool,
    /// Use IPv6 only
    #[arg(short = '6', conflicts_with = "family", requires = "scenario")]
    v6: bool,
}

const FAMILIES: &[Word<Family>] =
    &[(Family::Ipv4.word(), Family::Ipv4, "IPv4"), (Family::Ipv6.word(), Family::Ipv6, "IPv6")];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Guests {
    /// Virtual machines
    Vm,
}

impl Variants {
    pub(crate) fn named(names: &[String]) -> Self {
        Self { named: names.to_vec(), ..Self::default() }
    }

    pub(crate) fn are_none(&self) -> bool {
        self.names().is_empty() && self.families().is_empty()
    }

    fn families(&self) -> Vec<Family> {
        let only = self.v4.then_some(Family::Ipv4).or_else(|| self.v6.then_some(Family::Ipv6));
        only.map_or_else(|| self.family.clone(), |only| vec![only])
    }

    fn names(&self) -> Vec<&str> {
        let full = self.full.then_some(FULL);
        let vm = self.guests.map(|Guests::Vm| VM);
        full.into_iter().chain(vm).chain(self.named.iter().map(String::as_str)).collect()
    }

    pub(crate) fn of(
        &self,
        source_name: &str,
        text: &str,
        scenario: &Scenario,
    ) -> anyhow::Result<(String, String)> {
        let names = self.names();
        let (mut source_name, mut laid) = (source_name.to_owned(), text.to_owned());
        if !names.is_empty() {
            laid = variant::lay_over(text, &names).map_err(|error| match error {
                VariantError::Unknown { variant, known } => unknown(&variant, &known, scenario).into(),
                error @ VariantError::Toml(_) => anyhow::Error::from(error),
            })?;
            source_name = format!("{source_name} as variant {}", names.join(" and "));
        }
        let families = self.families();
        if !families.is_empty() {
            laid = variant::with_families(&laid, &families)?;
        }
        Ok((source_name, laid))
    }
}

fn unknown(variant: &str, known: &[String], scenario: &Scenario) -> Misuse {
    let misuse = Misuse::new(format!("scenario `{}` has no variant `{variant}`", scenario.name));
    let guests = || scenario.lab.hosts.iter().filter(|host| host.kind != HostKind::Host);
    misuse.hint(match variant {
        FULL => format!("it is already at full size; {}", has(known)),
        VM if guests().next().is_none() => format!("it has no guests; {}", has(known)),
        VM if guests().all(|guest| guest.vm.is_some()) => {
            format!("its guests are already virtual machines; {}", has(known))
        }
        _ => format!("{}; a scenario of your own can define `[variants.{variant}]`", has(known)),
    })
}

fn has(known: &[String]) -> String {
    if known.is_empty() {
        "it has no variants".to_owned()
    } else {
        format!("its variants: {}", known.join(", "))
    }
}
