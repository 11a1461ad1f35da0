//! Additional files for an installed program: shell completions and manual pages.

use std::process::{Command, Stdio};

use crate::needs::has_program;
use crate::workspace::Workspace;

/// The completions for the last word in bash.
fn completed(workspace: &Workspace, words: &[&str]) -> Vec<String> {
    const SCRIPT: &str = r#"
        source completions
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        # In bash, it works only during a completion.
        compopt() { :; }
        "$(complete -p pgndex | sed 's/.*-F \([^ ]*\).*/\1/')" pgndex "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let output = Command::new("bash")
        .args(["--norc", "-c", SCRIPT, "bash"])
        .args(words)
        .current_dir(workspace.directory())
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_values_and_files() {
    if !has_program("bash") {
        return;
    }
    let workspace = Workspace::new().with("games.db", "").with("games.svg", "");
    workspace.write("completions", workspace.ok(&["completions", "bash"]));
    assert_eq!(completed(&workspace, &["pgndex", "ex"]), ["explore", "export"]);
    assert_eq!(completed(&workspace, &["pgndex", "find", "games.db", "--mat"]), ["--material"]);
    assert_eq!(completed(&workspace, &["pgndex", "game", "1", "--format", ""]), ["table", "json", "pgn"]);
    assert_eq!(completed(&workspace, &["pgndex", "game", "1", "--svg", "games.s"]), ["games.svg"]);
    assert_eq!(completed(&workspace, &["pgndex", "index", "--chunk"]), [""]);
    assert_eq!(completed(&workspace, &["pgndex", "optimize", "--wri"]), [""]);
    assert_eq!(completed(&workspace, &["pgndex", "find", "--js"]), ["--json"]);
    assert_eq!(completed(&workspace, &["pgndex", "--vers"]), ["--version"]);
    // A player's name is expected, not a file.
    assert_eq!(completed(&workspace, &["pgndex", "find", "games.db", "--white", "games"]), ["games"]);
}

#[test]
fn completions_for_every_shell_are_complete_and_valid() {
    let workspace = Workspace::new();
    let help = workspace.ok(&["--help"]);
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let commands: Vec<_> = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    assert!(commands.contains(&"find") && commands.contains(&"completions"), "{commands:?}");
    for (shell, checks) in [
        ("bash", &["bash", "-n"][..]),
        ("zsh", &["zsh", "-n"]),
        ("fish", &["fish", "-n"]),
        ("powershell", &[]),
        ("elvish", &[]),
    ] {
        let text = workspace.ok(&["completions", shell]);
        for command in &commands {
            assert!(text.contains(command), "{shell}: {command}");
        }
        assert!(!text.contains("chunk-size"), "{shell}");
        workspace.write(shell, &text);
        // These shells may be missing. For bash, another test runs the completions.
        let Some((program, options)) = checks.split_first() else { continue };
        let run = Command::new(program).args(options).arg(workspace.path(shell)).output();
        if let Ok(run) = run {
            assert!(run.status.success(), "{shell}: {}", String::from_utf8_lossy(&run.stderr));
        }
    }
    assert!(
        workspace.stderr_of(2, &["completions", "tcsh"]).contains("[possible values: bash, elvish, fish,")
    );
}

#[test]
fn each_command_has_a_manual_page_without_faults() {
    let workspace = Workspace::new();
    assert_eq!(workspace.ok(&["man", "new/man1"]), "");
    // A second run replaces the pages.
    assert_eq!(workspace.ok(&["man", "new/man1"]), "");
    let help = workspace.ok(&["--help"]);
    let directory = workspace.path("new/man1");
    let mut pages: Vec<_> = std::fs::read_dir(&directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    pages.sort();
    assert_eq!(pages[..3], ["pgndex-backup.1", "pgndex-completions.1", "pgndex-explore.1"]);
    assert_eq!(pages.last().map(String::as_str), Some("pgndex.1"));
    for page in &pages {
        let name = page.trim_start_matches("pgndex-").trim_end_matches(".1");
        assert!(help.contains(&format!("  {name} ")), "{page}");
    }
    let written = std::fs::read_to_string(directory.join("pgndex-sql.1")).expect("a page");
    assert!(written.contains(".SH EXAMPLES\n.nf\npgndex sql games.db"), "{written}");
    let whole = std::fs::read_to_string(directory.join("pgndex.1")).expect("a page");
    for heading in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
        assert!(
            whole.contains(&format!(".SH \"{heading}\"")) || whole.contains(&format!(".SH {heading}")),
            "{heading}"
        );
    }
    // The exit statuses and variables are the documented ones.
    let explained =
        std::fs::read_to_string(crate::pages::project().join("docs/exit-status.md")).expect("a page");
    let rows = explained.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    for term in rows.map(|term| term.trim_matches('`')) {
        let is_status = term.bytes().all(|byte| byte.is_ascii_digit());
        let is_variable = term.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase());
        assert!(!is_status && !is_variable || whole.contains(&format!("\\fB{term}\\fR")), "{term}");
    }
    if !has_program("groff") {
        return;
    }
    for page in &pages {
        let output = Command::new("groff")
            .args(["-man", "-Tutf8", "-ww", "-z"])
            .arg(directory.join(page))
            .output()
            .expect("groff runs");
        assert!(output.status.success(), "{page}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page}");
    }
}

#[test]
fn a_directory_that_cannot_be_created_is_reported() {
    let workspace = Workspace::new().with("file", "");
    let reported = workspace.failure(&["man", "file/man1"]);
    assert!(reported.starts_with("pgndex: error: file/man1: cannot create this directory"), "{reported}");
}
