//! The dependencies: their licences require attribution at most, and they come from the public registry.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use serde_json::Value;

/// Licences of code that may be linked into a program under MIT or Apache-2.0.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

#[test]
fn cargo_deny_allows_the_same_licences() {
    let reported =
        include_str!("../../deny.toml").split("\nallow = [\n").nth(1).and_then(|rest| rest.split(']').next());
    let reported: Vec<_> =
        reported.expect("a list").lines().map(|line| line.trim().trim_matches(['"', ','])).collect();
    assert_eq!(reported, ALLOWED);
}

/// Whether an SPDX expression can be satisfied with allowed licences only.
fn is_allowed(expression: &str) -> bool {
    // In old expressions, `/` means OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let allowed = either(&mut words);
    allowed && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>) -> bool {
    let mut allowed = both(words);
    while words.next_if_eq(&"OR").is_some() {
        allowed |= both(words);
    }
    allowed
}

fn both(words: &mut Words<'_>) -> bool {
    let mut allowed = one(words);
    while words.next_if_eq(&"AND").is_some() {
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut Words<'_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let allowed = either(words);
        return words.next() == Some(")") && allowed;
    }
    let Some(name) = words.next() else { return false };
    match words.next_if_eq(&"WITH").and_then(|_| words.next()) {
        Some(exception) => ALLOWED.contains(&format!("{name} WITH {exception}").as_str()),
        None => ALLOWED.contains(&name),
    }
}

#[test]
fn spdx_expressions_are_evaluated() {
    for allowed in [
        "MIT",
        "MIT OR GPL-3.0-only",
        "MIT/Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
        "GPL-2.0-only AND MIT OR Zlib",
    ] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for forbidden in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "(MIT OR Zlib) AND LGPL-2.1-only",
        "MIT WITH some-exception",
        "MIT MIT",
        "(MIT",
        "AGPL-3.0-or-later OR MPL-2.0",
    ] {
        assert!(!is_allowed(forbidden), "{forbidden}");
    }
}

/// The packages from which the program is built, on any system, without those for tests and benchmarks.
fn linked() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    let nodes = metadata["resolve"]["nodes"].as_array().expect("nodes");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let dependencies: HashMap<String, &Vec<Value>> = nodes
        .iter()
        .map(|node| (text(&node["id"]), node["deps"].as_array().expect("dependencies")))
        .collect();
    let members = metadata["workspace_members"].as_array().expect("members");
    let mut waiting: Vec<String> = members.iter().map(text).collect();
    let mut seen: HashSet<String> = waiting.iter().cloned().collect();
    while let Some(package) = waiting.pop() {
        for dependency in dependencies[&package] {
            let kinds = dependency["dep_kinds"].as_array().expect("kinds");
            let id = text(&dependency["pkg"]);
            if kinds.iter().any(|kind| kind["kind"] != "dev") && seen.insert(id.clone()) {
                waiting.push(id);
            }
        }
    }
    packages.into_iter().filter(|package| seen.contains(&text(&package["id"]))).collect()
}

#[test]
fn all_dependencies_have_an_allowed_licence_and_come_from_the_registry() {
    let packages = linked();
    assert!(packages.len() > 20, "{} packages", packages.len());
    for package in &packages {
        let name = format!("{} {}", package["name"], package["version"]);
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence), "{name}: licence {licence:?} is not allowed");
        let source = package["source"].as_str();
        let from_registry = source.is_none_or(|source| source.starts_with("registry+"));
        assert!(from_registry, "{name}: comes from {source:?}, not from the registry");
        let path = package["manifest_path"].as_str().unwrap_or_default();
        assert!(
            source.is_some() || path.starts_with(env!("CARGO_MANIFEST_DIR")),
            "{name}: comes from {path}"
        );
    }
    println!("{} packages are linked, all with allowed licences", packages.len());
}
