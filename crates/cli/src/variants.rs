//! Flags that choose a variant of a scenario, and what is said where it has none of that name.

use clap::{Args, ValueEnum};
use scenario::{
    HostKind, Scenario,
    variant::{self, VariantError},
};

use crate::failure::Misuse;

/// The variant that `--full` means.
const FULL: &str = "full";
/// The variant that `--guests vm` means.
const VM: &str = "vm";

/// Which variants of a scenario are meant; by default none.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Variants {
    /// The full grid of a scenario whose usual one is small: its variant `full`
    #[arg(long, requires = "scenario")]
    full: bool,
    /// Guests as virtual machines, where the scenario has them as namespaces: its variant `vm`
    #[arg(long, value_enum, value_name = "KIND", requires = "scenario")]
    guests: Option<Guests>,
    /// This variant of the scenario: what `[variants.NAME]` in its document says goes before the rest (may be repeated)
    #[arg(long = "variant", value_name = "NAME", requires = "scenario")]
    named: Vec<String>,
}

/// What guests are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Guests {
    /// Virtual machines
    Vm,
}

impl Variants {
    /// Those of these names.
    pub(crate) fn named(names: &[String]) -> Self {
        Self { named: names.to_vec(), ..Self::default() }
    }

    /// Whether the scenario is meant as it is.
    pub(crate) fn are_none(&self) -> bool {
        self.names().is_empty()
    }

    /// In the order in which they are laid over the scenario.
    fn names(&self) -> Vec<&str> {
        let full = self.full.then_some(FULL);
        let vm = self.guests.map(|Guests::Vm| VM);
        full.into_iter().chain(vm).chain(self.named.iter().map(String::as_str)).collect()
    }

    /// What to call the text `source_name` with them, and that text; `scenario` is what it says without them.
    pub(crate) fn of(
        &self,
        source_name: &str,
        text: &str,
        scenario: &Scenario,
    ) -> anyhow::Result<(String, String)> {
        let names = self.names();
        if names.is_empty() {
            return Ok((source_name.to_owned(), text.to_owned()));
        }
        let laid = variant::lay_over(text, &names).map_err(|error| match error {
            VariantError::Unknown { variant, known } => unknown(&variant, &known, scenario).into(),
            error @ VariantError::Toml(_) => anyhow::Error::from(error),
        })?;
        Ok((format!("{source_name} as variant {}", names.join(" and ")), laid))
    }
}

fn unknown(variant: &str, known: &[String], scenario: &Scenario) -> Misuse {
    let misuse = Misuse::new(format!("scenario `{}` has no variant `{variant}`", scenario.name));
    let guests = || scenario.lab.hosts.iter().filter(|host| host.kind != HostKind::Host);
    misuse.hint(match variant {
        FULL => format!("what it has is its full size; {}", has(known)),
        VM if guests().next().is_none() => format!("it has no guests; {}", has(known)),
        VM if guests().all(|guest| guest.vm.is_some()) => {
            format!("its guests are virtual machines already; {}", has(known))
        }
        _ => format!("{}; `[variants.{variant}]` in a document of yours can be one", has(known)),
    })
}

fn has(known: &[String]) -> String {
    if known.is_empty() {
        "it has no variants".to_owned()
    } else {
        format!("it has the variants {}", known.join(", "))
    }
}
