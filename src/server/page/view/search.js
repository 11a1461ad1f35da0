// Search: a board with signs, material, structure and moves; results are small boards.

import { date, h, put, result, unique } from "../dom.js";
import { changed, go, params } from "../address.js";
import { smallBoard } from "../board/arrows.js";
import { placement, signName } from "../board/board.js";
import { Endless } from "../list/endless.js";
import { choice, field, filterBar } from "../filters.js";
import { exports, gameAddress, sortChoice, totalText } from "./games.js";
import { TARGETS, listQuery } from "../list/listing.js";
import { patternOf, placementOf, squaresOf } from "../board/pattern.js";
import { pieceImage } from "../board/pieces.js";

const ENDINGS = [
  ["", "any"], ["pawn", "pawns only"], ["knight", "knights"], ["bishop", "bishops"], ["same-bishops", "bishops of the same colour"],
  ["opposite-bishops", "bishops of opposite colours"], ["bishop-knight", "bishops against knights"], ["minor", "minor pieces"], ["rook", "rooks"],
  ["rook-minor", "rook against minor piece"], ["queen", "queens"], ["queen-rook", "queen against rook"],
];
const MEANINGS = [
  ["pattern", "positions with these pieces, anything elsewhere"], ["structure", "positions with exactly these pawns"], ["like", "the positions nearest to this one"],
];
const SIGNS = [..."KQRBNPkqrbnp", "!", "A", "a", "."];
const EXAMPLES = [
  ["Rook and pawn against rook", { material: "KRPvKR" }],
  ["Mate with the queen on h7", { move: "Qxh7#" }],
  ["Isolated queen's pawn", { structure: "8/pp3ppp/4p3/8/3P4/8/PP3PPP/8" }],
  ["Knight on d5 that no pawn can drive away", { pattern: "*/??1?1???/??1?1???/???N????/*/*/*/*" }],
  ["Bishops of opposite colours", { ending: "opposite-bishops" }],
];

class Search {
  #parts = {};
  #squares = new Map();
  #sign = "K";
  #list = null;
  #shown = null;

  show(root) {
    const parts = this.#parts;
    parts.filters = filterBar();
    parts.board = h("chess-board", { label: "Board to set up", on: {
      square: (event) => this.#set(event.detail), carry: (event) => this.#carry(event.detail),
    } });
    this.#list = new Endless({
      about: (list) => [h("strong", {}, totalText(list.total)), exports(), sortChoice()],
      begin: () => {
        const body = h("ol", { class: "hits" });
        return { body, holder: body };
      },
      item: (game) => this.#hit(game),
    });
    parts.form = h("div", {});
    parts.results = h("div", {});
    put(root, h("div", { class: "search" },
      h("section", { class: "search-form", "aria-label": "Search form" }, h("h1", {}, "Search positions"), parts.form),
      h("section", { class: "search-results", "aria-label": "Found" }, parts.filters.element, parts.results)));
    this.update();
  }

  leave() {
    this.#list.stop();
  }

  update() {
    const parts = this.#parts;
    parts.filters.update();
    const asked = TARGETS.map((name) => params().get(name) ?? "").join("|");
    if (asked !== this.#shown) {
      this.#shown = asked;
      this.#read();
      this.#showForm();
    }
    if (TARGETS.some((name) => listQuery().get(name))) {
      put(parts.results, this.#list.element);
      this.#list.update();
    } else {
      this.#list.clear();
      const example = ([name, what]) => h("li", {}, h("a", { href: changed(what) }, name));
      put(parts.results, h("div", { class: "message" }, h("p", { class: "message-title" }, "Describe a position to find the games that reached it."),
        h("p", {}, "For example:"), h("ul", { class: "examples" }, EXAMPLES.map(example))));
    }
  }

  #read() {
    const query = params();
    const like = query.get("like") || query.get("structure");
    const pattern = query.get("pattern");
    if (pattern) this.#squares = squaresOf(pattern) ?? new Map();
    else this.#squares = like ? placement(like) : new Map();
  }

  #showForm() {
    const query = params();
    const parts = this.#parts;
    const value = (name) => query.get(name) ?? "";
    const meaning = value("like") ? "like" : value("structure") ? "structure" : "pattern";
    parts.pattern = field("Pattern", "pattern", { value: value("pattern"), hint: "? anything, ! any piece, A any white piece, a any black piece, [QR] one of these, 3 three empty squares, * any number of squares" });
    parts.pattern.querySelector("input").addEventListener("input", (event) => this.#typed(event.target.value));
    const check = (name, text) => h("label", { class: "check" }, h("input", { type: "checkbox", name, prop: { checked: query.has(name) } }), text);
    const turn = value("like").split(" ")[1] ?? "w";
    const form = h("form", { class: "form" },
      h("div", { class: "set-up" }, parts.board, this.#palette()),
      choice("Find", "meaning", MEANINGS, meaning),
      parts.pattern,
      h("div", { class: "fields" },
        field("Material", "material", { value: value("material"), placeholder: "KRPvKR" }),
        choice("Ending", "ending", ENDINGS, value("ending")),
        field("Move played", "move", { value: value("move"), placeholder: "Qxh7# or Nd5" }),
        field("After half-moves", "ply", { value: value("ply"), placeholder: "20-40" }),
        field("Consecutive positions", "for", { type: "number", min: 1, value: value("for"), placeholder: "1" }),
        choice("Side to move (nearest)", "turn", [["w", "White"], ["b", "Black"]], turn)),
      h("div", { class: "buttons" }, check("either", "also with colours reversed"), check("mirror", "also mirrored")),
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Search"),
        h("button", { type: "button", on: { click: () => this.#clear() } }, "Clear")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search(form);
    });
    put(parts.form, form);
    parts.board.edit(this.#squares);
  }

  #palette() {
    const name = unique("sign");
    const entry = (sign) => {
      const input = h("input", { type: "radio", name, value: sign, class: "unseen", "aria-label": signName(sign), prop: { checked: sign === this.#sign }, on: { change: () => { this.#sign = sign; } } });
      const face = "KQRBNPkqrbnp".includes(sign) ? pieceImage(sign) : h("span", { "aria-hidden": "true" }, sign === "." ? "∅" : sign);
      return h("label", { class: "palette-entry", title: signName(sign) }, input, face);
    };
    const own = h("input", { "aria-label": "One of these pieces", placeholder: "QR", maxlength: 12, spellcheck: "false", autocomplete: "off", class: "one-of" });
    own.addEventListener("input", () => {
      const letters = own.value.replace(/[^PNBRQKpnbrqk]/g, "");
      if (letters) this.#sign = `[${letters}]`;
    });
    return h("fieldset", { class: "palette" }, h("legend", { class: "unseen" }, "Piece to put on the board"), SIGNS.map(entry), h("span", { class: "one-of-box" }, "one of ", own));
  }

  #set({ square, sign }) {
    const wanted = sign === undefined ? this.#sign : sign;
    if (wanted === null || wanted === "?" || this.#squares.get(square) === wanted) this.#squares.delete(square);
    else this.#squares.set(square, wanted);
    this.#changed();
  }

  #carry({ from, to }) {
    const sign = this.#squares.get(from);
    this.#squares.delete(from);
    if (to && sign) this.#squares.set(to, sign);
    this.#changed();
  }

  #changed() {
    this.#parts.board.edit(this.#squares);
    this.#parts.pattern.querySelector("input").value = this.#squares.size > 0 ? patternOf(this.#squares) : "";
  }

  #typed(text) {
    const squares = text.trim() ? squaresOf(text) : new Map();
    if (!squares) return;
    this.#squares = squares;
    this.#parts.board.edit(squares);
  }

  #clear() {
    this.#squares = new Map();
    go(changed(Object.fromEntries(TARGETS.map((name) => [name, null]))));
    this.#showForm();
  }

  #search(form) {
    const data = new FormData(form);
    const text = (name) => (data.get(name) ?? "").trim();
    const more = Object.fromEntries(TARGETS.map((name) => [name, null]));
    for (const name of ["material", "ending", "move", "ply", "for"]) more[name] = text(name);
    for (const name of ["either", "mirror"]) more[name] = data.has(name);
    const meaning = text("meaning");
    if (meaning === "pattern") more.pattern = text("pattern");
    else if (this.#squares.size > 0) more[meaning] = placementOf(this.#squares) + (meaning === "like" ? ` ${text("turn")} - -` : "");
    if (meaning === "structure" && more.structure) more.structure = more.structure.replace(/[^Pp/\d]/g, "1").replace(/\d+/g, (run) => String([...run].reduce((sum, digit) => sum + Number(digit), 0)));
    if (meaning === "like") for (const name of ["material", "ending", "move", "ply", "for", "either", "mirror", "sort"]) more[name] = null;
    go(changed(more));
    const { results } = this.#parts;
    if (results.getBoundingClientRect().top > window.innerHeight - 80) results.scrollIntoView({ block: "start" });
  }

  #hit(game) {
    const next = game.next_san ? `${game.move_number}${game.side === "b" ? "…" : "."} ${game.next_san}` : "end of the game";
    const to = gameAddress(game.game_id, { at: game.ply });
    const who = (name, isWinner) => h("span", { class: isWinner ? "who won" : "who" }, h("span", { class: "name" }, name || "?"));
    return h("li", { class: "hit" }, h("a", { href: to },
      smallBoard(game.fen, { next: game.next_uci ?? "" }),
      h("span", { class: "hit-text" }, h("strong", {}, next), h("span", {}, result(game.result))),
      h("span", { class: "pair" }, who(game.white, game.result === "1-0"), who(game.black, game.result === "0-1")),
      h("span", { class: "hint" }, [game.event, date(game.date)].filter(Boolean).join(" · "), game.distance !== undefined ? ` · distance ${game.distance}` : "")));
  }
}

export const view = { title: "Search", make: () => new Search() };
