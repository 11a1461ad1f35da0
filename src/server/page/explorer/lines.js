// Part of the explorer: the lines played from a position, as a table that branches.

import { h, number, put } from "../dom.js";
import { changed, go, params } from "../address.js";
import { Loader, apiAddress, get } from "../api.js";
import { resultBar, shareCell, table } from "../chart/bars.js";

const DEPTH = "10";
/** Moves that were played in less than this percentage of the games are omitted. */
const LEAST = "4";
/**
 * Two consecutive moves are in one row if the second is the only move listed after the first, and was played in
 * at least this share of the first move's games.
 */
const ALMOST_ALL = 0.9;

const total = ({ white, draws, black }) => white + draws + black;

/** The rows of the table: each has the moves from one branching of the lines to the next. */
export function rowsOf(moves, ply, before = [], depth = 0) {
  return moves.flatMap((first) => {
    const run = [{ ...first, ply }];
    while (run.at(-1).moves.length === 1 && total(run.at(-1).moves[0]) >= ALMOST_ALL * total(run.at(-1))) run.push({ ...run.at(-1).moves[0], ply: ply + run.length });
    const path = [...before, ...run.map(({ uci }) => uci)];
    return [{ ...first, run, path, depth }, ...rowsOf(run.at(-1).moves, ply + run.length, path, depth + 1)];
  });
}

/** Moves with their numbers; `first` has the number and the side of the game's first move. */
function textOf(run, first) {
  return run.map(({ ply, san }, at) => {
    const half = ply + (first.isBlack ? 1 : 0);
    const move = first.number + Math.floor(half / 2);
    return half % 2 === 0 ? `${move}. ${san}` : at === 0 ? `${move}… ${san}` : san;
  }).join(" ");
}

/** A section that can be opened; the address says whether it is open. */
export class Lines {
  #loader;
  #box = h("div", {});
  #key = null;

  constructor() {
    this.element = h("details", { class: "lines-tree" }, h("summary", {}, "Lines from here"), this.#box);
    this.element.hidden = true;
    this.#loader = new Loader(this.#box);
    this.element.addEventListener("toggle", () => {
      if (this.element.open !== params().has("lines")) go(changed({ lines: this.element.open }), { replace: true });
    });
  }

  stop() {
    this.#loader.stop();
    this.#key = null;
  }

  clear() {
    this.stop();
    this.element.hidden = true;
    put(this.#box);
  }

  /** Shows the lines for `asked`: the parameters of a position and of filters, as pairs. `href` returns the address of the position after more moves. */
  update(asked, { ply, first, href }) {
    this.element.hidden = false;
    this.element.open = params().has("lines");
    if (!this.element.open) {
      this.stop();
      put(this.#box);
      return;
    }
    const query = new URLSearchParams([...asked, ["depth", DEPTH], ["leastShare", LEAST]]);
    const key = apiAddress("/api/tree", query);
    if (key === this.#key) return;
    this.#key = key;
    this.#loader.load((signal) => get("/api/tree", query, signal), (answer) => this.#show(answer, { ply, first, href }));
  }

  #show(answer, { ply, first, href }) {
    const all = total(answer);
    const columns = [
      { head: "Moves", cell: (row) => h("a", { href: href(row.path), class: "line-link", css: { "padding-inline-start": `${14 * row.depth}px` } }, textOf(row.run, first)) },
      { head: "Games", cell: (row) => number(total(row)), kind: "num" },
      { head: "Share", title: "Of the games that reached the position on the board", cell: (row) => shareCell(total(row), all), kind: "num minor" },
      { head: "White, draws, Black", cell: resultBar, kind: "bar-column" },
    ];
    put(this.#box, table("Lines from here", columns, rowsOf(answer.moves, ply)));
  }
}
