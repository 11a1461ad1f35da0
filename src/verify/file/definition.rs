//! Compares the definitions of tables, indexes and views word by word.

use crate::store::sql::words;

/// Whether `found` is the same definition as `expected`, or a table with additional columns: after the
/// expected ones, or between columns of an earlier version and those of a later one.
pub(crate) fn is_extension(expected: &str, found: &str) -> bool {
    let (expected, found) = (words(expected), words(found));
    if expected == found {
        return true;
    }
    let (Some(expected), Some(found)) = (Parts::of(&expected), Parts::of(&found)) else { return false };
    let (own, constraints) = expected.columns();
    let (columns, found_constraints) = found.columns();
    let mut columns = columns.iter();
    expected.head == found.head
        && expected.tail == found.tail
        && own.iter().all(|own| columns.any(|column| column == own))
        && constraints == found_constraints
}

/// Whether an item of a table's definition is a constraint, not a column.
fn is_constraint(item: &[&str]) -> bool {
    const WORDS: [&str; 5] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];
    item.first().is_some_and(|word| WORDS.iter().any(|constraint| word.eq_ignore_ascii_case(constraint)))
}

/// A `CREATE TABLE` statement.
struct Parts<'w, 's> {
    /// The words up to the first parenthesis.
    head: &'w [&'s str],
    /// The items between commas, each as its words.
    items: Vec<&'w [&'s str]>,
    /// The words from the closing parenthesis on.
    tail: &'w [&'s str],
}

impl<'w, 's> Parts<'w, 's> {
    fn of(words: &'w [&'s str]) -> Option<Self> {
        let is_table = words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("TABLE"));
        let open = words.iter().position(|word| *word == "(").filter(|_| is_table)?;
        let (mut depth, mut items, mut first) = (0_u32, Vec::new(), open + 1);
        for (index, word) in words.iter().enumerate().skip(open) {
            match *word {
                "(" => depth += 1,
                ")" if depth == 1 => {
                    items.push(&words[first..index]);
                    return Some(Self { head: &words[..open], items, tail: &words[index..] });
                }
                ")" => depth -= 1,
                "," if depth == 1 => {
                    items.push(&words[first..index]);
                    first = index + 1;
                }
                _ => {}
            }
        }
        None
    }

    /// The columns, and the constraints after them.
    fn columns(&self) -> (&[&'w [&'s str]], &[&'w [&'s str]]) {
        self.items.split_at(self.items.iter().take_while(|item| !is_constraint(item)).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "CREATE TABLE t (\n    a INTEGER NOT NULL, -- the first, of two\n    b TEXT DEFAULT 'x, (y',\n    \
                         PRIMARY KEY (a, b)\n) WITHOUT ROWID";

    #[test]
    fn a_table_may_have_more_columns() {
        for found in [
            TABLE,
            "CREATE TABLE t (a INTEGER NOT NULL, note, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', note, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', c DEFAULT '), --', \"d e\" CHECK (\"d e\" IN (1, 2)), \
             PRIMARY KEY (a, b)) WITHOUT ROWID",
        ] {
            assert!(is_extension(TABLE, found), "{found}");
        }
    }

    #[test]
    fn other_differences_are_reported() {
        for found in [
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b))",
            "CREATE TABLE t (b TEXT DEFAULT 'x, (y', a INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, c TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', CHECK (a > b), PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', note",
            "CREATE TABLE t",
            "",
        ] {
            assert!(!is_extension(TABLE, found), "{found}");
        }
        assert!(!is_extension("CREATE INDEX i ON t (a)", "CREATE INDEX i ON t (a, b)"));
        assert!(!is_extension("CREATE VIEW v AS SELECT f(a)", "CREATE VIEW v AS SELECT f(a, b)"));
    }
}
