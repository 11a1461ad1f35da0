//! The small inputs of `../shared/cases`, which other programs read wrongly: the right answers and the reasons for
//! them.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::needs::shared;
use crate::workspace::Workspace;

/// Files and options of `index`, the reason for the answer, a command with the arguments after its database, and the
/// expected lines.
type Case = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const GAMES: &[&str] = &["sql", "SELECT result, ply_count, status FROM game ORDER BY game_id"];
const COMMENTS: &[&str] = &["sql", "SELECT ply, text FROM comment"];
const TIMES: &[&str] =
    &["sql", "SELECT time_control, time_initial, time_increment, time_increment_cs, speed FROM game"];
const SUGGESTED: &[&str] = &["players", "--suggest"];
const DUPLICATES: &[&str] = &["sql", "SELECT count(*) FROM game UNION ALL SELECT count(*) FROM duplicate"];

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("F01_double_forfeit_no_moves", "both lost: PGN has no result for it, and the game has no fault",
     GAMES, &["*,0,ok"]),
    ("F02_double_forfeit_castles", "the tag is 0-0, so the last word is the result and no castling",
     GAMES, &["*,6,ok"]),
    ("F03_zero_half", "one player lost and the other drew: not a draw", GAMES, &["*,2,ok"]),
    ("F04_study_draw", "half a point each is a draw", GAMES, &["1/2-1/2,2,ok"]),
    ("F05_comment_after_result", "a comment after the result is one of the last move",
     COMMENTS, &["3,White wins on time; the last moves were not recorded"]),
    ("F06_fen_list", "a tag that comes again after a blank line starts a game",
     &["sql", "SELECT result, start_fen FROM game"],
     &["1-0,8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", "1/2-1/2,8/8/8/4k3/8/4K3/4P3/8 w - - 0 1",
       "0-1,8/8/8/8/8/1k6/1p6/1K6 b - - 0 1"]),
    ("F07_tag_comment", "a comment between tags leaves the game whole",
     &["sql", "SELECT white, black, date, result, ply_count FROM games"], &["A,B,2020.01.24,0-1,2"]),
    ("F07_tag_comment", "its text is kept", COMMENTS, &["0,\"[Round \"\"11.3\"\"]\""]),
    ("F08_variant_standard_chess", "another name of standard chess", GAMES, &["1-0,3,ok"]),
    ("F09_triple_dash", "--- is a null move",
     &["sql", "SELECT ply, move_uci(move_code) FROM variation_move"], &["4,0000", "5,f3e5", "6,g8f6"]),
    ("F10_RR_ch", "remarks are no moves", GAMES, &["*,4,ok", "*,6,ok"]),
    ("F11_feb30", "February never has 30 days, and no column of dates may have such a one",
     &["sql", "SELECT date, iso_date, started_at FROM games"], &["2021.02.??,,"]),
    ("F12_zero_month", "month and day 00 are unknown, the year is known",
     &["sql", "SELECT date FROM game ORDER BY game_id"], &["1988.??.??", "1988.06.??"]),
    ("F13_tc_clock", "forms with colons are read", TIMES,
     &["1:30:00+30,5400,30,3000,classical", "5:00,300,0,0,blitz", "0:03:00,180,0,0,blitz",
       "40/2:00:00,7200,0,0,classical", "5400/40+30:1800+30,5400,30,3000,classical"]),
    ("F14_bad_byte", "the name is UTF-8 but for its last byte", &["sql", "SELECT white FROM games"], &["\"Müller, JosÃ\""]),
    ("F14_bad_byte", "the comment is UTF-8 but for a last letter that is cut short",
     COMMENTS, &["1,\"schöner Zug, später größer \u{fffd}\""]),
    ("F15_c1_export", "0x81 and 0x90 are no letters of Windows-1252; they are kept",
     &["sql", "SELECT white FROM games"], &["\"Ku\u{90}era, M\u{81}ller\""]),
    ("F16_entity", "&excl; is HTML for an exclamation mark", GAMES, &["1-0,8,ok"]),
    ("F16_entity", "which is $1 of the move", &["sql", "SELECT ply, nag FROM nag"], &["3,1"]),
    ("F17_bracket_variation", "square brackets around moves are a variation", GAMES, &["*,4,ok"]),
    ("F18_xboard", "XBoard writes score/depth and seconds or minutes",
     &["sql", "SELECT ply, eval_cp, depth, elapsed FROM move_eval"], &["1,25,12,230", "2,10,11,", "3,31,13,4500", "4,-12,12,6500"]),
    ("F19_elo00", "no rating is 0", &["sql", "SELECT white_elo, black_elo FROM game"], &[",2400"]),
    ("F20_comment_blank_bracket", "a comment ends at its brace only", GAMES, &["1-0,4,ok"]),
    ("F21_glued_novelty", "an N after a move marks a novelty", GAMES, &["*,12,ok"]),
    ("F22_bad_fen_comment", "White has no king: no moves, but the comment and its marks are kept",
     &["sql", "SELECT status, text, value FROM game JOIN comment USING (game_id) JOIN command USING (game_id)"],
     &["skipped,An explanation of pawn chains,\"Ga7,Gb6\""]),
    ("F23_many_bishops", "more bishops than a game can have are a warning",
     &["sql", "SELECT severity, kind, ply_count FROM problem JOIN game USING (game_id)"], &["warning,many-pieces,2"]),
    ("rep1", "Nf3 was played in the position in which the game ended",
     &["explore", "--format", "csv"], &["g1f3,Nf3,1,0,1,0,,2022,2022,A04,Zukertort Opening"]),
    ("berlin", "python-chess counts the last move that each game made there",
     &["explore", "--format", "csv", "--moves", "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O Nxe4 5. d4 Nd6 6. dxe5 Nxb5 \
       7. a4 Nbd4 8. Nxd4 d5 9. exd6 Nxd4 10. Qxd4 Qxd6"],
     &["d4e4,Qe4+,10,0,10,0,2623,2022,2022,,", "d4e3,Qe3+,1,1,0,0,2430,2022,2022,,", "f1e1,Re1+,1,0,0,1,2090,2022,2022,,"]),
    ("abbr", "Ana can be short for Anatoly", &["explore", "--format", "csv", "--player", "Karpov, Anatoly"],
     &["e2e4,e4,2,2,0,0,,1999,2003,B00,King's Pawn Game"]),
    ("abbr", "PH are the initials of Peter Heine", &["explore", "--format", "csv", "--player", "Nielsen, Peter Heine"],
     &["d2d4,d4,2,2,0,0,,1999,2003,A40,Queen's Pawn Game"]),
    ("handles", "accounts of Lichess match whole", &["explore", "--format", "csv", "--player", "=ghost"], &["e2e4,e4,1,0,0,1,1500,2024,2024,B00,King's Pawn Game"]),
    ("suggest1", "D. can be Dan or David, and numbers of opponents are no initials", SUGGESTED, &[]),
    ("suggest2", "G can be Gary or Georgy", SUGGESTED, &[]),
    ("suggest3", "V can be Vignesh or Viswanathan", SUGGESTED, &[]),
    ("fide", "equal FIDE numbers join names; two numbers tell two players apart", SUGGESTED,
     &["\"Karpov, Anatoly\",\"Karpov,Ana\",4100026,same FIDE number,1,1999,,1,2003,",
       "\"Kasparov, Garry\",\"Kasparov, Gary\",4100018,\"same FIDE number, but the names differ\",1,1999,,1,1999,"]),
    ("tc", "small numbers are minutes, as Lichess has it, and so are larger ones if the first clocks say so; what the clocks contradict is \
     unknown",
     TIMES,
     &["90+30,5400,30,3000,classical",
       "5400+30,5400,30,3000,classical",
       "95+10,5700,10,1000,classical",
       "60+10,3600,10,1000,classical",
       "60+1,3600,1,100,classical",
       "180+2,10800,2,200,classical",
       "40/7200:3600,7200,0,0,classical",
       "\"40/90, SD 30; +30\",5400,30,3000,classical",
       "\"40/80, SD30; +30\",4800,30,3000,classical",
       "15 mins + 10 secs increment,,,,",
       "\"15'/game & 10\"\"/move\",,,,",
       "90 min / 40 moves + 30 min + 30 sec / move,5400,30,3000,classical",
       "1/259200,,,,correspondence",
       "1/86400,,,,correspondence",
       "-,,,,",
       ",,,,",
       "*60,,,,",
       "600,600,0,0,rapid",
       "G/60,3600,0,0,classical",
       "G/60;d5,3600,0,0,classical",
       "5400/40+30:1800+30,5400,30,3000,classical",
       "40/5400+30:1800+30,5400,30,3000,classical",
       "120m+30,7200,30,3000,classical",
       "2h,7200,0,0,classical",
       "300+3.5,300,4,350,blitz",
       "60+5d,3600,0,0,classical",
       "10+0,600,0,0,rapid",
       "3+2,180,2,200,blitz",
       "1+0,60,0,0,bullet",
       "15+10,900,10,1000,rapid",
       "25+10,1500,10,1000,classical",
       "5,300,0,0,blitz",
       "0,,,,",
       "90'+30'',5400,30,3000,classical"]),
    ("frac", "fractions are kept in hundredths of a second", TIMES, &["10+0.1,10,0,10,ultraBullet", "180+1.5,180,2,150,blitz"]),
    ("frac", "and count in the time of a move", &["sql", "SELECT game_id, ply, elapsed FROM moves WHERE elapsed > 0"],
     &["1,2,5", "1,3,50", "1,4,115", "2,2,300", "2,3,650"]),
    ("baddate", "neither the day nor the time exists", &["sql", "SELECT date, iso_date, started_at FROM games"], &["2021.02.??,,", "2021.02.28,2021-02-28,"]),
    ("dupA dupB dupC dupD", "names and dates differ, so by default they are four games", DUPLICATES, &["4", "0"]),
    ("dupA dupB dupC dupD --duplicates moves", "the same 24 plies are one game, if asked for",
     DUPLICATES, &["1", "3"]),
];

#[test]
fn answers_agree_with_the_table() {
    let Some(directory) = shared("cases") else { return };
    let read = |&(words, why, command, expected): &Case| {
        let workspace = Workspace::new();
        let words = words.split(' ').map(|word| {
            let path = directory.join(format!("{word}.pgn"));
            if path.exists() { path.to_str().expect("UTF-8").to_owned() } else { word.to_owned() }
        });
        let words: Vec<String> =
            ["index", "--quiet", "games.db"].map(str::to_owned).into_iter().chain(words).collect();
        let run = workspace.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!([0, 3].contains(&run.status), "{words:?}: {run:?}");

        let format: &[&str] = if command[0] == "sql" { &["--format", "csv"] } else { &[] };
        let printed = workspace.stdout_of(&[&[command[0], "games.db"], &command[1..], format].concat());
        // The first line is the header.
        let lines: Vec<&str> = printed.lines().skip(1).collect();
        (lines != expected).then(|| format!("{words:?}: {why}\nexpected {expected:#?}\nfound {lines:#?}"))
    };
    let wrong: Vec<String> = CASES.par_iter().filter_map(read).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let names = directory.read_dir().expect("a directory").filter_map(|entry| {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        name.strip_suffix(".pgn").map(str::to_owned)
    });
    let tried: BTreeSet<_> =
        CASES.iter().flat_map(|case| case.0.split(" --").next().expect("files").split(' ')).collect();
    let untried: Vec<_> = names.filter(|name| !tried.contains(name.as_str())).collect();
    assert!(untried.is_empty(), "inputs without a case: {untried:?}");
}
