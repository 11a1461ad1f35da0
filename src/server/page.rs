//! The files of the web page, built into the program.

/// A file of the page.
pub(super) struct Asset {
    /// Its name below `/page/`.
    pub(super) name: &'static str,
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, content_type: content_type($name), bytes: include_bytes!(concat!("page/", $name)) }),*]
    };
}

/// All files of the page.
pub(super) const ASSETS: &[Asset] = assets! {
    "index.html", "address.js", "api.js", "app.js", "dom.js", "filters.js", "icon.svg",
    "board/arrows.js", "board/board.js", "board/pattern.js", "board/pieces.js",
    "chart/bars.js", "chart/chart.js", "chart/curves.js",
    "explorer/explorer.js", "explorer/lines.js", "explorer/trend.js",
    "list/endless.js", "list/listing.js", "list/names.js", "list/nothing.js",
    "moves/evaluation.js", "moves/moves.js", "moves/paste.js", "moves/tree.js",
    "style/base.css", "style/parts.css", "style/views.css",
    "view/game.js", "view/games.js", "view/openings.js", "view/player.js", "view/repertoire.js",
    "view/search.js", "view/sources.js", "view/sql.js", "view/statistics.js",
};

/// The URL of the file that all views of the page start from.
pub(super) const INDEX: &str = "/page/index.html";

const fn content_type(name: &str) -> &'static str {
    let name = name.as_bytes();
    match name {
        [.., b'h', b't', b'm', b'l'] => "text/html; charset=utf-8",
        [.., b'c', b's', b's'] => "text/css; charset=utf-8",
        [.., b'.', b'j', b's'] => "text/javascript; charset=utf-8",
        [.., b's', b'v', b'g'] => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn all_files_of_the_page_are_part_of_the_program() {
        fn check(folder: &Path, within: &str) {
            for file in std::fs::read_dir(folder).unwrap() {
                let file = file.unwrap();
                let name = format!("{within}{}", file.file_name().into_string().unwrap());
                if file.file_type().unwrap().is_dir() {
                    check(&file.path(), &format!("{name}/"));
                } else {
                    assert!(ASSETS.iter().any(|asset| asset.name == name), "{name} is missing in ASSETS");
                }
            }
        }
        check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/page")), "");
    }

    #[test]
    fn the_page_and_pictures_draw_the_same_pieces() {
        let one_line = |text: &str| text.split("\\\n").map(str::trim_start).collect::<String>();
        let drawn = one_line(include_str!("../picture/piece.rs"));
        let page = include_str!("page/board/pieces.js");
        let paths = page.lines().filter_map(|line| {
            let line = line.trim();
            line.strip_prefix("outline: ").or(line.strip_prefix("lines: "))
        });
        let mut count = 0;
        for path in paths {
            assert!(drawn.contains(path.trim_end_matches(',')), "{path}");
            count += 1;
        }
        assert_eq!(count, 12);
    }

    #[test]
    fn the_page_loads_nothing_from_other_hosts() {
        for asset in ASSETS {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for word in [
                "http://",
                "https://",
                "innerHTML",
                "insertAdjacentHTML",
                "eval(",
                "document.write",
                "style=\"",
                "onclick=",
            ] {
                assert!(!text.contains(word), "{} in {}", word, asset.name);
            }
        }
    }
}
