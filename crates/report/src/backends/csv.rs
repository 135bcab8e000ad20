//! Rows for a spreadsheet or a data frame: one for each cell, or one for each trial (RFC 4180).
//! Column names are stable and carry their unit; the factors' columns come last, as `factor.NAME`.
//! Must not know the page.

mod cells;
mod trials;

pub(crate) use cells::cells;
pub(crate) use trials::trials;

/// A line of fields.
fn line(fields: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<String> = fields.into_iter().map(|field| quoted(&field)).collect();
    quoted.join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Nothing for what is not known: never a zero.
fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_hold_separators_are_quoted() {
        let fields = ["plain", "a,b", "say \"x\"", "two\nlines", ""].map(str::to_owned);
        assert_eq!(line(fields), "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\r\n");
    }
}
