//! The tables as the example program prints them.

use serde_json::{Value, json};

#[allow(dead_code)]
#[path = "../../../examples/tables.rs"]
mod example;

#[test]
fn tables_are_printed_as_json() {
    let printed = format!("{:#}", example::tables());
    let tables: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(tables["TO_x88"]["a1"], 0);
    assert_eq!(tables["TO_x88"]["e2"], 0x14);
    assert_eq!(tables["TO_x88"]["h8"], 0x77);
    assert_eq!(tables["ALL_MOVES"]["N"]["a1"], json!(["c2", "b3"]));
    assert_eq!(tables["ALL_MOVES"]["N"]["g8"], json!(["f6", "h6", "e7"]));
    assert_eq!(tables["ALL_MOVES"]["K"]["a1"], json!(["b1", "a2", "b2"]));
    assert_eq!(tables["ALL_MOVES"]["Q"]["a1"].as_array().unwrap().len(), 21);
    assert_eq!(tables["WHITE_PAWN_FROM"]["a4"], json!(["a2", "a3", "b3"]));
    assert_eq!(tables["BLACK_PAWN_FROM"]["g2"], json!(["f3", "g3", "h3"]));
    for table in ["TO_x88", "WHITE_PAWN_FROM", "BLACK_PAWN_FROM"] {
        assert_eq!(tables[table].as_object().unwrap().len(), 64, "{table}");
    }
    for piece in ["N", "K", "B", "R", "Q"] {
        assert_eq!(tables["ALL_MOVES"][piece].as_object().unwrap().len(), 64, "{piece}");
    }
}
