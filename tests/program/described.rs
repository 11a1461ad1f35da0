//! Searches for positions by description, compared with python-chess, which reads every game.

use crate::program::python::printed_by;

/// Makes `count` searches in the first games of a collection.
fn agree(corpus: &str, bytes: usize, seed: u32, count: u32) {
    let arguments = [seed, count].map(|number| number.to_string());
    let arguments = arguments.each_ref().map(String::as_str);
    let Some(printed) = printed_by("described.py", corpus, bytes, &arguments) else { return };
    let found =
        printed.strip_suffix(" games\n").and_then(|rest| rest.rsplit(' ').next()?.parse::<u32>().ok());
    // In a collection of few long games, many searches find no game or only one.
    assert!(found.is_some_and(|found| found > count / 2), "{printed}");
}

#[test]
fn some_descriptions_agree_with_python_chess() {
    agree("otb-40k", 30_000, 1, 20);
    agree("fics", 20_000, 2, 10);
}

#[test]
#[ignore = "takes a minute"]
fn many_descriptions_agree_with_python_chess() {
    for (seed, corpus) in (1..).zip(["otb-40k", "fics", "lichess-24k", "tcec-3k", "chess960-20k"]) {
        agree(corpus, 200_000, seed, 100);
    }
}
