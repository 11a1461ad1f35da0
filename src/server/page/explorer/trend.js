// Part of the explorer: the side whose score is shown, and the games of a position by year.

import { count, h, put } from "../dom.js";
import { changed, params, viewAddress } from "../address.js";
import { Loader, apiAddress, get } from "../api.js";
import { bars, filled } from "../chart/chart.js";

const OWN = ["player", "white", "black"];

/** The one of the filters `player`, `white` and `black` that is set; null unless exactly one is set. */
function namedPlayer() {
  const set = OWN.filter((name) => params().get(name));
  return set.length === 1 ? set[0] : null;
}

/** The side whose score is shown: the side of the filtered player, else the side to move. Null if the filter leaves the player's side open. */
export function scoredSide(isWhiteToMove) {
  const named = namedPlayer();
  if (named === "player") return null;
  return named ?? (isWhiteToMove ? "white" : "black");
}

/** Links that select the side of the filtered player; the link of the current side is marked. */
export function sideChoice() {
  const named = namedPlayer();
  if (!named) return null;
  const name = params().get(named);
  const opponent = params().get("opponent");
  if (opponent && named !== "player") return null;
  const none = Object.fromEntries(OWN.map((one) => [one, null]));
  const link = (filter, text) => h("a", { href: changed({ ...none, [filter]: name }), class: "side-link", "aria-current": filter === named ? "true" : null }, text);
  return h("nav", { class: "side-choice", "aria-label": "Side of the player" }, h("span", { class: "soft" }, `${name.replace(/^=/, "")} has`),
    link("player", "either side"), link("white", "White"), link("black", "Black"));
}

/** Games by year, below the table of moves. */
export class Trend {
  #loader;
  #key = null;

  constructor() {
    this.element = h("div", { class: "trend" });
    this.#loader = new Loader(this.element);
  }

  stop() {
    this.#loader.stop();
    this.#key = null;
  }

  clear() {
    this.stop();
    put(this.element);
  }

  /** Shows the years for `asked`: the parameters of a position and of filters, as pairs. */
  update(asked) {
    const query = new URLSearchParams([...asked, ["history", "1"], ["limit", "4"], ["top", "0"], ["recent", "0"]]);
    const key = apiAddress("/api/explore", query);
    if (key === this.#key) return;
    this.#key = key;
    this.#loader.load((signal) => get("/api/explore", query, signal), ({ history }) => this.#show(history ?? []));
  }

  #show(history) {
    const years = filled(history, "year", 1);
    if (years.length < 3) {
      put(this.element);
      return;
    }
    const rows = years.map((one) => ({ name: String(one.year), parts: [["white", one.white], ["draw", one.draws], ["black", one.black]] }));
    const [fen, play] = [params().get("fen"), params().get("play")];
    const link = ({ name }) => viewAddress("/view/games", { fen, play, since: name, until: name });
    const all = history.reduce((sum, one) => sum + one.white + one.draws + one.black, 0);
    put(this.element, bars("Games by year", rows, { heads: ["Year", "White won", "Drawn", "Black won"], height: 120, link }),
      h("p", { class: "unseen" }, `${count(all, "game")} of ${count(history.length, "year")}`));
  }
}
