//! Parses the values of arguments: words, whole numbers, and sizes such as `512M`. Also finds the output
//! formats of a command.

use std::num::IntErrorKind;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ValueEnum};

/// Formats for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    Table,
    #[value(alias = "jsonl")]
    Json,
    Csv,
}

/// The id of the option for the output format.
pub(crate) const FORMAT: &str = "format";

/// The names of a command's output formats; empty if the command has no option for the format.
pub(crate) fn formats(command: &clap::Command) -> Vec<String> {
    let option = command.get_arguments().find(|arg| arg.get_id() == FORMAT);
    let values = option.map(Arg::get_possible_values).unwrap_or_default();
    values.iter().map(|value| value.get_name().to_owned()).collect()
}

/// A parser that accepts the words in `values`. The result is the value that belongs to the word.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    described_one_of(values.map(|(word, value)| (word, "", value)))
}

/// Like [`one_of`], but each word also has a description for the help.
pub(crate) fn described_one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, &'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let described = values.map(|(word, help, _)| match help {
        "" => PossibleValue::new(word),
        help => PossibleValue::new(word).help(help),
    });
    PossibleValuesParser::new(described).try_map(move |word| {
        let found = values.iter().find(|(known, ..)| known.eq_ignore_ascii_case(&word));
        found.map(|(.., value)| *value).ok_or("not one of these words")
    })
}

/// A parser for whole numbers in a range.
pub(crate) fn within<N: Copy + Into<u64> + TryFrom<u64>>(
    range: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone {
    let (least, most) = ((*range.start()).into(), (*range.end()).into());
    move |text| {
        let number = number_within(text, least, most)?;
        Ok(N::try_from(number).unwrap_or_else(|_| unreachable!("all numbers of the range are of this type")))
    }
}

fn number_within(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let too_small = || format!("too small; the minimum is {least}");
    let too_large = || format!("too large; the maximum is {most}");
    match text.parse::<u64>() {
        Ok(number) if number > most => Err(too_large()),
        Ok(number) if number < least => Err(too_small()),
        Ok(number) => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(too_large()),
        Err(_) if is_negative(text) => Err(too_small()),
        Err(_) => Err("not a whole number".to_owned()),
    }
}

/// Whether a text is a negative whole number, or a zero with a minus sign.
fn is_negative(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

const UNREADABLE: &str = "not a size; write it as 512M, 4G or a number of bytes";
const ZERO: &str = "must be more than 0";
const TOO_SMALL: &str =
    "too small; the minimum is 1M (a number without a unit is in bytes; units are K, M, G and T)";
const TOO_LARGE: &str = "too large";

/// Parses a number of bytes, at least 1 MiB: a smaller number probably lacks its unit.
pub(crate) fn memory(text: &str) -> Result<u64, &'static str> {
    let bytes = byte_size(text)?;
    if bytes < 1 << 20 { Err(TOO_SMALL) } else { Ok(bytes) }
}

/// Parses a number of bytes: `512M`, `512m`, `512MB`, `512MiB`, `1.5G`, `1048576`, `1048576B`. The units are powers
/// of 1024.
pub(crate) fn byte_size(text: &str) -> Result<u64, &'static str> {
    let text = text.trim();
    let end = text.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim_start().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(UNREADABLE),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(fraction) || (number.contains('.') && fraction.is_empty()) {
        return Err(UNREADABLE);
    }
    let whole = whole.parse::<u64>().map_err(|_| TOO_LARGE)?;
    // An `f64` has enough digits for the fraction of a memory size.
    let fraction = format!("0.{fraction}0").parse::<f64>().unwrap_or_default();
    let part = (fraction * (1_u64 << shift) as f64) as u64;
    match whole.checked_mul(1 << shift).and_then(|bytes| bytes.checked_add(part)) {
        Some(0) => Err(ZERO),
        bytes => bytes.ok_or(TOO_LARGE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_forms_of_sizes_are_read() {
        for (text, bytes) in [
            ("1", 1),
            ("4096", 4096),
            ("4096B", 4096),
            ("64K", 64 << 10),
            ("512M", 512 << 20),
            ("512m", 512 << 20),
            ("512 MB", 512 << 20),
            ("512MiB", 512 << 20),
            ("4G", 4 << 30),
            ("1.5G", 3 << 29),
            ("2T", 2 << 40),
        ] {
            assert_eq!(byte_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn too_little_memory_is_refused() {
        for text in ["10", "1023K", "0.5M", "1048575"] {
            assert_eq!(memory(text), Err(TOO_SMALL), "{text}");
        }
        for text in ["1M", "1048576", "4G"] {
            assert!(memory(text).is_ok(), "{text}");
        }
        assert_eq!(memory("0"), Err(ZERO));
    }

    #[test]
    fn invalid_sizes_are_refused() {
        for text in ["", "G", "M4", "4X", "-1", "1e9", "1.", ".5G", "1.2.3G", "4GG", "0x10", "∞"] {
            assert_eq!(byte_size(text), Err(UNREADABLE), "{text}");
        }
        for text in ["0", "0G", "0.0M", "0.1B"] {
            assert_eq!(byte_size(text), Err(ZERO), "{text}");
        }
        for text in ["99999999999999999999", "16777216T"] {
            assert_eq!(byte_size(text), Err(TOO_LARGE), "{text}");
        }
    }
}
