//! A player's record.

use crate::place::Place;
use crate::python::printed_by;

/// Asks for the records of `count` frequent players and of as many others in the first games of a collection.
fn agree(corpus: &str, bytes: usize, count: u32) {
    let Some(printed) = printed_by("player.py", corpus, bytes, &["1", &count.to_string()]) else { return };
    assert!(printed.ends_with(" games\n"), "{printed}");
}

const GAMES: &str = r#"[White "Polgar, Judit"]
[Black "Short, Nigel"]
[WhiteElo "2700"]
[BlackElo "2650"]
[Date "2001.02.03"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[White "Short, Nigel"]
[Black "Polgar, J"]
[WhiteElo "2640"]
[Date "2003.??.??"]
[Result "1/2-1/2"]

1. e4 c5 1/2-1/2

[White "Polgar, Judit"]
[Black "<b>*|x"]
[Result "*"]

1. e4 e5 2. Nc3 *

[White "Polgar, Zsuzsa"]
[Black "Short, Nigel"]
[Result "0-1"]

1. d4 0-1
"#;

fn polgar() -> Place {
    Place::asking(&["player", "games.db"]).indexed(GAMES)
}

#[test]
fn a_record_is_told_with_what_it_is_of() {
    let place = polgar();
    let run = place.ask(&["polgar, judit"]);
    insta::assert_snapshot!(run.stdout, @"
    Polgar, Judit and 1 other player: 3 games, 2001 to 2003, 1 without a result

    side   games  +  =  -  score    rating  opponents  performance
    ──────────────────────────────────────────────────────────────
    all        3  1  1  0   75.0 %    2700       2645         2838
    White      2  1  0  0  100.0 %    2700       2650         3450
    Black      1  0  1  0   50.0 %               2640         2640

    Openings with White:
    opening                    games  +  =  -  score    rating  opponents  performance
    ──────────────────────────────────────────────────────────────────────────────────
    C25 Vienna Game                1  0  0  0
    C40 King's Knight Opening      1  1  0  0  100.0 %    2700       2650         3450

    Lines with White:
    line       share    games  +  =  -  score    rating  opponents  performance
    ───────────────────────────────────────────────────────────────────────────
    1. e4      100.0 %      2  1  0  0  100.0 %    2700       2650         3450
      1... e5  100.0 %      2  1  0  0  100.0 %    2700       2650         3450

    Openings with Black:
    opening               games  +  =  -  score    rating  opponents  performance
    ─────────────────────────────────────────────────────────────────────────────
    B20 Sicilian Defense      1  0  1  0   50.0 %               2640         2640

    Years:
    year     games  +  =  -  score    rating  opponents  performance
    ───────────────────────────────────────────────────────────────────────────────────────────────
    2001         1  1  0  0  100.0 %    2700       2650         3450  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
    2003         1  0  1  0   50.0 %               2640         2640  ▇▇▇▇
    unknown      1  0  0  0
    bars show the performance, from 2500 to 3500

    Opponents' ratings:
    rated         games  +  =  -  score    rating  opponents  performance
    ─────────────────────────────────────────────────────────────────────
    2600 to 2699      2  1  1  0   75.0 %    2700       2645         2838
    unknown           1  0  0  0

    Opponents:
    opponent      games  +  =  -  score    rating  opponents  performance
    ─────────────────────────────────────────────────────────────────────
    Short, Nigel      2  1  1  0   75.0 %    2700       2645         2838
    <b>*|x            1  0  0  0

    Best wins:
    game  side   opponent      rating  date        event  opening
    ───────────────────────────────────────────────────────────────────────────────
       1  White  Short, Nigel    2650  2001.02.03         C40 King's Knight Opening
    ");
    insta::assert_snapshot!(run.stderr, @r#"pgndex: note: the name fits 2 players, all of whose games count: "Polgar, Judit" (2), "Polgar, J" (1); for one of them: '=Polgar, Judit'"#);
    let run = place.ask(&["polgar", "--format", "md", "--depth", "0", "-n", "1"]);
    insta::assert_snapshot!(run.stdout, @"
    # Polgar, Judit and 2 other players: 4 games, 2001 to 2003, 1 without a result

    | side  | games | + | = | - | score   | rating | opponents | performance |
    |-------|------:|--:|--:|--:|---------|-------:|----------:|------------:|
    | all   |     4 | 1 | 1 | 1 |  50.0 % |   2700 |      2645 |        2838 |
    | White |     3 | 1 | 0 | 1 |  50.0 % |   2700 |      2650 |        3450 |
    | Black |     1 | 0 | 1 | 0 |  50.0 % |        |      2640 |        2640 |

    ## Openings with White, 1 of 3

    | opening                  | games | + | = | - | score   | rating | opponents | performance |
    |--------------------------|------:|--:|--:|--:|---------|--------|-----------|-------------|
    | A40 Queen's Pawn Opening |     1 | 0 | 0 | 1 |   0.0 % |        |           |             |

    ## Openings with Black

    | opening              | games | + | = | - | score   | rating | opponents | performance |
    |----------------------|------:|--:|--:|--:|---------|--------|----------:|------------:|
    | B20 Sicilian Defense |     1 | 0 | 1 | 0 |  50.0 % |        |      2640 |        2640 |

    ## Years

    | year    | games | + | = | - | score   | rating | opponents | performance |                               |
    |---------|------:|--:|--:|--:|---------|-------:|----------:|------------:|-------------------------------|
    | 2001    |     1 | 1 | 0 | 0 | 100.0 % |   2700 |      2650 |        3450 | ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ |
    | 2003    |     1 | 0 | 1 | 0 |  50.0 % |        |      2640 |        2640 | ▇▇▇▇                          |
    | unknown |     2 | 0 | 0 | 1 |   0.0 % |        |           |             |                               |

    ## Opponents' ratings

    | rated        | games | + | = | - | score   | rating | opponents | performance |
    |--------------|------:|--:|--:|--:|---------|-------:|----------:|------------:|
    | 2600 to 2699 |     2 | 1 | 1 | 0 |  75.0 % |   2700 |      2645 |        2838 |
    | unknown      |     2 | 0 | 0 | 1 |   0.0 % |        |           |             |

    ## Opponents, 1 of 2

    | opponent     | games | + | = | - | score   | rating | opponents | performance |
    |--------------|------:|--:|--:|--:|---------|-------:|----------:|------------:|
    | Short, Nigel |     3 | 1 | 1 | 1 |  50.0 % |   2700 |      2645 |        2838 |

    ## Best wins

    | game | side  | opponent     | rating | date       | event | opening                   |
    |-----:|-------|--------------|-------:|------------|-------|---------------------------|
    |    1 | White | Short, Nigel |   2650 | 2001.02.03 |       | C40 King's Knight Opening |
    ");
    insta::assert_snapshot!(run.stderr, @r#"pgndex: note: the name fits 3 players, all of whose games count: "Polgar, Judit" (2), "Polgar, J" (1), "Polgar, Zsuzsa" (1); for one of them: '=Polgar, Judit'"#);
    let answer = place.json(&["=Polgar, J"]);
    assert_eq!(answer["black"]["games"], 1);
    assert_eq!(answer["all"]["opponent_rating"], 2640);
    assert_eq!(answer["all"]["performance"], 2640);
}

#[test]
fn why_there_is_nothing_is_told() {
    let place = polgar();
    insta::assert_snapshot!(place.told(0, &["polgarr"]), @r#"pgndex: note: no player has a name that fits NAME; did you mean "Polgar, Judit", "Polgar, J" or "Polgar, Zsuzsa"?"#);
    insta::assert_snapshot!(place.told(0, &["short", "--since", "2010", "--until", "2020"]), @"
    pgndex: note: no game of this player passes the filters
    pgndex: note: there would be 2 games without --since
    ");
    insta::assert_snapshot!(place.told(0, &["short", "--opponent", "kasparov"]), @"pgndex: note: no player has a name that fits --opponent");
    let find = place.run(&["find", "games.db", "--opponent", "short"]);
    insta::assert_snapshot!(find.stderr, @"pgndex: error: --opponent NAME goes with --player NAME; give both, or --player alone for either side");
}

#[test]
fn some_records() {
    agree("otb-40k", 400_000, 10);
}

#[test]
#[ignore = "takes a minute"]
fn many_records() {
    for corpus in ["otb-40k", "fics", "lichess-24k", "tcec-3k"] {
        agree(corpus, 6_000_000, 10);
    }
}
