//! Parses DSCPs (differentiated services code points), given as numbers or RFC names.

use crate::amount;

/// The names in RFC 2474, 2597, 3246, 5865 and 8622.
const NAMES: &str = "be=0 default=0 le=1 va=44 voice-admit=44 ef=46 \
    cs0=0 cs1=8 cs2=16 cs3=24 cs4=32 cs5=40 cs6=48 cs7=56 \
    af11=10 af12=12 af13=14 af21=18 af22=20 af23=22 af31=26 af32=28 af33=30 af41=34 af42=36 af43=38";

pub(crate) fn code_point(text: &str) -> Result<u8, String> {
    let mut names = NAMES.split(' ').filter_map(|name| name.split_once('='));
    let named = names.find(|(name, _)| name.eq_ignore_ascii_case(text));
    amount::whole(named.map_or(text, |(_, point)| point))
        .and_then(|point| u8::try_from(point).ok())
        .filter(|point| *point < 64)
        .ok_or_else(|| format!("invalid code point `{text}`: use 0 to 63, or a name, e.g. ef, af41, cs1"))
}

/// Converts `-S`, a type-of-service byte (0 to 255), to a code point.
pub(crate) fn type_of_service(text: &str) -> Result<u8, String> {
    let byte = amount::whole(text).and_then(|byte| u8::try_from(byte).ok());
    let byte = byte
        .ok_or_else(|| format!("invalid type of service `{text}`: use 0 to 255, e.g. 184, 0270 or 0xb8"))?;
    if byte & 3 == 0 {
        return Ok(byte >> 2);
    }
    Err(format!(
        "the lowest two bits of {text} are for ECN and are set by the kernel: use a multiple of four"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_code_points_by_number_and_name() {
        for (text, point) in
            [("46", 46), ("EF", 46), ("0x2e", 46), ("056", 46), ("af41", 34), ("cs1", 8), ("0", 0)]
        {
            assert_eq!(code_point(text), Ok(point), "{text}");
        }
        for (text, point) in [("184", 46), ("0xb8", 46), ("0270", 46), ("0", 0), ("32", 8)] {
            assert_eq!(type_of_service(text), Ok(point), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_code_points_with_hint() {
        for text in ["64", "-1", "af99", ""] {
            assert!(code_point(text).is_err_and(|error| error.contains("ef")), "{text}");
        }
        for text in ["256", "ef", "0xfff"] {
            assert!(type_of_service(text).is_err_and(|error| error.contains("184")), "{text}");
        }
        assert!(type_of_service("1").is_err_and(|error| error.contains("ECN")));
    }
}
