//! `pgndex players`: the list of players, and names that are merged for every query.

use std::fmt::Write as _;
use std::fs;

use crate::command::Run;
use crate::needs::corpus;
use crate::workspace::{Workspace, json};

/// Games with few moves, each with White, Black and a year.
fn games(games: &[(&str, &str, u32)]) -> String {
    let mut pgn = String::new();
    for (number, (white, black, year)) in games.iter().enumerate() {
        let first = ["e4", "d4", "c4", "Nf3", "g3", "b3"][number % 6];
        let _ = write!(
            pgn,
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Date \"{year}.01.{:02}\"]\n[Result \"1-0\"]\n\n1. {first} 1-0\n\n",
            number % 28 + 1
        );
    }
    pgn
}

/// Several players with several spellings.
const GAMES: [(&str, &str, u32); 12] = [
    ("Korchnoi, Viktor", "Caruana, Fabiano", 1960),
    ("Kortschnoj, Viktor", "Caruana,F", 1970),
    ("Kortschnoj, Viktor", "Fabiano Caruana", 1971),
    ("Kortschnoj, Viktor", "Caruana, Francesco", 1972),
    ("Korchnoi,V", "Vachier-Lagrave, Maxime", 1980),
    ("Vachier Lagrave,M", "Ding, Liren", 2010),
    ("Ding Liren", "Kortschnoj, Viktor", 1990),
    ("Liren Ding", "Kortschnoj, Viktor", 1991),
    ("Carlsen, Magnus", "Carlsen,H", 2001),
    ("Carlsen, Magnus", "Kortschnoj, Viktor", 2002),
    ("Carlsen, Magnus", "?", 2003),
    ("?", "Carlsen, Magnus", 2004),
];

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

fn workspace() -> Workspace {
    Workspace::new().indexed(&games(&GAMES))
}

fn run_players(workspace: &Workspace, arguments: &[&str]) -> Run {
    workspace.run_with(&[&["players", "games.db"], arguments].concat())
}

#[track_caller]
fn ok(workspace: &Workspace, arguments: &[&str]) -> String {
    workspace.ok(&[&["players", "games.db"], arguments].concat())
}

/// The number of games that a filter finds.
#[track_caller]
fn found(workspace: &Workspace, option: &str, name: &str) -> usize {
    let run = workspace.run(&["export", "games.db", "--format", "csv", option, name]);
    assert_eq!(run.status, 0, "{run:?}");
    run.stdout.lines().count() - 1
}

#[test]
fn players_are_listed_with_games_and_years() {
    let workspace = workspace();
    insta::assert_snapshot!(ok(&workspace, &[]), @r"
    games  from    to  name                     other spellings
    ───────────────────────────────────────────────────────────
        6  1970  2002  Kortschnoj, Viktor
        4  2001  2004  Carlsen, Magnus
        1  2001  2001  Carlsen,H
        1  1960  1960  Caruana, Fabiano
        1  1972  1972  Caruana, Francesco
        1  1970  1970  Caruana,F
        1  1990  1990  Ding Liren
        1  2010  2010  Ding, Liren
        1  1971  1971  Fabiano Caruana
        1  1960  1960  Korchnoi, Viktor
        1  1980  1980  Korchnoi,V
        1  1991  1991  Liren Ding
        1  2010  2010  Vachier Lagrave,M
        1  1980  1980  Vachier-Lagrave, Maxime
    14 players
    ");
    insta::assert_snapshot!(run_players(&workspace, &["--sort", "name", "--limit", "2", "--offset", "1", "--format", "csv"]).stdout, @r#"
    name,fide_id,games,as_white,as_black,first_year,last_year,spellings
    "Carlsen, Magnus",,4,3,1,2001,2004,"Carlsen, Magnus"
    "Caruana,F",,1,0,1,1970,1970,"Caruana,F"
    "#);
    insta::assert_snapshot!(ok(&workspace, &["ding,liren", "--format", "json"]), @r#"
    {"name":"Ding Liren","fide_id":null,"games":1,"as_white":1,"as_black":0,"first_year":1990,"last_year":1990,"spellings":[{"name":"Ding Liren","games":1}]}
    {"name":"Ding, Liren","fide_id":null,"games":1,"as_white":0,"as_black":1,"first_year":2010,"last_year":2010,"spellings":[{"name":"Ding, Liren","games":1}]}
    {"name":"Liren Ding","fide_id":null,"games":1,"as_white":1,"as_black":0,"first_year":1991,"last_year":1991,"spellings":[{"name":"Liren Ding","games":1}]}
    "#);
    insta::assert_snapshot!(run_players(&workspace, &["dinger"]).stderr, @r#"pgndex: note: no player has a name that matches "dinger"; did you mean "Ding, Liren", "Ding Liren" or "Liren Ding"?"#);
    insta::assert_snapshot!(run_players(&workspace, &["--offset", "99"]).stderr, @"pgndex: note: 14 players; --offset 99 skips all players");
}

#[test]
fn spellings_of_one_person_find_each_other() {
    let workspace = workspace();
    for (names, count) in [
        (&["Caruana, Fabiano", "Caruana,F", "Fabiano Caruana", "F. Caruana", "caruana f"][..], 3),
        (&["Vachier-Lagrave, Maxime", "Vachier Lagrave,M", "vachier-lagrave", "Maxime Vachier Lagrave"], 2),
        (&["Ding, Liren", "Ding Liren", "Liren Ding", "Ding,L", "Liren, Ding"], 3),
        (&["Korchnoi, Viktor", "Korchnoi,V", "Korchnoi, Viktor L"], 2),
        (&["Carlsen, Magnus", "Carlsen,M", "M Carlsen"], 4),
        (&["=Ding Liren", "=Ding, Liren", "Carlsen, Henrik"], 1),
    ] {
        for name in names {
            // `Caruana, Francesco` has the same initial.
            let others = usize::from(["Caruana,F", "F. Caruana", "caruana f"].contains(name));
            assert_eq!(found(&workspace, "--player", name), count + others, "{name}");
        }
    }
    assert_eq!(found(&workspace, "--white", "Ding, Liren"), 2);
    assert_eq!(found(&workspace, "--black", "Ding, Liren"), 1);
}

#[test]
fn merged_names_count_in_every_query_until_split() {
    let workspace = workspace();
    assert_eq!(found(&workspace, "--player", "korchnoi"), 2);
    let before = fs::read(workspace.path("games.db")).expect("the database");
    let merged = run_players(&workspace, &["--merge", "Korchnoi, Viktor", "kortschnoj", "Korchnoi,V"]);
    assert_eq!((merged.status, merged.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(merged.stderr, @r#"
    pgndex: note: "Korchnoi, Viktor" now has 8 games under 3 spellings
    pgndex: note: to undo this: pgndex players games.db --split "Korchnoi, Viktor"
    "#);
    for (option, name, count) in [
        ("--player", "korchnoi", 8),
        ("--player", "=Korchnoi,V", 8),
        ("--white", "kortschnoj", 5),
        ("--black", "Viktor Kortschnoj", 3),
    ] {
        assert_eq!(found(&workspace, option, name), count, "{option} {name}");
    }
    let find = ["find", "games.db", "--moves", "1. e4", "--player", "kortschnoj", "--format", "csv"];
    assert_eq!(workspace.stdout_of(&find).lines().count(), 3);
    let both = ["export", "games.db", "--format", "csv", "--player", "korchnoi", "--opponent", "caruana"];
    assert_eq!(workspace.stdout_of(&both).lines().count(), 5);
    let explored = workspace
        .stdout_of(&["explore", "games.db", "--fen", START, "--player", "korchnoi", "--format", "json"]);
    assert_eq!(json(&explored)["white"], 8);
    insta::assert_snapshot!(ok(&workspace, &["korchnoi"]), @r"
    games  from    to  name              other spellings
    ───────────────────────────────────────────────────────────────────────────
        8  1960  2002  Korchnoi, Viktor  Kortschnoj, Viktor (6); Korchnoi,V (1)
    1 player
    ");
    insta::assert_snapshot!(ok(&workspace, &["korchnoi", "--format", "json"]), @r#"{"name":"Korchnoi, Viktor","fide_id":null,"games":8,"as_white":5,"as_black":3,"first_year":1960,"last_year":2002,"spellings":[{"name":"Kortschnoj, Viktor","games":6},{"name":"Korchnoi, Viktor","games":1},{"name":"Korchnoi,V","games":1}]}"#);
    let sql = "SELECT name, spellings, games, as_white, as_black, first_year, last_year FROM players WHERE spellings > 1";
    insta::assert_snapshot!(workspace.stdout_of(&["sql", "games.db", "--format", "csv", sql]), @r#"
    name,spellings,games,as_white,as_black,first_year,last_year
    "Korchnoi, Viktor",3,8,5,3,1960,2002
    "#);
    // The tags of the games do not change.
    let pgn = workspace.stdout_of(&["export", "games.db", "--format", "pgn", "--player", "korchnoi"]);
    assert!(pgn.contains("[White \"Kortschnoj, Viktor\"]") && pgn.contains("[White \"Korchnoi,V\"]"));
    insta::assert_snapshot!(ok(&workspace, &["--export-aliases"]), @r#"
    name,alias,fide_id
    "Korchnoi, Viktor","Korchnoi,V",
    "Korchnoi, Viktor","Kortschnoj, Viktor",
    "#);
    assert!(workspace.stdout_of(&["verify", "games.db", "--all"]).starts_with("sound"));

    insta::assert_snapshot!(run_players(&workspace, &["--split", "Korchnoi,V"]).stderr, @r#"pgndex: note: "Korchnoi,V" is separate from "Korchnoi, Viktor" again"#);
    assert_eq!(found(&workspace, "--player", "=Korchnoi,V"), 1);
    assert_eq!(found(&workspace, "--player", "kortschnoj"), 7);
    insta::assert_snapshot!(run_players(&workspace, &["--split", "Korchnoi, Viktor"]).stderr, @r#"pgndex: note: "Kortschnoj, Viktor" is separate from "Korchnoi, Viktor" again"#);
    assert_eq!(found(&workspace, "--player", "korchnoi"), 2);
    assert_eq!(ok(&workspace, &["--export-aliases"]), "name,alias,fide_id\n");
    assert_eq!(run_players(&workspace, &["--split", "Korchnoi, Viktor"]).status, 1);
    assert_eq!(fs::read(workspace.path("games.db")).expect("the database").len(), before.len());
}

#[test]
fn an_ambiguous_name_is_not_merged() {
    let workspace = workspace();
    for (names, expected) in [
        (
            &["Korchnoi, Viktor", "caruana"][..],
            "\"caruana\" matches 4 names: \"Caruana, Fabiano\", \"Caruana,F\", \"Fabiano Caruana\", \"Caruana, Francesco\"; give one of them in full",
        ),
        (
            &["Korchnoi, Viktor", "Kortshnoj"],
            "no player has a name that matches \"Kortshnoj\"; did you mean \"Kortschnoj, Viktor\"",
        ),
        (&["Ding Liren", "Ding Liren"], "leave out this alias"),
        (&["Ding Liren", "="], "the name is empty"),
    ] {
        let run = run_players(&workspace, &[&["--merge"], names].concat());
        assert!(run.status == 1 && run.stderr.contains(expected), "{run:?}");
    }
    let split = |name| run_players(&workspace, &["--split", name]).stderr;
    assert!(
        split("magnus").contains("\"Carlsen, Magnus\" is not merged with another name"),
        "{}",
        split("magnus")
    );
    assert!(split("korchnoi").contains("\"korchnoi\" matches 2 names: "), "{}", split("korchnoi"));
    for arguments in
        [&["--merge", "Ding Liren"][..], &["ding", "--suggest"], &["--suggest", "--split", "ding"]]
    {
        assert_eq!(run_players(&workspace, arguments).status, 2, "{arguments:?}");
    }
    assert_eq!(ok(&workspace, &["--export-aliases"]), "name,alias,fide_id\n");
}

#[test]
fn a_list_of_names_is_read_and_written() {
    let workspace = workspace();
    let list = "\u{feff}alias,fide_id,name\r\n\"Kortschnoj, Viktor\",,\"Korchnoi, Viktor\"\r\n\
        \"Korchnoi,V\",2000016,\"Korchnoi, Viktor\"\r\n\"Viktor the \"\"Terrible\"\"\",,\"Korchnoi, Viktor\"\r\n\
        Liren Ding,,Ding Liren\r\n";
    workspace.write("aliases.csv", list);
    insta::assert_snapshot!(run_players(&workspace, &["--aliases", "aliases.csv"]).stderr, @r#"pgndex: note: 4 spellings read (4 new); "Viktor the "Terrible"" is not in any game yet"#);
    let written = ok(&workspace, &["--export-aliases"]);
    insta::assert_snapshot!(written, @r#"
    name,alias,fide_id
    Ding Liren,Liren Ding,
    "Korchnoi, Viktor","Korchnoi,V",2000016
    "Korchnoi, Viktor","Kortschnoj, Viktor",2000016
    "Korchnoi, Viktor","Viktor the ""Terrible""",2000016
    "#);
    assert_eq!(found(&workspace, "--player", "terrible"), 8);
    assert_eq!(found(&workspace, "--player", "=Liren Ding"), 2);
    // The exported list gives the same list again.
    workspace.write("written.csv", &written);
    assert_eq!(run_players(&workspace, &["--aliases", "written.csv"]).status, 0);
    assert_eq!(ok(&workspace, &["--export-aliases"]), written);
    let listed = json(&ok(&workspace, &["korchnoi", "--format", "json"]));
    assert_eq!(listed["fide_id"], 2_000_016);
}

#[test]
fn an_invalid_list_is_reported_with_its_line_and_changes_nothing() {
    let workspace = workspace();
    workspace.write("good.csv", "name,alias\nDing Liren,Liren Ding\n");
    assert_eq!(run_players(&workspace, &["--aliases", "good.csv"]).status, 0);
    let before = ok(&workspace, &["--export-aliases"]);
    let reported: String = [
        "",
        "Ding Liren,Liren Ding\n",
        "name,alias,elo\nA,B,1\n",
        "name,name,alias\nA,B,C\n",
        "name,alias\nCaruana, Fabiano,Caruana\n",
        "name,alias\n\"A,B\nC,D\n",
        "name,alias\nA;B\n",
        "name;alias\nA;B\n",
        "name,alias\nA,\n",
        "name,alias,fide_id\nA,B,x\n",
        "name,alias,fide_id\nA,B,1\nA,C,2\n",
        "name,alias\nA,A\n",
        "name,alias\nA,C\n\nB,C\n",
        "name,alias\nA,B\nB,C\n",
        "name,alias\nA,B\nB,A\n",
        "name,alias\nZ,Y\nLiren Ding,A\n",
        "name,alias\nZ,Y\nA,Liren Ding\n",
    ]
    .iter()
    .map(|list| {
        workspace.write("bad.csv", list);
        let run = run_players(&workspace, &["--aliases", "bad.csv"]);
        assert_eq!((run.status, ok(&workspace, &["--export-aliases"])), (1, before.clone()), "{list:?}");
        run.stderr
    })
    .collect();
    insta::assert_snapshot!(reported, @r#"
    pgndex: error: bad.csv: the file is empty; its first line must be name,alias or name,alias,fide_id
    pgndex: error: bad.csv:1: unknown column "ding liren"; the first line must be name,alias or name,alias,fide_id
    pgndex: error: bad.csv:1: unknown column "elo"; the first line must be name,alias or name,alias,fide_id
    pgndex: error: bad.csv:1: the column name occurs twice; the first line must be name,alias or name,alias,fide_id
    pgndex: error: bad.csv:2: 3 fields, but 2 columns; put names with commas in double quotes
    pgndex: error: bad.csv:2: 1 field, but 2 columns; is a double quote not closed?
    pgndex: error: bad.csv:2: 1 field, but 2 columns; separate fields by commas
    pgndex: error: bad.csv:1: separate the fields by commas, not by semicolons; the first line must be name,alias or name,alias,fide_id
    pgndex: error: bad.csv:2: the alias is empty; fill it in, or leave the line out
    pgndex: error: bad.csv:2: "x" is not a FIDE number; write only digits, or leave the field empty
    pgndex: error: bad.csv:3: "A" has the FIDE number 1, so it cannot have 2; keep the correct number; nothing was changed
    pgndex: error: bad.csv:2: one of the aliases is "A" itself, or already merged with it; leave out this alias; nothing was changed
    pgndex: error: bad.csv:4: "C" is already another spelling of "A", so it cannot also be a spelling of "B"; choose one of these two players; nothing was changed
    pgndex: error: bad.csv:3: "B" is itself another spelling of "A"; list "C" as a spelling of "A" instead; nothing was changed
    pgndex: error: bad.csv:2: "A" and "B" are each listed as a spelling of the other; keep one of the two lines; nothing was changed
    pgndex: error: bad.csv:3: "Liren Ding" is itself another spelling of "Ding Liren"; list "A" as a spelling of "Ding Liren" instead; nothing was changed
    pgndex: error: bad.csv:3: "Liren Ding" is already another spelling of "Ding Liren", so it cannot also be a spelling of "A"; choose one of these two players; nothing was changed
    "#);
    workspace.write("bad.csv", b"name,alias\nA,B\nM\xfcller,K\n");
    assert!(
        run_players(&workspace, &["--aliases", "bad.csv"])
            .stderr
            .contains("bad.csv:3: not UTF-8; save the file as UTF-8")
    );
    assert_eq!(run_players(&workspace, &["--aliases", "nowhere.csv"]).status, 1);
}

#[test]
fn names_stay_merged_when_games_are_added() {
    let workspace = workspace();
    assert_eq!(
        run_players(&workspace, &["--merge", "Korchnoi, Viktor", "Kortschnoj, Viktor", "=Korcnoj,V"]).status,
        0
    );
    assert_eq!(found(&workspace, "--player", "korcnoj"), 7);
    // A spelling of a third player.
    insta::assert_snapshot!(run_players(&workspace, &["--merge", "=Korchnoi, V. L.", "=Korcnoj,V"]).stderr, @r#"
    pgndex: note: "Korcnoj,V" was already another spelling of "Korchnoi, Viktor", so "Korchnoi, Viktor" is merged too
    pgndex: note: 2 of these names are not in any game yet
    pgndex: note: "Korchnoi, V. L." now has 7 games under 2 spellings
    "#);
    let new = games(&[("Korcnoj,V", "Spassky, Boris", 1977), ("Kortschnoj, Viktor", "Spassky, Boris", 1978)]);
    workspace.write("new.pgn", new);
    workspace.stdout_of(&["index", "--quiet", "games.db", "new.pgn"]);
    assert_eq!(found(&workspace, "--player", "korcnoj"), 9);
    workspace.stdout_of(&["index", "--quiet", "--reread", "games.db"]);
    assert_eq!(found(&workspace, "--player", "korcnoj"), 9);
}

#[test]
fn another_spelling_with_many_more_games_is_reported() {
    let workspace = workspace();
    let run = workspace.run(&["export", "games.db", "--format", "csv", "--player", "korchnoi"]);
    insta::assert_snapshot!(run.stderr, @r#"
    pgndex: note: --player matches 2 players: "Korchnoi, Viktor" (1), "Korchnoi,V" (1); to choose one, give it exactly: "=Korchnoi, Viktor"
    pgndex: note: --player matches "Korchnoi, Viktor" (1 game), and "Kortschnoj, Viktor" has 6 games; if this is the same player: pgndex players games.db --merge "Kortschnoj, Viktor" "Korchnoi, Viktor"
    "#);
    for name in ["kortschnoj", "carlsen", "ding", "caruana"] {
        let run = workspace.run(&["export", "games.db", "--format", "csv", "--player", name]);
        assert!(!run.stderr.contains("--merge"), "{name}: {}", run.stderr);
    }
}

#[test]
fn only_names_that_can_belong_to_one_person_are_suggested() {
    let workspace = workspace();
    let suggested = run_players(&workspace, &["--suggest"]).stdout;
    insta::assert_snapshot!(suggested, @r#"
    name,alias,fide_id,why,name_games,name_years,name_ratings,alias_games,alias_years,alias_ratings
    "Caruana, Fabiano",Fabiano Caruana,,"same name, written differently",1,1960,,1,1971,
    "Ding, Liren",Ding Liren,,"same name, written differently",1,2010,,1,1990,
    "Ding, Liren",Liren Ding,,"same name, written differently",1,2010,,1,1991,
    "Korchnoi, Viktor","Korchnoi,V",,given names shortened; no other name matches,1,1960,,1,1980,
    "Vachier-Lagrave, Maxime","Vachier Lagrave,M",,given names shortened; no other name matches,1,1980,,1,2010,
    "#);
    workspace.write("suggested.csv", suggested);
    assert_eq!(run_players(&workspace, &["--aliases", "suggested.csv"]).status, 0);
    assert_eq!(suggested_pairs(&workspace), "");
}

/// The name of two players in consultation is not another spelling of the name of one of them.
#[test]
fn players_who_consulted_each_other_are_not_suggested() {
    let workspace = Workspace::new().indexed(&games(&[
        ("Adams, Michael", "Carlsen, Magnus", 2001),
        ("Adams, Michael", "Carlsen, Magnus", 2002),
        ("Adams,Michael:Mortazavi,Ali", "Carlsen,M", 2003),
    ]));
    assert_eq!(suggested_pairs(&workspace), "Carlsen, Magnus < Carlsen,M");
}

/// The suggested pairs as `name < alias`.
#[track_caller]
fn suggested_pairs(workspace: &Workspace) -> String {
    let run = run_players(workspace, &["--suggest"]);
    assert_eq!(run.status, 0, "{run:?}");
    let mut rows = csv::Reader::from_reader(run.stdout.as_bytes());
    let pairs = rows.records().map(|row| {
        let row = row.expect("a row");
        format!("{} < {}", &row[0], &row[1])
    });
    pairs.collect::<Vec<_>>().join("; ")
}

/// Suggestions for a database with one game for each name against another opponent, with a year and, if not 0, a rating
/// and a FIDE id.
fn suggested_for(names: &[(&str, u32, u32, u32)]) -> (String, String) {
    let mut pgn = String::new();
    for (number, (name, year, rating, fide_id)) in names.iter().enumerate() {
        let tag = |tag: &str, value: u32| {
            if value > 0 { format!("[{tag} \"{value}\"]\n") } else { String::new() }
        };
        let _ = write!(
            pgn,
            "[White \"{name}\"]\n[Black \"Opp {number}\"]\n[Date \"{year}.??.??\"]\n{}{}\n1. e4 *\n\n",
            tag("WhiteElo", *rating),
            tag("WhiteFideId", *fide_id)
        );
    }
    let workspace = Workspace::new().indexed(&pgn);
    (suggested_pairs(&workspace), run_players(&workspace, &["--suggest"]).stderr)
}

#[test]
fn names_that_exclude_each_other_are_not_grouped() {
    for (names, expected, left_out) in [
        (&["Smith, D.", "Smith, David", "Smith,Dan"][..], "", "\"Smith, D.\""),
        (&["Anand,V", "Anand, Viswanathan", "Anand,Vignesh"], "", "\"Anand,V\""),
        (
            &["Aronian,L", "Aronian, Levon", "Aronian,Lev", "Aronian,Laurel"],
            "Aronian, Levon < Aronian,Lev",
            "\"Aronian,L\"",
        ),
        (
            &["Karpov, Anatoly", "Karpov,Ana", "Karpov,An", "Anatoly Karpov"],
            "Karpov, Anatoly < Anatoly Karpov; Karpov, Anatoly < Karpov,An; Karpov, Anatoly < Karpov,Ana",
            "",
        ),
        (
            &["Nielsen, Peter Heine", "Nielsen,PH", "Nielsen, P.H."],
            "Nielsen, Peter Heine < Nielsen, P.H.; Nielsen, Peter Heine < Nielsen,PH",
            "",
        ),
        (
            &["Capablanca, Jose", "Capablanca, Jose Raul", "Capablanca, Jose Maria"],
            "",
            "\"Capablanca, Jose\"",
        ),
        // Complete names, one of which begins with the other.
        (&["Xu,Yi", "Xu,Yinglun"], "", ""),
        (&["Wang Yu", "Wang, Yue"], "", ""),
        (&["Li,Chao2", "Li,Chao1"], "", ""),
        (&["Li,Chao2", "Li Chao2"], "Li Chao2 < Li,Chao2", ""),
        (&["Smith, John Jr.", "Smith Jr., John", "Smith, John"], "Smith Jr., John < Smith, John Jr.", ""),
        (&["Wely, Loek van", "Van Wely,L"], "Wely, Loek van < Van Wely,L", ""),
        (&["Wei Yi", "Wei,Yi", "Yi, Wei"], "Yi, Wei < Wei Yi; Yi, Wei < Wei,Yi", ""),
        // Programs and teams.
        (&["Fritz 6", "Fritz 16", "Fritz 16.1"], "", ""),
        (&["Smith & Jones", "Smith, J", "Smith/Jones", "Team Smith, A", "Smith and Jones"], "", ""),
    ] {
        let games: Vec<_> = names.iter().map(|name| (*name, 2001, 0, 0)).collect();
        let (pairs, notes) = suggested_for(&games);
        assert_eq!(pairs, expected, "{names:?}");
        assert!(notes.contains(left_out) && notes.is_empty() == left_out.is_empty(), "{names:?}: {notes}");
    }
}

#[test]
fn fide_ids_join_and_separate_names() {
    for (games, expected) in [
        (
            &[("Kasparov, Garry", 2001, 0, 18), ("Kasparov, Gary", 2002, 0, 18)][..],
            "Kasparov, Garry < Kasparov, Gary",
        ),
        (&[("Wang, Wei", 2001, 0, 1), ("Wang, W", 2002, 0, 2)], ""),
        (&[("Wang, Wei", 2001, 0, 1), ("Wang, Wei", 2002, 0, 2), ("Wang, W", 2003, 0, 0)], ""),
        // Players with and without FIDE ids.
        (&[("Wang, Wei", 2001, 0, 1), ("Wang,Wei", 2002, 0, 2), ("Wang, W", 2003, 0, 0)], ""),
        (
            &[("Kasparov, Garry", 2001, 0, 18), ("Kasparov, Gary", 2002, 0, 18), ("Kasparov, G", 2003, 0, 0)],
            "Kasparov, Garry < Kasparov, G; Kasparov, Garry < Kasparov, Gary",
        ),
        // `Smith, D` has the FIDE id of David, so Dan is not suggested with it.
        (
            &[("Smith, David", 2001, 0, 5), ("Smith, D", 2002, 0, 5), ("Smith,Dan", 2003, 0, 0)],
            "Smith, David < Smith, D",
        ),
        (
            &[("Kosintseva, Nadezhda", 2001, 0, 7), ("Ivanova, Nadezhda", 2012, 0, 7)],
            "Kosintseva, Nadezhda < Ivanova, Nadezhda",
        ),
    ] {
        assert_eq!(suggested_for(games).0, expected, "{games:?}");
    }
}

#[test]
fn games_distinguish_players_with_similar_names() {
    for (games, expected) in [
        (&[("Smith, John", 2001, 2500, 0), ("Smith, J", 2001, 1400, 0)][..], ""),
        // A rating from another time does not matter.
        (&[("Smith, John", 2001, 2500, 0), ("Smith, J", 1990, 1400, 0)], "Smith, John < Smith, J"),
        (&[("Smith, John", 1870, 0, 0), ("Smith, J", 2001, 0, 0)], ""),
    ] {
        assert_eq!(suggested_for(games).0, expected, "{games:?}");
    }
    let workspace = Workspace::new().indexed(&games(&[("Smith, John", "Smith, J", 2001)]));
    assert_eq!(suggested_pairs(&workspace), "");
}

#[test]
fn shortened_given_names_are_found() {
    let workspace = Workspace::new().indexed(&games(&[
        ("Karpov, Anatoly", "X", 1999),
        ("Karpov,Ana", "Nielsen, Peter Heine", 2003),
        ("Karpov,A", "Nielsen,PH", 2004),
        ("Xu,Yi", "Xu,Yinglun", 2020),
        ("GM Wely, Loek van", "Nielsen,Ph", 2005),
    ]));
    for (name, count) in [
        ("Karpov, Anatoly", 3),
        ("Karpov,Ana", 3),
        ("anatoly karpov", 3),
        ("Nielsen, Peter Heine", 2),
        ("Nielsen,PH", 2),
        ("nielsen,ph", 2),
        ("Xu,Yinglun", 1),
        ("van Wely, Loek", 1),
    ] {
        // A name that begins with these letters is also found.
        let begins_so = usize::from(name.eq_ignore_ascii_case("nielsen,ph"));
        assert_eq!(found(&workspace, "--player", name), count + begins_so, "{name}");
    }
    let run = workspace.run(&["find", "games.db", "--player", "Xu,Yinglun", "--format", "csv"]);
    assert!(run.stderr.contains("\"Xu,Yi\" (1), \"Xu,Yinglun\" (1)"), "{run:?}");
}

/// A player of the large collection: spellings with their numbers of games, and names that must find all of them. The
/// list was made by hand: SQL listed all similar names, which were then compared by dates, ratings and opponents.
struct Listed {
    /// All spellings with their numbers of games according to SQL; the first is the player's name.
    spellings: &'static [(&'static str, usize)],
    /// Names by which a user may look for the player.
    searched: &'static [&'static str],
    /// The number of games that each of these names finds before spellings are merged.
    alone: usize,
}

const LISTED: [Listed; 6] = [
    Listed {
        // The second spelling is from the Young Masters of 2004, with a rating of 2567. Arne, Sverre Johan and others
        // are named Karlsen.
        spellings: &[("Carlsen,M", 3377), ("Carlsen,6", 1)],
        searched: &["Carlsen, Magnus", "Magnus Carlsen", "M. Carlsen", "carlsen,m"],
        alone: 3377,
    },
    Listed {
        // The second name stands for two players in consultation.
        spellings: &[("Caruana,F", 4294), ("Caruana,Fabiano:Green,Lee", 1)],
        searched: &["Caruana, Fabiano", "Fabiano Caruana", "Caruana F", "F. Caruana", "caruana"],
        alone: 4295,
    },
    Listed {
        spellings: &[
            ("Kortschnoj, Viktor", 3531),
            ("Korchnoi,V", 1036),
            ("Korchnoi, Viktor", 2),
            ("Korchnoi, V", 1),
        ],
        searched: &["Korchnoi, Viktor", "Viktor Korchnoi", "Korchnoi, Viktor L", "V. Korchnoi", "korchnoi"],
        alone: 1039,
    },
    Listed {
        // The third spelling is from the Under-10 championship of 1999.
        spellings: &[("Vachier Lagrave,M", 5541), ("Vachier-Lagrave,M", 3), ("Vachier Lagrave, Mexime", 11)],
        searched: &["Vachier-Lagrave, Maxime", "Maxime Vachier Lagrave", "vachier-lagrave, maxime"],
        alone: 5544,
    },
    Listed {
        // No game with the second spelling is one of Ding Linlin: opponents, dates and ratings fit Ding Liren.
        spellings: &[("Ding Liren", 2221), ("Ding,L", 30)],
        searched: &["Ding, Liren", "Ding Liren", "Liren Ding", "ding,liren"],
        alone: 2251,
    },
    Listed {
        // Nepomnishay, Mikhail I is another player.
        spellings: &[("Nepomniachtchi,I", 4909), ("Nepomniatchi,I", 1)],
        searched: &["Nepomniachtchi, Ian", "Ian Nepomniachtchi", "nepomniachtchi"],
        alone: 4909,
    },
];

/// The tags of a collection's games, without moves, because only the names matter.
fn tags_of(text: &[u8]) -> Vec<u8> {
    let mut tags = Vec::with_capacity(text.len() / 2);
    let mut is_tag_before = false;
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii_end();
        let is_tag = line.starts_with(b"[") && line.ends_with(b"\"]");
        if is_tag && !is_tag_before {
            tags.extend_from_slice(b"\n");
        }
        if is_tag {
            tags.extend_from_slice(line);
            tags.extend_from_slice(b"\n");
        } else if is_tag_before {
            tags.extend_from_slice(b"\n*\n");
        }
        is_tag_before = is_tag;
    }
    tags
}

#[test]
#[ignore = "reads a collection of 400,000 games"]
fn six_players_are_found_under_all_their_names() {
    let Some(text) = corpus("otb-400k") else { return };
    let workspace = Workspace::new().with("games.pgn", tags_of(&text));
    let run = workspace.run(&["index", "--quiet", "--duplicates", "keep", "games.db", "games.pgn"]);
    assert!([0, 3].contains(&run.status), "{run:?}");
    let sql = |name: &str| {
        let name = name.replace('\'', "''");
        let id = format!("(SELECT player_id FROM player WHERE name = '{name}')");
        workspace.number("games.db", &format!("SELECT count(*) FROM game WHERE {id} IN (white_id, black_id)"))
    };
    let mut list = "name,alias\n".to_owned();
    for Listed { spellings, searched, alone } in LISTED {
        for (name, games) in spellings {
            assert_eq!(sql(name), i64::try_from(*games).expect("a number"), "{name}");
        }
        for name in searched {
            assert_eq!(found(&workspace, "--player", name), alone, "{name}");
        }
        for (alias, _) in &spellings[1..] {
            let _ = writeln!(list, "\"{}\",\"{alias}\"", spellings[0].0);
        }
    }
    let note = workspace.run(&["export", "games.db", "--format", "csv", "--player", "korchnoi"]).stderr;
    assert!(note.contains("\"Kortschnoj, Viktor\" has 3,531 games"), "{note}");

    workspace.write("aliases.csv", list);
    assert_eq!(run_players(&workspace, &["--aliases", "aliases.csv"]).status, 0);
    for Listed { spellings, searched, .. } in LISTED {
        let all: usize = spellings.iter().map(|(_, games)| games).sum();
        for name in searched {
            assert_eq!(found(&workspace, "--player", name), all, "{name}");
        }
        for (name, _) in spellings {
            assert_eq!(found(&workspace, "--player", &format!("={name}")), all, "={name}");
        }
        let name = spellings[0].0;
        let listed = json(&ok(&workspace, &[&format!("={name}"), "--format", "json"]));
        assert_eq!((&listed["name"], &listed["games"]), (&name.into(), &all.into()));
        let sql = format!("SELECT games FROM players WHERE name = '{name}'");
        assert_eq!(workspace.number("games.db", &sql), i64::try_from(all).expect("a number"), "{name}");
        assert_eq!(listed["spellings"].as_array().map(Vec::len), Some(spellings.len()));
    }
}
