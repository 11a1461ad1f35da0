use crate::board::{Color, Position, Square};
use crate::picture::{Arrow, BoardPicture};

fn square(name: &str) -> Square {
    Square::parse(name.as_bytes()).unwrap()
}

fn arrow(from: &str, to: &str, weight: f64, label: &str) -> Arrow {
    Arrow { from: square(from), to: square(to), weight, label: label.to_owned() }
}

/// The picture after moves from the start position.
fn after(moves: &[&str], orientation: Color, arrows: &[Arrow]) -> String {
    let mut position = Position::start();
    let mut last_move = None;
    for san in moves {
        last_move = Some(position.play_san(san.as_bytes()).unwrap());
    }
    BoardPicture { position: &position, orientation, last_move, arrows }.to_svg()
}

fn of_fen(fen: &str) -> String {
    let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
    BoardPicture { position: &position, orientation: Color::White, last_move: None, arrows: &[] }.to_svg()
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

/// The text in the first element with this tag.
fn inside<'s>(svg: &'s str, tag: &str) -> &'s str {
    let (_, rest) = svg.split_once(&format!("<{tag}>")).unwrap();
    rest.split_once(&format!("</{tag}>")).unwrap().0
}

#[test]
fn each_piece_is_on_its_square() {
    let svg = after(&[], Color::White, &[]);
    assert_eq!((count(&svg, "<use "), count(&svg, "<g id=")), (32, 12));
    assert_eq!((count(&svg, "#white-pawn\""), count(&svg, "#black-pawn\"")), (8, 8));
    for (name, x, y) in [("white-king", 450, 750), ("black-queen", 350, 50), ("white-rook", 50, 750)] {
        assert!(svg.contains(&format!("<use href=\"#{name}\" x=\"{x}\" y=\"{y}\"/>")), "{name}");
    }
    let flipped = after(&[], Color::Black, &[]);
    assert!(flipped.contains("<use href=\"#white-king\" x=\"350\" y=\"50\"/>"));
    // The picture contains only the shapes that it needs.
    let few = of_fen("8/8/8/4k3/8/4K3/4P3/8 w - -");
    assert_eq!((count(&few, "<use "), count(&few, "<g id=")), (3, 3));
}

#[test]
fn coordinates_turn_with_the_board() {
    let at = |svg: &str, class: &str| {
        let (_, rest) = svg.split_once(&format!("<path class=\"{class}\" transform=\"translate(")).unwrap();
        let (x, y) = rest.split_once(')').unwrap().0.split_once(' ').unwrap();
        (x.parse::<u16>().unwrap(), y.parse::<u16>().unwrap())
    };
    let [white, black] = [Color::White, Color::Black].map(|side| after(&[], side, &[]));
    assert!(at(&white, "a").0 < at(&white, "h").0 && at(&white, "rank-8").1 < at(&white, "rank-1").1);
    assert!(at(&black, "h").0 < at(&black, "a").0 && at(&black, "rank-1").1 < at(&black, "rank-8").1);
    assert_eq!(count(&white, "<text"), 0, "no font is needed");
}

#[test]
fn the_squares_of_the_last_move_are_marked() {
    let svg = after(&["e4", "c5", "Nf3"], Color::White, &[]);
    assert_eq!(count(&svg, "class=\"last-move"), 2);
    for (square, x, y) in [("g1", 653, 753), ("f3", 553, 553)] {
        assert!(svg.contains(&format!("class=\"last-move {square}\" x=\"{x}\" y=\"{y}\"")), "{square}");
    }
    assert_eq!(count(&after(&[], Color::White, &[]), "last-move"), 0);
    assert_eq!(count(&after(&["e4", "--"], Color::White, &[]), "last-move"), 0);
}

#[test]
fn check_and_mate_are_marked_at_the_king() {
    let check = after(&["e4", "f5", "Qh5+"], Color::White, &[]);
    assert!(
        check.contains("class=\"check e8\" x=\"450\" y=\"50\"") && check.contains("class=\"check-sign\"")
    );
    let mate = after(&["f3", "e5", "g4", "Qh4#"], Color::White, &[]);
    assert!(mate.contains("class=\"check e1\"") && mate.contains("class=\"mate-sign\""));
    assert_eq!(inside(&mate, "title"), "Chess board, White is checkmated");
    let none = after(&["e4"], Color::White, &[]);
    assert_eq!((count(&none, "check"), count(&none, "mate")), (0, 0));
    assert_eq!(inside(&of_fen("7k/5Q2/6K1/8/8/8/8/8 b - -"), "title"), "Chess board, Black is stalemated");
}

#[test]
fn the_description_matches_the_picture() {
    let arrows = [arrow("d4", "e5", 0.75, "dxe5: 3 games"), arrow("d4", "d5", 0.25, "")];
    let svg = after(&["e4", "e5", "d4", "Nc6"], Color::Black, &arrows);
    assert_eq!(inside(&svg, "title"), "Chess board, White to move");
    insta::assert_snapshot!(inside(&svg, "desc"), @"White to move. White: king e1, queen d1, rooks a1 h1, bishops c1 f1, knights b1 g1, pawns a2 b2 c2 f2 g2 h2 d4 e4. Black: king e8, queen d8, rooks a8 h8, bishops c8 f8, knights c6 g8, pawns e5 a7 b7 c7 d7 f7 g7 h7. Last move: Black's knight b8 to c6. Black is at the bottom. Arrows: d4 to e5 (dxe5: 3 games), d4 to d5. FEN: r1bqkbnr/pppp1ppp/2n5/4p3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3");
    for (moves, description) in [
        (&["e4", "d5", "exd5"][..], "White's pawn e4 takes a pawn on d5"),
        (&["e4", "a6", "e5", "d5", "exd6"], "White's pawn e5 takes a pawn on d6, en passant"),
        (&["e4", "e5", "Nf3", "Nf6", "Bc4", "Bc5", "O-O"], "White castles on the king's side"),
        (
            &["h4", "g5", "hxg5", "h6", "gxh6", "Nf6", "h7", "Ng8", "hxg8=N"],
            "White's pawn h7 takes a knight on g8, and becomes a knight",
        ),
        (&["e4", "e5", "Ke2"], "White's king e1 to e2"),
    ] {
        let svg = after(moves, Color::White, &[]);
        assert!(inside(&svg, "desc").contains(&format!(" Last move: {description}. ")), "{description}");
    }
}

#[test]
fn arrows_are_drawn_with_their_weight() {
    let arrows = [
        arrow("e2", "e3", 0.2, "little"),
        arrow("e2", "e4", 0.8, "much"),
        arrow("a1", "a1", 1.0, "nowhere"),
        arrow("b1", "c3", f64::NAN, "no number"),
        arrow("g1", "f3", 7.0, "too much"),
    ];
    let svg = after(&[], Color::White, &arrows);
    let (_, drawn) = svg.split_once("<g class=\"arrows\"").unwrap();
    let (_, drawn) = drawn.split_once('\n').unwrap();
    insta::assert_snapshot!(drawn, @r#"
    <path class="b1c3" opacity="0.60" d="M213.0 781.9L292.0 623.9L298.9 627.4L298.2 603.6L278.7 617.3L285.7 620.8L206.7 778.8Z"><title>no number</title></path>
    <path class="g1f3" opacity="0.90" d="M700.9 775.0L629.5 632.2L642.6 625.7L601.8 603.6L595.0 649.5L608.0 642.9L679.4 785.7Z"><title>too much</title></path>
    <path class="e2e4" opacity="0.84" d="M510.3 678.0L510.3 538.6L523.5 538.6L500.0 504.0L476.5 538.6L489.7 538.6L489.7 678.0Z"><title>much</title></path>
    <path class="e2e3" opacity="0.66" d="M505.2 678.0L505.2 628.4L514.4 628.4L500.0 604.0L485.6 628.4L494.8 628.4L494.8 678.0Z"><title>little</title></path>
    </g>
    </svg>
    "#);
    assert_eq!(count(&after(&[], Color::White, &arrows[2..3]), "<g class=\"arrows\""), 0);
}

#[test]
fn any_label_can_be_drawn() {
    let svg = after(&[], Color::White, &[arrow("e2", "e4", 0.5, "<b>&\0]]>\u{ffff}\"é")]);
    assert_eq!(count(&svg, "&lt;b&gt;&amp;\u{fffd}]]&gt;\u{fffd}\"é"), 2);
}

#[test]
fn pictures_refer_to_no_other_files() {
    let arrows = [arrow("d4", "e5", 0.75, "dxe5")];
    let svg = after(&["e4", "e5", "d4", "Nc6"], Color::White, &arrows);
    assert_eq!(svg, after(&["e4", "e5", "d4", "Nc6"], Color::White, &arrows));
    for foreign in ["<style", "style=", "<script", "<image", "url(", "<text", "font"] {
        assert_eq!(count(&svg, foreign), 0, "{foreign}");
    }
    assert_eq!(count(&svg, "http"), count(&svg, "xmlns=\"http://www.w3.org/2000/svg\""));
    let names = svg.split("<g id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let names: Vec<_> = names.collect();
    for used in svg.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(names.contains(&used), "{used}");
    }
    assert!(svg.len() < 16_000, "{}", svg.len());
}
