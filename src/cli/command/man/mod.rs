//! `pgndex man`: writes the manual pages.

mod sections;

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap_mangen::Man;

use crate::cli::args::ManArgs;
use crate::cli::render::output_file::refuse_standard_output;
use crate::cli::usage::{self, Notes};

/// Writes the manual pages.
///
/// # Errors
/// If the directory cannot be created or written to.
pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let directory = &args.directory;
    refuse_standard_output(directory)?;
    if directory.is_file() {
        anyhow::bail!("{}: is a file; name a directory", directory.display());
    }
    fs::create_dir_all(directory)
        .with_context(|| format!("{}: cannot create this directory", directory.display()))?;
    // `pgndex help` needs no page: it prints what the other pages have.
    let mut command = usage::command().disable_help_subcommand(true);
    command.build();
    let names: Vec<_> = command.get_subcommands().map(page_name).collect();
    write(directory, &command, &names)?;
    for subcommand in command.get_subcommands() {
        write(directory, subcommand, &[page_name(&command)])?;
    }
    Ok(())
}

fn page_name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// Writes the page of a command; `others` are the pages that it refers to.
fn write(directory: &Path, command: &clap::Command, others: &[String]) -> anyhow::Result<()> {
    let path = directory.join(format!("{}.1", page_name(command)));
    let written = fs::write(&path, page(command, others)?);
    if written.is_err() {
        // Removes the incomplete page; if that fails too, the error is reported below.
        let _ = fs::remove_file(&path);
    }
    written.with_context(|| format!("{}: cannot be written", path.display()))
}

fn page(command: &clap::Command, others: &[String]) -> anyhow::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    // Without a date, so that the same program always writes the same pages. `Man` would omit the empty
    // field.
    let version = env!("CARGO_PKG_VERSION");
    let title = escaped(&page_name(command).to_uppercase());
    let mut page = format!(".TH \"{title}\" 1 \"\" \"pgndex {version}\" \"pgndex\"\n").into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    for (heading, entries) in [
        ("EXIT STATUS", sections::exit_status(command)),
        ("ENVIRONMENT", sections::environment(command)),
        ("FILES", sections::files(command)),
    ] {
        page.extend_from_slice(listed(heading, &entries).as_bytes());
    }
    page.extend_from_slice(notes(&Notes::of(command)).as_bytes());
    let others: Vec<_> = others.iter().map(|name| format!("\\fB{}\\fR(1)", escaped(name))).collect();
    page.extend_from_slice(format!(".SH \"SEE ALSO\"\n{}\n", others.join(",\n")).as_bytes());
    Ok(page)
}

/// A section of terms with explanations; nothing without entries.
fn listed(heading: &str, entries: &[(&str, &str)]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let entry = |(term, text): &(&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", escaped(term), escaped(text));
    format!(".SH \"{heading}\"\n{}", entries.iter().map(entry).collect::<String>())
}

/// The text below the options in the help: paragraphs, then examples line by line. The exit status has its own
/// section.
fn notes(notes: &Notes) -> String {
    let mut text = String::new();
    let is_shown = |line: &&String| !line.starts_with("Exit status: ");
    let paragraphs = notes.paragraphs.iter().filter(is_shown);
    let paragraphs: Vec<_> = paragraphs.map(|line| escaped(line) + "\n").collect();
    if !paragraphs.is_empty() {
        text += &format!(".SH NOTES\n{}", paragraphs.join(".PP\n"));
    }
    if !notes.examples.is_empty() {
        let lines: Vec<_> = notes.examples.iter().map(|line| escaped(line) + "\n").collect();
        text += &format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.concat());
    }
    text
}

/// A line escaped for troff: it contains no requests, and its hyphens can be copied.
fn escaped(line: &str) -> String {
    let text = line
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
        .replace('^', "\\(ha")
        .replace('~', "\\(ti")
        .replace('`', "\\(ga");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_contain_no_roff_requests() {
        assert_eq!(escaped(".so a\\b --x 'y'"), "\\&.so a\\eb \\-\\-x \\(aqy\\(aq");
        let told = |help| notes(&Notes::of(&clap::Command::new("x").after_long_help(help)));
        assert_eq!(
            told("More.\nYet.\n\nExit status: 0.\n\nExamples:\n  a -b"),
            ".SH NOTES\nMore.\n.PP\nYet.\n.SH EXAMPLES\n.nf\na \\-b\n.fi\n"
        );
        assert_eq!(told(""), "");
    }
}
