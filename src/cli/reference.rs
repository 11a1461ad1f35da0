//! Generates the page of all options from the definitions of the arguments.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::cli::made_file::compare_with_file;
use crate::cli::usage::{self, Notes};

const PAGE: &str = "docs/reference/options.md";

const HEAD: &str = "\
# Commands and options

All commands with all their options. A test makes this page from the definitions that the program reads its arguments by, so it cannot be
out of date. `pgndex help COMMAND` prints the same, `pgndex man DIR` writes it as manual pages. The [table of contents](../README.md) leads
to the pages that explain and show it.

Every command has `-h`, `--help`.

";

/// The whole page.
fn page() -> String {
    let mut command = usage::command().disable_help_subcommand(true);
    command.build();
    let mut text = format!("{HEAD}| command | what it does |\n|---|---|\n");
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        writeln!(text, "| [{name}](#pgndex-{name}) | {} |", about(subcommand)).expect("a string");
    }
    text += &section(&mut command.clone());
    for subcommand in command.get_subcommands() {
        text += &section(&mut subcommand.clone());
    }
    text
}

fn about(command: &Command) -> String {
    escaped(&command.get_about().map(ToString::to_string).unwrap_or_default())
}

/// The section of a command.
fn section(command: &mut Command) -> String {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).replacen('-', " ", 1);
    let usage = command.render_usage().to_string();
    let usage: Vec<_> = usage.trim_start_matches("Usage:").lines().map(str::trim).collect();
    let mut text = format!("\n## {name}\n\n{}.\n\n```text\n{}\n```\n", about(command), usage.join("\n"));
    let is_shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help";
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for arg in command.get_arguments().filter(is_shown) {
        let usual = if arg.is_positional() { "Arguments" } else { "Options" };
        let heading = arg.get_help_heading().unwrap_or(usual);
        match groups.iter_mut().find(|(other, _)| *other == heading) {
            Some((_, args)) => args.push(arg),
            None => groups.push((heading, vec![arg])),
        }
    }
    for (heading, args) in groups {
        text += &format!("\n| {heading} | |\n|---|---|\n");
        for arg in args {
            writeln!(text, "| {} | {} |", written(arg), meaning(arg)).expect("a string");
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

/// The form of an argument.
fn written(arg: &Arg) -> String {
    let long = arg.to_string();
    let text = match arg.get_short() {
        Some(short) if !arg.is_positional() => format!("-{short}, {long}"),
        _ => long,
    };
    format!("`{}`", text.replace('|', "\\|"))
}

/// The meaning of an argument, and its possible values.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = escaped(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    if !text.ends_with(['.', ']']) {
        text.push('.');
    }
    if !arg.get_action().takes_values() {
        return text;
    }
    let values: Vec<_> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        write!(text, " One of {}.", values.join(", ")).expect("a string");
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

/// Escapes a text for Markdown; code in it stays code.
fn escaped(text: &str) -> String {
    let escape = |(at, part): (usize, &str)| {
        let part = part.replace('|', "\\|");
        if at % 2 == 1 { part } else { part.replace('*', "\\*").replace('<', "\\<").replace('_', "\\_") }
    };
    text.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`")
}

#[test]
fn the_page_of_options_is_that_of_this_program() {
    compare_with_file(&page(), PAGE);
}

#[test]
fn nothing_in_a_text_is_markdown_but_code() {
    assert_eq!(escaped("<A|B> *x_y `a_b|*` z"), "\\<A\\|B> \\*x\\_y `a_b\\|*` z");
}
