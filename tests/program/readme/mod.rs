//! The README and the pages of `docs/` are correct: in a `console` block, each line with `$ ` is a command, and the
//! lines after it are its output; a `sql` block is run on the database. The picture in the README is drawn from the
//! output of its own commands.
//!
//! If the output has changed, `UPDATE_README=1 cargo test --test all program::readme` writes the new output and the new
//! picture; check both.

mod picture;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::generated_file::compare_with_file;
use crate::pages::{check_printed_outputs, directory_with_samples, needs_parquet, pages, project, read, run};

#[test]
fn commands_on_every_page_print_the_shown_output() {
    let counts: BTreeMap<PathBuf, usize> = pages()
        .into_iter()
        .filter(|page| !needs_parquet(page))
        .map(|page| {
            let steps = check_printed_outputs(&page);
            (page, steps)
        })
        .collect();
    // Minimum numbers for the pages with most of the commands, to notice if the commands of a page are not recognised.
    for (page, least) in [
        ("README.md", 6),
        ("docs/annotations.md", 5),
        ("docs/cookbook/operator.md", 6),
        ("docs/cookbook/player.md", 6),
        ("docs/find.md", 10),
        ("docs/explore.md", 2),
        ("docs/indexing.md", 3),
        ("docs/players.md", 9),
        ("docs/repertoire.md", 2),
        ("docs/removing.md", 2),
        ("docs/sql.md", 30),
        ("docs/tour.md", 10),
    ] {
        let found = counts.get(Path::new(page)).copied().unwrap_or_default();
        assert!(found >= least, "{page}: only {found} commands were found");
    }
}

/// The commands in the picture of the README. In a terminal, `--color always` is not needed.
const SESSION: [&str; 2] = [
    "pgndex find sample.db --moves \"1. e4 e5 2. Nf3 Nc6 3. Bb5\"",
    "pgndex explore sample.db --moves \"1. e4 e5 2. Nf3 Nc6\" --top 0 --recent 0 --board --color always",
];

#[test]
fn the_picture_of_the_readme_is_up_to_date() {
    let directory = directory_with_samples();
    run("pgndex index --quiet sample.db examples/famous-games.pgn", directory.path());
    let mut session = String::new();
    for command in SESSION {
        let shown = command.strip_suffix(" --color always").unwrap_or(command);
        writeln!(session, "\x1b[38;5;108m$\x1b[0m {shown}\n{}", run(command, directory.path()))
            .expect("a string");
    }
    let drawn = picture::draw(session.trim_end());
    compare_with_file(&drawn, "docs/terminal.svg");
}

#[test]
fn the_board_of_the_readme_is_up_to_date() {
    let directory = directory_with_samples();
    run("pgndex index --quiet sample.db examples/famous-games.pgn", directory.path());
    let page = read(Path::new("README.md"));
    let command =
        page.lines().find_map(|line| line.strip_prefix("$ ").filter(|line| line.contains(" --svg ")));
    run(command.expect("a command that draws a board"), directory.path());
    let drawn = std::fs::read_to_string(directory.path().join("board.svg")).expect("the picture");
    compare_with_file(&drawn, "docs/board.svg");
}

#[test]
fn every_link_has_a_target() {
    let mut links = 0;
    for page in pages() {
        let text = read(&page);
        let beside = page.parent().expect("a page is in a directory");
        for target in link_targets(&text) {
            if target.contains("://") {
                continue;
            }
            links += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() { page.clone() } else { beside.join(path) };
            assert!(project().join(&file).exists(), "{}: no file {path}", page.display());
            if !heading.is_empty() {
                assert!(headings(&read(&file)).contains(heading), "{}: no heading {target}", page.display());
            }
        }
    }
    assert!(links >= 20, "only {links} links were found");
}

#[test]
fn json_fields_and_their_page_agree() {
    let directory = directory_with_samples();
    run("pgndex index --quiet sample.db examples/famous-games.pgn", directory.path());
    let page = read(Path::new("docs/json.md"));
    let cases: [(&str, &[&str]); 4] = [
        (
            "find",
            &[
                "pgndex find sample.db --moves \"1. e4 c5\" --variations --format json --limit 0",
                "pgndex find sample.db --like \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --format json --limit 0",
            ],
        ),
        ("key", &["pgndex key --format json \"8/8/8/4k3/8/4K3/4P3/8\""]),
        ("players", &["pgndex players sample.db --format json"]),
        ("verify", &["pgndex verify --json sample.db"]),
    ];
    for (heading, commands) in cases {
        let (_, section) = page.split_once(&format!("\n## `pgndex {heading}`\n")).expect("a heading");
        let section = section.split("\n## ").next().expect("a section");
        let mut object = serde_json::Map::new();
        for command in commands {
            let printed = run(command, directory.path());
            let first: Option<serde_json::Map<_, _>> =
                printed.lines().next().and_then(|line| serde_json::from_str(line).ok());
            object.extend(first.expect("an object"));
        }
        for name in object.keys() {
            assert!(
                section.contains(&format!("`{name}`")),
                "{heading}: docs/json.md does not explain {name}"
            );
        }
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        for name in rows
            .filter_map(|row| row.split(" | ").next())
            .flat_map(|names| names.split('`').skip(1).step_by(2))
        {
            assert!(
                object.contains_key(name),
                "{heading}: docs/json.md explains {name}, which does not exist"
            );
        }
    }
}

#[test]
fn every_option_is_explained() {
    let directory = directory_with_samples();
    // The list of all options does not explain more than the help does.
    let is_explaining = |page: &PathBuf| page != Path::new("docs/reference/options.md");
    let text: String = pages().iter().filter(|page| is_explaining(page)).map(|page| read(page)).collect();
    let words: BTreeSet<&str> = text.split(|sign: char| !sign.is_ascii_lowercase() && sign != '-').collect();
    let mut options = 0;
    for command in ["index", "info", "find", "explore", "game", "export", "players", "sql", "verify", "key"] {
        let help = run(&format!("pgndex {command} --help"), directory.path());
        let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        // `--fen <FEN>` or `-n, --limit <N>`.
        let starts = lines.flat_map(|line| line.split_whitespace().take(2));
        for option in starts.filter(|word| word.starts_with("--")) {
            options += 1;
            assert!(option == "--help" || words.contains(option), "{command}: no page explains {option}");
        }
    }
    assert!(options >= 60, "only {options} options were found");
}

#[test]
fn every_kind_of_problem_and_finding_is_explained() {
    let mut sources = Vec::new();
    rust_files(&project().join("src"), &mut sources);
    for (page, known, least) in
        [("docs/indexing.md", "illegal-move", 20), ("docs/verify.md", "dangling-link", 9)]
    {
        // The source file that maps the kinds to words.
        let source =
            sources.iter().find(|source| source.contains(&format!("=> \"{known}\","))).expect("a source");
        let words = source.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next());
        let kinds: Vec<&str> =
            words.filter(|word| word.chars().all(|sign| sign == '-' || sign.is_ascii_lowercase())).collect();
        assert!(kinds.len() >= least, "{page}: only {kinds:?}");
        let text = read(Path::new(page));
        for kind in kinds {
            assert!(text.contains(&format!("`{kind}`")), "{page} does not explain {kind}");
        }
    }
}

/// Reads all Rust files below a directory.
fn rust_files(directory: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(std::fs::read_to_string(path).expect("a source"));
        }
    }
}

/// The targets of `[text](target)` outside code blocks.
fn link_targets(page: &str) -> Vec<&str> {
    page.split("\n```")
        .step_by(2)
        .flat_map(|text| text.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

/// The anchors of a page's headings: lower case, hyphens for blanks, no punctuation.
fn headings(page: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        let kept = |sign: &char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
        line.trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    };
    page.lines().filter(|line| line.starts_with('#')).map(heading).collect()
}
