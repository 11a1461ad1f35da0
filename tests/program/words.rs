//! Habits of speech that made readers read twice do not come back.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::pages::project;

/// What is not written, and what is written instead.
const HABITS: [(&str, &str); 9] = [
    (r"\b(is|are|was|were|it) told\b", "printed, shown, reported, counted"),
    (r"\bheld against\b", "compared with"),
    (r"\bpassed over\b", "ignored, skipped"),
    (r"\btaken out\b", "removed"),
    (r"\bin the place of\b", "instead of"),
    (r"\bof a hundred\b", "percent"),
    (r"\bso many of\b", "at least this many"),
    (r"\banew\b", "again"),
    (r"\bas long as it lasts\b", "meanwhile"),
];

fn files(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// The text between double quotes of a line of Rust that is no comment, or nothing.
fn literals(line: &str) -> String {
    let code = !line.trim_start().starts_with("//");
    line.split('"').skip(1).step_by(2).filter(|_| code).collect::<Vec<_>>().join(" ")
}

#[test]
fn pages_and_messages_use_plain_words() {
    let mut pages = vec![project().join("README.md")];
    files(&project().join("docs"), "md", &mut pages);
    let mut sources = Vec::new();
    files(&project().join("src"), "rs", &mut sources);
    assert!(pages.len() > 20 && sources.len() > 200, "{} pages, {} sources", pages.len(), sources.len());
    let habits = HABITS.map(|(habit, instead)| (Regex::new(habit).expect("a pattern"), instead));
    let mut found = String::new();
    for path in pages.iter().chain(&sources) {
        let text = std::fs::read_to_string(path).expect("a text");
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        for (number, line) in text.lines().enumerate() {
            let words = if is_source { literals(line) } else { line.to_owned() };
            for (habit, instead) in &habits {
                if let Some(habit) = habit.find(&words) {
                    let path = path.strip_prefix(project()).expect("a file of the project").display();
                    found += &format!("{path}:{}: \"{}\"; write: {instead}\n", number + 1, habit.as_str());
                }
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}
