//! The page on Parquet files: its examples are run, and DuckDB runs the queries of the page on SQL.

use std::path::Path;
use std::process::Command;

use crate::needs::python_with;
use crate::pages::{
    check_printed_outputs, check_printed_outputs_in, directory_with_samples, needs_parquet, pages, project,
    read, run,
};

const PAGE: &str = "docs/parquet.md";

/// Runs the commands of the page in a new directory. The Python examples then use its files.
fn directory_with_files() -> tempfile::TempDir {
    let directory = directory_with_samples();
    std::fs::create_dir(directory.path().join("docs")).expect("a directory");
    let views = directory.path().join("docs/duckdb.sql");
    std::fs::copy(project().join("docs/duckdb.sql"), views).expect("the views");
    let steps = check_printed_outputs_in(directory.path(), Path::new(PAGE));
    assert!(steps >= 7, "only {steps} commands were found");
    directory
}

/// The Python blocks of the page, each with its expected output.
fn examples(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```python\n").skip(1);
    let example = |rest| {
        let (code, rest) = str::split_once(rest, "```\n\n```text\n").expect("a block with its output");
        (code, rest.split_once("```").expect("the block is closed").0)
    };
    blocks.map(example).collect()
}

/// Runs the wanted examples, and checks their output. Returns how many there are.
fn check_examples(python: &str, is_wanted: impl Fn(&str) -> bool) -> usize {
    let page = read(Path::new(PAGE));
    let directory = directory_with_files();
    let wanted: Vec<_> = examples(&page).into_iter().filter(|(code, _)| is_wanted(code)).collect();
    for (code, expected) in &wanted {
        let output = Command::new(python)
            .args(["-c", code])
            .current_dir(directory.path())
            .output()
            .expect("the program runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && printed == **expected, "{code}\n{printed}\n{errors}");
    }
    wanted.len()
}

#[test]
fn commands_on_pages_with_parquet_print_the_shown_output() {
    // The page on Parquet files is tested together with its Python examples.
    let steps: usize = pages()
        .iter()
        .filter(|page| needs_parquet(page) && *page != Path::new(PAGE))
        .map(|page| check_printed_outputs(page))
        .sum();
    assert!(steps >= 6, "only {steps} commands were found");
}

#[test]
fn engines_print_the_output_on_the_page() {
    let Some(python) = python_with("chdb, duckdb, polars, pyarrow") else {
        directory_with_files();
        return;
    };
    assert!(check_examples(python, |code| !code.contains("pyspark")) >= 6);
}

#[test]
#[ignore = "needs Spark"]
fn spark_prints_the_output_on_the_page() {
    let Some(python) = python_with("pyspark") else { return };
    assert_eq!(check_examples(python, |code| code.contains("pyspark")), 1);
}

#[test]
fn the_queries_of_the_page_on_sql_give_the_same_rows_in_duckdb() {
    let Some(python) = python_with("duckdb") else { return };
    let directory = directory_with_samples();
    for (name, input) in [("sample", "famous-games"), ("annotated", "annotated")] {
        run(&format!("pgndex index --quiet {name}.db examples/{input}.pgn"), directory.path());
        run(
            &format!("pgndex index --quiet --partition-by none --parquet {name} examples/{input}.pgn"),
            directory.path(),
        );
    }
    let output = Command::new(python)
        .arg(project().join("tests/parquet/sql_in_duckdb.py"))
        .args([env!("CARGO_BIN_EXE_pgndex"), "sample", "annotated"])
        .current_dir(directory.path())
        .output()
        .expect("the script runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let queries = printed.split_once(" queries").and_then(|(count, _)| count.parse::<u32>().ok());
    assert!(queries.is_some_and(|queries| queries >= 17), "{printed}");
}
