// A box to paste a position or moves into.

import { h, put, unique } from "../dom.js";

/** Makes the box. `take` gets the pasted text, and returns an error message if the text is invalid. */
export function pasteBox(take) {
  const id = unique("paste");
  const trouble = h("p", { class: "field-error", role: "alert" });
  const text = h("textarea", { id, rows: 3, spellcheck: "false", placeholder: "1. e4 c5 2. Nf3 … or rnbqkbnr/pppppppp/8/…" });
  const form = h("form", {}, h("label", { for: id }, "A FEN, or the moves of a game"), text, trouble,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Show on the board")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    const wrong = await take(text.value);
    put(trouble, wrong ?? "");
    if (!wrong) {
      text.value = "";
      box.open = false;
    }
  });
  const box = h("details", { class: "paste" }, h("summary", {}, "Paste a FEN or moves"), form);
  return box;
}
