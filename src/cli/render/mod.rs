//! Rendering of answers: rows in all formats, tables, boards, numbers, texts and output files.

mod board;
mod done;
mod output;
mod output_file;
mod record;
mod sheet;
mod summary;
mod table;
mod text;

pub(crate) use board::{BoardStyle, is_ascii, sign, use_ascii};
#[cfg(feature = "parquet")]
pub(crate) use done::VerifiedParquet;
pub(crate) use done::{Copied, Done, Found, Lost, Optimized, OtherSource, Removed, Repaired, Verified};
pub(crate) use output::{
    RowWriter, Value, csv_cell, markdown, of_stdout, print_json, print_line, shown, stdout, terminal_width,
    write_json,
};
pub(crate) use output_file::{
    Existing, OutputFile, PictureOutput, check, is_sqlite, not_written, refuse_file_of, refuse_pgn,
    refuse_source, refuse_standard_output, unless_standard_output,
};
pub(crate) use record::{Sections, write_page, write_tables};
pub(crate) use sheet::write_sheet;
pub(crate) use summary::{Report, problem_query, sql_command};
pub(crate) use table::{Cell, Style, TableWriter};
pub(crate) use text::{
    all_hint, bounded, brief, bytes, counted, database_size, duration, escaped_json, grouped, percent,
    printable, printable_lines, rough, sanitized, shell_word,
};
