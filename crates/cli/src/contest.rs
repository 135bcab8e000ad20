//! Prints the result of `plumb vs`, with both sides named as the user typed them.

use findings::Findings;

use crate::output;

#[derive(Debug, Clone)]
pub(crate) struct Sides(pub(crate) [String; 2]);

impl Sides {
    pub(crate) fn print(&self, findings: &Findings) -> anyhow::Result<()> {
        output::line("")?;
        let [a, b] = self.0.each_ref().map(String::as_str);
        Ok(report::contest(findings, [a, b]).iter().try_for_each(|sentence| output::prose(sentence))?)
    }
}
