//! Positions as people paste them.

use pgndex::query::PositionQuery;

/// The error and all that caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn fens_are_understood_or_refused_with_what_to_change() {
    let table = include_str!("../data/pasted_fens.tsv");
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .collect();
    assert!(rows.len() >= 60);
    for (text, expected) in rows {
        let text = text.replace("\\n", "\n");
        match (PositionQuery::from_fen(&text), expected.strip_prefix('!')) {
            (Ok(query), None) => assert_eq!(query.position.canonical_fen(), expected, "{text}"),
            (Err(error), Some(part)) => assert!(chain(&error).contains(part), "{text}: {}", chain(&error)),
            (Ok(query), Some(_)) => panic!("{text} was read as {}", query.position.canonical_fen()),
            (Err(error), None) => panic!("{text}: {}", chain(&error)),
        }
    }
}
