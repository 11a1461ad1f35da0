//! Generates the page with all commands and options from the definitions of the arguments.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::cli::generated_file::compare_with_file;
use crate::cli::usage::{self, Notes};

const PAGE: &str = "docs/reference/options.md";

const HEAD: &str = "\
# Commands and options

All commands with all their options. A test generates this page from the program, so it cannot be out of date. `pgndex COMMAND -h` prints
a short list, `pgndex COMMAND --help` everything, and `pgndex man DIR` writes manual pages. The [table of contents](../README.md) leads to
pages with explanations and examples. Options that several commands have are [at the end](#shared-options).

";

fn page() -> String {
    let mut command = usage::command().disable_help_subcommand(true);
    command.build();
    let shared = shared_options(&command);
    let mut text = format!("{HEAD}| command | what it does |\n|---|---|\n");
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        writeln!(text, "| [{name}](#pgndex-{name}) | {} |", about(subcommand)).expect("a string");
    }
    text += &section(&mut command.clone(), &shared);
    for subcommand in command.get_subcommands() {
        text += &section(&mut subcommand.clone(), &shared);
    }
    text += "\n## Shared options\n";
    for (heading, rows) in &shared {
        text += &format!("\n### {heading}\n\n| option | |\n|---|---|\n{}", rows.concat());
    }
    text
}

/// Headings of options, with a row for each option.
type Groups = Vec<(String, Vec<String>)>;

/// The options of a command, grouped by heading.
fn groups(command: &Command) -> Groups {
    let is_shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help";
    let mut groups = Groups::new();
    for arg in command.get_arguments().filter(is_shown) {
        let usual = if arg.is_positional() { ARGUMENTS } else { OPTIONS };
        let heading = arg.get_help_heading().unwrap_or(usual);
        let row = format!("| {} | {} |\n", written(arg), meaning(arg));
        rows_under(&mut groups, heading).push(row);
    }
    groups
}

/// The rows under a heading. Adds the heading if it is missing.
fn rows_under<'g>(groups: &'g mut Groups, heading: &str) -> &'g mut Vec<String> {
    let at = groups.iter().position(|(other, _)| other == heading).unwrap_or_else(|| {
        groups.push((heading.to_owned(), Vec::new()));
        groups.len() - 1
    });
    &mut groups[at].1
}

const ARGUMENTS: &str = "Arguments";
const OPTIONS: &str = "Options";

/// Options that at least two commands have under the same heading and in the same words. Omits headings with
/// fewer than two such options, and the headings `ARGUMENTS` and `OPTIONS`.
fn shared_options(command: &Command) -> Groups {
    let all: Groups = command.get_subcommands().flat_map(groups).collect();
    let mut shared = Groups::new();
    for (heading, rows) in &all {
        if [ARGUMENTS, OPTIONS].contains(&heading.as_str()) {
            continue;
        }
        let is_shared = |row: &String| {
            all.iter().filter(|(other, rows)| other == heading && rows.contains(row)).count() > 1
        };
        let known = rows_under(&mut shared, heading);
        for row in rows.iter().filter(|row| is_shared(row)) {
            if !known.contains(row) {
                known.push(row.clone());
            }
        }
    }
    shared.retain(|(_, rows)| rows.len() > 1);
    shared
}

/// A row with a link to the shared options of a heading. If a command has only some of these options, the row
/// names those that the command has.
fn link(heading: &str, rows: &[&String], all: &[String]) -> String {
    let anchor = heading.to_lowercase().replace(' ', "-");
    if rows.len() == all.len() {
        return format!("| [shared options](#{anchor}) | |\n");
    }
    let names =
        rows.iter().filter_map(|row| row.split(" | ").next()).map(|name| name.trim_start_matches("| "));
    format!("| {} | [as described below](#{anchor}) |\n", names.collect::<Vec<_>>().join(", "))
}

fn about(command: &Command) -> String {
    escaped(&command.get_about().map(ToString::to_string).unwrap_or_default())
}

/// The section of a command.
fn section(command: &mut Command, shared: &Groups) -> String {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).replacen('-', " ", 1);
    let usage = command.render_usage().to_string();
    let usage: Vec<_> = usage.trim_start_matches("Usage:").lines().map(str::trim).collect();
    let mut text = format!("\n## {name}\n\n{}.\n\n```text\n{}\n```\n", about(command), usage.join("\n"));
    for (heading, rows) in groups(command) {
        text += &format!("\n| {heading} | |\n|---|---|\n");
        let known = shared.iter().find(|(other, _)| *other == heading).map_or(&[][..], |(_, rows)| rows);
        let (common, own): (Vec<_>, Vec<_>) = rows.iter().partition(|row| known.contains(row));
        own.into_iter().for_each(|row| text += row);
        if !common.is_empty() {
            text += &link(&heading, &common, known);
        }
    }
    let Notes { examples, paragraphs } = Notes::of(command);
    for paragraph in paragraphs {
        write!(text, "\n{}\n", escaped(&paragraph)).expect("a string");
    }
    if !examples.is_empty() {
        write!(text, "\n```text\n{}\n```\n", examples.join("\n")).expect("a string");
    }
    text
}

/// An argument as it is written on the command line.
fn written(arg: &Arg) -> String {
    let long = arg.to_string();
    let text = match arg.get_short() {
        Some(short) if !arg.is_positional() => format!("-{short}, {long}"),
        _ => long,
    };
    format!("`{}`", text.replace('|', "\\|"))
}

/// The meaning of an argument, its possible values, its default, and its environment variable.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = escaped(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    if !text.ends_with(['.', ']']) {
        text.push('.');
    }
    if !arg.get_action().takes_values() {
        return text;
    }
    let values = arg.get_possible_values();
    let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).collect();
    if values.iter().any(|value| value.get_help().is_some()) {
        for value in values {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            write!(text, " `{}`: {}.", value.get_name(), escaped(&help)).expect("a string");
        }
    } else if !values.is_empty() && !arg.is_hide_possible_values_set() {
        let names: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        write!(text, " One of {}.", names.join(", ")).expect("a string");
    }
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !defaults.is_empty() {
        write!(text, " Default: {}.", defaults.join(", ")).expect("a string");
    }
    if let Some(variable) = arg.get_env() {
        write!(text, " Variable: `{}`.", variable.to_string_lossy()).expect("a string");
    }
    text
}

/// Escapes a text for a Markdown table. In the parts in backticks, escapes only `|`.
fn escaped(text: &str) -> String {
    let escape = |(at, part): (usize, &str)| {
        let part = part.replace('|', "\\|");
        if at % 2 == 1 { part } else { part.replace('*', "\\*").replace('<', "\\<").replace('_', "\\_") }
    };
    text.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`")
}

#[test]
fn the_page_of_options_is_up_to_date() {
    compare_with_file(&page(), PAGE);
}

#[test]
fn texts_contain_no_markdown_but_code() {
    assert_eq!(escaped("<A|B> *x_y `a_b|*` z"), "\\<A\\|B> \\*x\\_y `a_b\\|*` z");
}
