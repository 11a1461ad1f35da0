//! General SQL functions that the `sqlite3` shell and other programs have, but that the bundled SQLite lacks:
//! mathematics, `regexp`, `median`, `percentile` and the table-valued function `generate_series`.
//! Faster versions of `trim`, `ltrim` and `rtrim` with two arguments replace SQLite's own.

use std::collections::HashSet;

use regex_lite::{Regex, RegexBuilder};
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, vtab};

use super::arguments::{Arguments, PURE, Problem, add};

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// Functions of one number.
const OF_ONE: [(&str, OfOne); 19] = [
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("ln", f64::ln),
    ("log", f64::log10),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// Rounding functions. They leave integers unchanged.
const ROUNDING: [(&str, OfOne); 4] =
    [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];

/// Functions of two numbers.
const OF_TWO: [(&str, OfTwo); 5] = [
    ("atan2", f64::atan2),
    ("log", |base, number| number.log(base)),
    ("mod", |a, b| a % b),
    ("pow", f64::powf),
    ("power", f64::powf),
];

/// Registers the functions on a connection.
///
/// # Errors
/// Errors of SQLite.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    for (name, function) in OF_ONE {
        mathematics(connection, name, 1, move |call| number(call, 0).map(function))?;
    }
    for (name, function) in OF_TWO {
        mathematics(connection, name, 2, move |call| Some(function(number(call, 0)?, number(call, 1)?)))?;
    }
    mathematics(connection, "pi", 0, |_| Some(std::f64::consts::PI))?;
    for (name, function) in ROUNDING {
        add(connection, name, 1, PURE, move |call| {
            Ok(match call.get(0) {
                ValueRef::Integer(whole) => whole.into(),
                _ => number(call, 0).map(function).into(),
            })
        })?;
    }
    add(connection, "regexp", 2, PURE, regexp)?;
    for (name, at_start, at_end) in [("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        add(connection, name, 2, PURE, move |call| trimmed(call, at_start, at_end))?;
    }
    let aggregate = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_aggregate_function("median", 1, aggregate, Percentile)?;
    connection.create_aggregate_function("percentile", 2, aggregate, Percentile)?;
    vtab::series::load_module(connection)
}

/// Adds a function that returns NULL if `function` returns `None` or NaN.
fn mathematics(
    connection: &Connection,
    name: &'static str,
    arity: i32,
    function: impl Fn(&Arguments<'_, '_>) -> Option<f64> + Send + 'static,
) -> rusqlite::Result<()> {
    add(connection, name, arity, PURE, move |call| Ok(function(call).filter(|value| !value.is_nan()).into()))
}

/// An argument as a number; `None` for NULL, for a blob, and for a text that is not a number.
fn number(arguments: &Arguments<'_, '_>, index: usize) -> Option<f64> {
    match arguments.get(index) {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Text(text) => {
            let is_space = |letter: char| letter.is_ascii_whitespace() || letter == '\x0b';
            let text = std::str::from_utf8(text).ok()?.trim_matches(is_space);
            // Rust also parses `inf` and `nan` as numbers; SQLite does not.
            let is_number = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
            is_number.then(|| text.parse().ok()).flatten()
        }
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// The maximum product of the size of a compiled pattern and the length of the text, both in bytes. SQLite
/// cannot interrupt a match, and the time of a match grows with this product: with the maximum, a match takes
/// about a tenth of a second.
const MATCH_WORK: usize = 1 << 29;
/// The size of a compiled pattern is rounded up to a power of two. The least size is 2^`SMALLEST` bytes (1 KiB).
/// A pattern of more than 2^`LARGEST` bytes (1 MiB) is an error.
const LARGEST: u32 = 20;
const SMALLEST: u32 = 10;

/// A regular expression, and the maximum length in bytes of a text to match.
struct Pattern {
    regex: Regex,
    longest: usize,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, String> {
        let compiled = |power: u32| {
            let regex = RegexBuilder::new(pattern).size_limit(1_usize << power).build();
            let regex = regex.map_err(|error| format!("not a regular expression: {error}"))?;
            Ok(Self { regex, longest: MATCH_WORK >> power })
        };
        (SMALLEST..LARGEST).find_map(|power| compiled(power).ok()).map_or_else(|| compiled(LARGEST), Ok)
    }
}

/// Whether a regular expression matches any part of a text: `text REGEXP pattern`.
fn regexp(arguments: &Arguments<'_, '_>) -> Result<Value, Problem> {
    let pattern = arguments.compiled(0, Pattern::new)?;
    let text = arguments.text(1)?;
    if text.len() > pattern.longest {
        return Err(Problem::Text(format!(
            "the text has {} bytes, but this pattern allows at most {}; use a shorter pattern, or LIKE",
            text.len(),
            pattern.longest
        )));
    }
    arguments.check_interrupt()?;
    Ok(pattern.regex.is_match(&String::from_utf8_lossy(text)).into())
}

/// Removes the characters of the second argument from the start of the first argument, from its end, or from
/// both ends. SQLite's own function compares each character of the text with all characters to remove, which
/// takes minutes if both are long.
fn trimmed(arguments: &Arguments<'_, '_>, at_start: bool, at_end: bool) -> Result<Value, Problem> {
    arguments.check_interrupt()?;
    let (text, characters) = (arguments.as_text(0)?, arguments.as_text(1)?);
    // Searching a few characters is faster without a set.
    let many = if characters.len() > 64 { characters.chars().collect() } else { HashSet::new() };
    let is_removed = |letter: char| many.contains(&letter) || many.is_empty() && characters.contains(letter);
    let mut rest = text.as_ref();
    if at_start {
        rest = rest.trim_start_matches(is_removed);
    }
    if at_end {
        rest = rest.trim_end_matches(is_removed);
    }
    Ok(rest.to_owned().into())
}

/// The aggregate function `percentile`: the value below which a given percentage of the numbers lie,
/// interpolated linearly between two numbers. `median` is the same with 50 percent. NULL is ignored.
struct Percentile;

#[derive(Default)]
struct Numbers {
    numbers: Vec<f64>,
    /// The second argument, which must be the same in all rows; `None` before the first row, and for
    /// `median`.
    percent: Option<f64>,
}

impl Aggregate<Numbers, Option<f64>> for Percentile {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Numbers> {
        Ok(Numbers::default())
    }

    fn step(&self, context: &mut Context<'_>, seen: &mut Numbers) -> rusqlite::Result<()> {
        let arguments = Arguments(context);
        let name = if arguments.count() == 2 { "percentile" } else { "median" };
        let problem = |problem: Problem| problem.of(name);
        let wrong = |text: &str| Problem::Text(text.to_owned()).of(name);
        if arguments.count() == 2 {
            let percent = arguments.number(1).map_err(problem)?;
            let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
            let percent = percent.ok_or_else(|| wrong("argument 2 must be a number from 0 to 100"))?;
            if seen.percent.replace(percent).is_some_and(|before| before != percent) {
                return Err(wrong("argument 2 must be the same in all rows"));
            }
        }
        seen.numbers.extend(arguments.number(0).map_err(problem)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, seen: Option<Numbers>) -> rusqlite::Result<Option<f64>> {
        let Some(Numbers { mut numbers, percent }) = seen.filter(|seen| !seen.numbers.is_empty()) else {
            return Ok(None);
        };
        let place = (numbers.len() - 1) as f64 * percent.unwrap_or(50.0) / 100.0;
        let (_, &mut below, above) = numbers.select_nth_unstable_by(place as usize, f64::total_cmp);
        let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
        Ok(Some(below + (next - below) * place.fract()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<T: rusqlite::types::FromSql>(sql: &str) -> rusqlite::Result<T> {
        let connection = Connection::open_in_memory()?;
        register(&connection)?;
        connection.query_row(&format!("SELECT {sql}"), [], |row| row.get(0))
    }

    #[test]
    fn mathematical_functions_agree_with_sqlite() {
        for (sql, expected) in [
            ("sqrt(2)", Some(2f64.sqrt())),
            ("sqrt(-1)", None),
            ("ln(-1)", None),
            ("sqrt(NULL)", None),
            ("sqrt('x')", None),
            ("sqrt('9')", Some(3.0)),
            ("sqrt(' 9. ' || char(11))", Some(3.0)),
            ("sqrt('9' || char(160))", None),
            ("sqrt('inf')", None),
            ("sqrt('-nan')", None),
            ("sqrt('infinity')", None),
            ("sqrt('1e999')", Some(f64::INFINITY)),
            ("pow(2, 10)", Some(1024.0)),
            ("log(100)", Some(2.0)),
            ("log(2, 8)", Some(3.0)),
            ("mod(7.5, 2)", Some(1.5)),
            ("atan2(1, 1) * 4 - pi()", Some(0.0)),
            ("ceil(1.2)", Some(2.0)),
            ("trunc(-1.7)", Some(-1.0)),
        ] {
            assert_eq!(value::<Option<f64>>(sql).unwrap(), expected, "{sql}");
        }
        assert_eq!(value::<String>("typeof(floor(3)) || typeof(floor(3.5))").unwrap(), "integerreal");
    }

    #[test]
    fn texts_match_regular_expressions() {
        assert!(value::<bool>("'Carlsen,M' REGEXP '^C.*,M$'").unwrap());
        assert!(!value::<bool>("'Carlsen,M' REGEXP '^M'").unwrap());
        assert_eq!(value::<Option<bool>>("NULL REGEXP 'a'").unwrap(), None);
        let error = value::<bool>("'a' REGEXP '('").unwrap_err().to_string();
        assert!(error.starts_with("regexp: "), "{error}");
        // Slow matches are refused.
        for (sql, expected) in [
            ("printf('%.*c', 290000, 'a') REGEXP '((a?){100}){500}b'", "regexp: not a regular expression: "),
            ("printf('%.*c', 290000, 'a') REGEXP '((a?){100}){50}b'", "regexp: the text has 290000 bytes"),
        ] {
            let error = value::<bool>(sql).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(value::<bool>("printf('%.*c', 290000, 'a') || 'b' REGEXP '[^a]$'").unwrap());
        assert!(!value::<bool>("'Carlsen,M' REGEXP '((a?){100}){50}b'").unwrap());
    }

    /// Compares these functions with SQLite's own, also for arguments that SQLite converts to text.
    #[test]
    fn trim_functions_agree_with_sqlite() {
        let own = Connection::open_in_memory().unwrap();
        for sql in [
            "trim('xyaxbyx', 'xy')",
            "ltrim('xyaxbyx', 'xy')",
            "rtrim('xyaxbyx', 'xy')",
            "trim('éaé', 'é')",
            "rtrim(3.50, '0')",
            "rtrim(100, 0)",
            "trim(x'7861', 'x')",
            "trim('a', '')",
            "trim('', 'a')",
            "trim(NULL, 'a')",
            "trim('a', NULL)",
            "rtrim(1e100, '0')",
        ] {
            let sql = format!("quote({sql})");
            let expected: String = own.query_row(&format!("SELECT {sql}"), [], |row| row.get(0)).unwrap();
            assert_eq!(value::<String>(&sql).unwrap(), expected, "{sql}");
        }
        let long =
            "length(trim(printf('%.*c', 300000, 'a'), replace(hex(zeroblob(70000)), '0', 'é') || 'a'))";
        assert_eq!(value::<i64>(long).unwrap(), 0);
    }

    /// The expected values are those of `numpy.percentile` in Python, which interpolates linearly too.
    #[test]
    fn percentiles_are_interpolated() {
        let of = |call: &str| {
            value::<Option<f64>>(&format!("{call} FROM (SELECT value AS x FROM generate_series(1, 10))"))
        };
        assert_eq!(of("median(x)").unwrap(), Some(5.5));
        assert_eq!(of("median(iif(x > 9, NULL, x))").unwrap(), Some(5.0));
        assert_eq!(of("median(NULL)").unwrap(), None);
        assert_eq!(of("percentile(x, 0)").unwrap(), Some(1.0));
        assert_eq!(of("percentile(x, 25)").unwrap(), Some(3.25));
        assert_eq!(of("percentile(x, 100)").unwrap(), Some(10.0));
        let error = of("percentile(x, 101)").unwrap_err().to_string();
        assert_eq!(error, "percentile: argument 2 must be a number from 0 to 100");
        let error = of("percentile(x, x)").unwrap_err().to_string();
        assert_eq!(error, "percentile: argument 2 must be the same in all rows");
        let error = of("median('a')").unwrap_err().to_string();
        assert_eq!(error, "median: argument 1 must be a number, not a string");
    }
}
