// A repertoire compared with the games: missing answers, deviations, and the score of each line.

import { count, date, h, number, put, result, unique } from "../dom.js";
import { filtersOf, params, plainAddress, viewAddress } from "../address.js";
import { Loader, post } from "../api.js";
import { smallBoard } from "../board/arrows.js";
import { score, scoreBar, shareCell, table } from "../chart/bars.js";
import { choice, field, filterBar } from "../filters.js";

const MOST = 4 << 20;
const NAMES = ["text", "side", "leastGames", "leastShare", "asked"];
const KEY = "repertoire";

/** The last text and settings, kept until the browser's tab is closed. */
let kept = { text: "", side: "", leastGames: "2", leastShare: "5", asked: "", ...read() };

function read() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    return Object.fromEntries(NAMES.filter((name) => typeof found[name] === "string").map((name) => [name, found[name]]));
  } catch {
    return {};
  }
}

function keep(form, asked = kept.asked) {
  const typed = Object.fromEntries([...new FormData(form)].filter(([name]) => NAMES.includes(name)));
  kept = { ...kept, ...typed, asked };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch { /* The text is too long for the storage; it is lost when the page is reloaded. */ }
}

class RepertoireView {
  #parts = {};
  #loader = null;
  #filters = "";

  show(root) {
    const parts = this.#parts;
    parts.filters = filterBar();
    parts.answer = h("div", { class: "report" });
    put(root, h("div", { class: "page" }, h("h1", {}, "Repertoire check"),
      h("p", { class: "sub" }, "Compare a file of your lines with the games: opponent moves without an answer, moves that are not played, and the score of each line. The file is sent to this server only, and the server does not keep it."),
      this.#form(), parts.filters.element, parts.answer));
    this.#loader = new Loader(parts.answer);
    this.#filters = filtersOf(params()).toString();
    if (kept.text.trim() && kept.asked) this.#ask();
  }

  leave() {
    this.#loader.stop();
  }

  update() {
    this.#parts.filters.update();
    const filters = filtersOf(params()).toString();
    if (filters === this.#filters) return;
    this.#filters = filters;
    if (kept.text.trim() && kept.asked) this.#ask();
  }

  #form() {
    const [id, fileId] = [unique("pgn"), unique("file")];
    const trouble = h("p", { class: "field-error", role: "alert" });
    const text = h("textarea", { id, name: "text", rows: 6, spellcheck: "false", placeholder: "1. e4 c5 2. Nf3 d6 (2... Nc6 3. Bb5) 3. d4 …", prop: { value: kept.text } });
    const file = h("input", { id: fileId, type: "file", accept: ".pgn,application/x-chess-pgn,text/plain" });
    const readFile = async (one) => {
      if (!one) return;
      put(trouble, one.size > MOST ? "This file is larger than 4 MB." : "");
      if (one.size > MOST) return;
      text.value = await one.text();
      keep(form);
    };
    file.addEventListener("change", () => readFile(file.files[0]));
    text.addEventListener("drop", (event) => {
      if (event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      readFile(event.dataTransfer.files[0]);
    });
    const form = h("form", { class: "form repertoire-form" },
      h("div", { class: "field" }, h("label", { for: fileId }, "A PGN file, with variations"), file),
      h("div", { class: "field" }, h("label", { for: id }, "or its text"), text), trouble,
      h("div", { class: "fields" },
        choice("Side", "side", [["", "as in the file"], ["white", "White"], ["black", "Black"]], kept.side),
        field("Show moves in at least this many games", "leastGames", { type: "number", min: 0, value: kept.leastGames }),
        field("… and in at least this percentage of the position's games", "leastShare", { type: "number", min: 0, max: 100, value: kept.leastShare })),
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Check")));
    form.addEventListener("input", () => keep(form));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keep(form, "yes");
      put(trouble, kept.text.trim() ? "" : "Choose a file, or paste its text.");
      if (kept.text.trim()) this.#ask();
    });
    return form;
  }

  #ask() {
    const query = new URLSearchParams([...filtersOf(params()), ["limit", "200"], ["games", "12"]]);
    for (const name of ["side", "leastGames", "leastShare"]) if (kept[name]) query.set(name, kept[name]);
    this.#loader.load((signal) => post("/api/repertoire", "application/x-chess-pgn", kept.text, query, signal), (answer) => {
      const all = Array.isArray(answer) ? answer : [answer];
      put(this.#parts.answer, all.map((one) => this.#repertoire(one)));
    });
  }

  #repertoire(one) {
    const side = one.side === "w" ? "White" : "Black";
    const note = one.is_side_given ? "" : " The file does not say for which side it is; the side was derived from its moves.";
    return h("section", { class: "report" },
      h("div", {}, h("h2", { class: "big" }, `For ${side}`), h("p", { class: "soft" }, `${count(one.positions, "position")} in ${count(one.lines.length, "line")}.${note}`)),
      this.#departures("No answer", "Opponent moves outside the repertoire.", one.unanswered, one.unanswered_count, one.side),
      this.#departures("Other own moves", "Moves that were played instead of the repertoire's own moves.", one.departures, one.departure_count, one.side),
      this.#lines(one), this.#games(one));
  }

  #departures(title, about, rows, all, side) {
    const head = h("div", { class: "rule-head" }, h("h3", {}, title), h("span", { class: "soft" }, about));
    if (rows.length === 0) return h("section", {}, head, h("p", { class: "hint" }, "None."));
    const move = (row) => `${row.move_number}${row.side === "w" ? "." : "…"} ${row.san}`;
    const expected = (row) => row.expected.map((moves) => [moves].flat().join(" or ")).join("; ");
    const to = (row) => viewAddress("/", { fen: fullFen(row.fen), play: row.uci, flip: side === "b" });
    const columns = [
      { head: "Move", cell: (row) => h("a", { href: to(row), class: "with-board" }, smallBoard(row.fen, { next: row.uci, flipped: side === "b" }), h("span", {}, h("span", { class: "soft" }, row.after ? `${row.after} ` : ""), h("strong", {}, move(row)))) },
      { head: "In the repertoire", cell: (row) => expected(row) || "–", kind: "minor" },
      { head: "Games", cell: (row) => number(row.games), kind: "num" },
      { head: "Share", cell: (row) => shareCell(row.games, row.reached), kind: "num minor" },
      { head: "Won, drawn, lost", cell: scoreBar, kind: "bar-column minor" },
      { head: "Score", cell: score, kind: "num" },
    ];
    return h("section", {}, head, table(title, columns, rows), all > rows.length ? h("p", { class: "hint" }, `The most frequent ${rows.length} of ${number(all)}.`) : null);
  }

  #lines(one) {
    const text = (line) => line.moves.map((move, at) => (move.side === "w" ? `${move.move_number}. ${move.san}` : at === 0 ? `${move.move_number}… ${move.san}` : move.san)).join(" ");
    const left = (line) => (line.left_by ? `${line.left_by.move_number}${line.left_by.side === "w" ? "." : "…"} ${line.left_by.san} (${number(line.left_by.games)})` : line.is_open ? "open end" : "–");
    const columns = [
      { head: "Line", cell: (line) => [h("a", { href: viewAddress("/", { play: line.moves.map((move) => move.uci).join(","), flip: one.side === "b" }), class: "line-link" }, text(line)), line.name ? h("span", { class: "soft" }, line.name) : null] },
      { head: "Games", cell: (line) => number(line.games), kind: "num" },
      { head: "Won, drawn, lost", cell: scoreBar, kind: "bar-column minor" },
      { head: "Score", cell: score, kind: "num" },
      { head: "Followed", title: "Half-moves of the line that any game followed", cell: (line) => `${line.followed} of ${line.moves.length}`, kind: "num minor" },
      { head: "Most often left by", cell: left, kind: "minor" },
    ];
    return h("section", {}, h("div", { class: "rule-head" }, h("h3", {}, "Lines"), h("span", { class: "soft" }, "Results of the games that reached the end of each line.")), table("Lines", columns, one.lines));
  }

  #games(one) {
    if (one.games.length === 0) return null;
    const columns = [
      { head: "Game", cell: (game) => h("a", { href: plainAddress(`/view/game/${game.game_id}`) }, `${game.white ?? "?"} – ${game.black ?? "?"}`) },
      { head: "Result", cell: (game) => result(game.result), kind: "nowrap" },
      { head: "Date", cell: (game) => date(game.date), kind: "nowrap" },
      { head: "Followed", cell: (game) => game.followed, kind: "minor" },
      { head: "Then", cell: (game) => game.next ?? "end", kind: "minor nowrap" },
    ];
    const more = one.more_games ? h("p", { class: "hint" }, `The latest ${one.games.length}; more games followed the repertoire.`) : null;
    return h("section", {}, h("div", { class: "rule-head" }, h("h3", {}, "Latest games that followed the repertoire")), table("Games", columns, one.games), more);
  }
}

const fullFen = (fen) => (fen.split(" ").length === 4 ? `${fen} 0 1` : fen);

export const view = { title: "Repertoire", make: () => new RepertoireView() };
