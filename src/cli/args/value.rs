//! Values of arguments: formats, whole numbers, sizes in bytes as people write them.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::{Arg, ValueEnum};

/// Formats for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    Table,
    #[value(alias = "jsonl")]
    Json,
    Csv,
}

/// The option for the format of an answer.
pub(crate) const FORMAT: &str = "format";

/// The formats that a command has.
pub(crate) fn formats(command: &clap::Command) -> Vec<String> {
    let option = command.get_arguments().find(|arg| arg.get_id() == FORMAT);
    let values = option.map(Arg::get_possible_values).unwrap_or_default();
    values.iter().map(|value| value.get_name().to_owned()).collect()
}

/// Parses a whole number in a range.
pub(crate) fn within<N: FromStr<Err = ParseIntError> + PartialOrd + Display>(
    range: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone
where
    RangeInclusive<N>: Clone,
{
    move |text| {
        let too_large = || format!("too large; the maximum is {}", range.end());
        match text.parse::<N>() {
            Ok(number) if number > *range.end() => Err(too_large()),
            Ok(number) if number < *range.start() => {
                Err(format!("too small; the minimum is {}", range.start()))
            }
            Ok(number) => Ok(number),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(too_large()),
            Err(_) if is_negative(text) => Err(format!("too small; the minimum is {}", range.start())),
            Err(_) => Err("not a whole number".to_owned()),
        }
    }
}

/// Whether a text is a negative number, or a zero with a sign.
fn is_negative(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of bytes, written as `4G`, `512M`, `64K`, `1T` or a plain number; the units are powers of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByteSize(pub(crate) u64);

/// Memory for a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory(pub(crate) ByteSize);

impl FromStr for Memory {
    type Err = SizeError;

    /// Parses a [`ByteSize`] that is large enough for a run. A smaller number probably lacks its unit.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        const LEAST: ByteSize = ByteSize(1 << 20);
        match text.parse::<ByteSize>()? {
            size if size < LEAST => Err(SizeError::TooSmall(size.0)),
            size => Ok(Self(size)),
        }
    }
}

/// Why a text is not a valid size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SizeError {
    /// It is not a number, with or without a unit.
    #[error("not a size; write it as 512M, 4G or a number of bytes")]
    Unreadable,
    /// It is zero.
    #[error("must be more than 0")]
    Zero,
    /// It is less than any run needs.
    #[error("too small; the minimum is 1M (a number without a unit is in bytes; units are K, M, G and T)")]
    TooSmall(u64),
    /// It does not fit in 64 bits.
    #[error("too large")]
    TooLarge,
}

impl FromStr for ByteSize {
    type Err = SizeError;

    /// Reads `512M`, `512m`, `512MB`, `512MiB`, `1.5G`, `1048576`, `1048576B`.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        let text = text.trim();
        let end = text.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let shift = match unit.trim_start().to_ascii_uppercase().as_str() {
            "" | "B" => 0,
            "K" | "KB" | "KIB" => 10,
            "M" | "MB" | "MIB" => 20,
            "G" | "GB" | "GIB" => 30,
            "T" | "TB" | "TIB" => 40,
            _ => return Err(SizeError::Unreadable),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(fraction) || (number.contains('.') && fraction.is_empty()) {
            return Err(SizeError::Unreadable);
        }
        let whole = whole.parse::<u64>().map_err(|_| SizeError::TooLarge)?;
        // A fraction of a unit: more digits than an f64 has make no difference to a memory size.
        let fraction = format!("0.{fraction}0").parse::<f64>().unwrap_or_default();
        let part = (fraction * (1_u64 << shift) as f64) as u64;
        let bytes = whole.checked_mul(1 << shift).and_then(|bytes| bytes.checked_add(part));
        match bytes {
            Some(0) => Err(SizeError::Zero),
            Some(bytes) => Ok(Self(bytes)),
            None => Err(SizeError::TooLarge),
        }
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
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn too_little_memory_is_refused() {
        for (text, bytes) in
            [("10", 10), ("1023K", 1023 << 10), ("0.5M", 1 << 19), ("1048575", (1 << 20) - 1)]
        {
            assert_eq!(text.parse::<Memory>().unwrap_err(), SizeError::TooSmall(bytes), "{text}");
        }
        for text in ["1M", "1048576", "4G"] {
            assert!(text.parse::<Memory>().is_ok(), "{text}");
        }
        assert_eq!("0".parse::<Memory>().unwrap_err(), SizeError::Zero);
    }

    #[test]
    fn invalid_sizes_are_refused() {
        for text in ["", "G", "M4", "4X", "-1", "1e9", "1.", ".5G", "1.2.3G", "4GG", "0x10", "∞"] {
            assert_eq!(text.parse::<ByteSize>(), Err(SizeError::Unreadable), "{text}");
        }
        for text in ["0", "0G", "0.0M", "0.1B"] {
            assert_eq!(text.parse::<ByteSize>(), Err(SizeError::Zero), "{text}");
        }
        for text in ["99999999999999999999", "16777216T"] {
            assert_eq!(text.parse::<ByteSize>(), Err(SizeError::TooLarge), "{text}");
        }
    }
}
