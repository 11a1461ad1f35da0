//! Limits on the size of functions, files and folders.

use std::collections::BTreeMap;

use regex_lite::Regex;

use super::{rust_files, source, source_files, without_unit_tests};

#[test]
fn no_function_has_more_than_60_lines() {
    let head =
        Regex::new(r"^( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern \S*) )*fn (\w+)").unwrap();
    let mut long = Vec::new();
    for file in source_files() {
        let text = without_unit_tests(&source().join(&file.path));
        let lines: Vec<_> = text.lines().collect();
        for (first, line) in lines.iter().enumerate() {
            let Some(head) = head.captures(line) else { continue };
            let signature = lines[first..].iter().find(|line| line.ends_with(['{', '}', ';'])).unwrap();
            let end = format!("{}}}", &head[1]);
            let length = 1 + lines[first..].iter().take_while(|line| **line != end).count();
            if length > 60 && signature.ends_with('{') {
                long.push(format!("{}: {} has {length} lines", file.path.display(), &head[2]));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_file_has_more_than_600_lines_and_no_folder_more_than_18_files() {
    let mut large = Vec::new();
    let mut folders = BTreeMap::new();
    for path in rust_files(&source()) {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        if lines > 600 {
            large.push(format!("{}: {lines} lines", path.display()));
        }
        *folders.entry(path.parent().unwrap().to_owned()).or_insert(0) += 1;
    }
    large.extend(
        folders
            .into_iter()
            .filter(|(_, files)| *files > 18)
            .map(|(folder, files)| format!("{}: {files} files", folder.display())),
    );
    assert!(large.is_empty(), "{large:#?}");
}
