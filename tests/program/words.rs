//! Checks messages and pages for long sentences and odd words.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::pages::project;

/// Expressions that are not used, and what to write instead.
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

/// The string literals in a Rust file, with continued lines joined.
fn texts(source: &str) -> Vec<String> {
    let token = r##"(?s)r#".*?"#|b?'(?:\\.[^']*|[^'\\])'|"((?:[^"\\]|\\.)*)"|//[^\n]*"##;
    let token = Regex::new(token).expect("a pattern");
    let continued = Regex::new(r"\\\n\s*").expect("a pattern");
    let quoted = token.captures_iter(source).filter_map(|token| token.get(1));
    quoted.map(|text| continued.replace_all(text.as_str(), "").replace("\\n", "\n")).collect()
}

/// The sentences with more than 30 words.
fn long_sentences(text: &str) -> Vec<String> {
    const MOST: usize = 30;
    let end = Regex::new(r"[.?!](?:\s|$)|\n").expect("a pattern");
    // A word has a lower-case letter or a placeholder. Words without them, as in SQL, do not count.
    let is_word = |word: &&str| word.contains(|letter: char| letter.is_lowercase() || letter == '{');
    let is_long = |sentence: &&str| sentence.split_whitespace().filter(is_word).count() > MOST;
    let is_sql = |sentence: &&str| ["SELECT ", "FROM ", "WHERE "].iter().any(|word| sentence.contains(word));
    end.split(text).filter(is_long).filter(|sentence| !is_sql(sentence)).map(str::to_owned).collect()
}

#[test]
fn long_sentences_are_found() {
    let words = |count: usize| vec!["word"; count].join(" ");
    assert!(long_sentences(&format!("{}. {}? {}", words(30), words(30), words(30))).is_empty());
    assert_eq!(long_sentences(&format!("{}; {{}}", words(30))).len(), 1);
    let source = "// \"no\"\nf('\"', \"a \\\n     b\", r#\"no\"#, \"c\")";
    assert_eq!(texts(source), ["a b", "c"]);
}

#[test]
fn no_sentence_of_the_help_or_a_message_is_long() {
    let mut sources = Vec::new();
    files(&project().join("src"), "rs", &mut sources);
    let mut found = String::new();
    for path in sources {
        let source = std::fs::read_to_string(&path).expect("a text");
        for sentence in texts(&source).iter().flat_map(|text| long_sentences(text)) {
            found += &format!("{}: {sentence}\n", path.display());
        }
    }
    // The page with all options contains all help texts, as table rows and paragraphs.
    let page = std::fs::read_to_string(project().join("docs/reference/options.md")).expect("a page");
    for cell in page.lines().flat_map(|line| line.split(" | ")) {
        for sentence in long_sentences(cell) {
            found += &format!("help: {sentence}\n");
        }
    }
    assert!(found.is_empty(), "{found}");
}

/// The contents of the string literals on a line of Rust; empty for a comment.
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
