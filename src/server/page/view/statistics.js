// Games in figures: results, years, ratings, lengths.

import { count, h, number, percent, put } from "../dom.js";
import { filtersOf, params } from "../address.js";
import { Loader, get } from "../api.js";
import { resultBar } from "../chart/bars.js";
import { bars, filled, lines } from "../chart/chart.js";
import { filterBar } from "../filters.js";
import { showWhyNothing } from "../list/nothing.js";

const HEADS = ["White won", "Drawn", "Black won", "No result"];
const parts = (row) => [["white", row.white], ["draw", row.draws], ["black", row.black], ["none", row.unfinished]];

class Statistics {
  #parts = {};
  #loader = null;
  #key = null;

  show(root) {
    this.#parts.filters = filterBar();
    this.#parts.answer = h("div", { class: "report" });
    put(root, h("div", { class: "page" }, h("h1", {}, "Statistics"), this.#parts.filters.element, this.#parts.answer));
    this.#loader = new Loader(this.#parts.answer);
    this.update();
  }

  leave() {
    this.#loader.stop();
  }

  update() {
    this.#parts.filters.update();
    const filters = filtersOf(params());
    if (String(filters) === this.#key) return;
    this.#key = String(filters);
    this.#loader.load((signal) => get("/api/statistics", filters, signal), (answer) => this.#show(answer));
  }

  #show(answer) {
    const { answer: box } = this.#parts;
    if (answer.games === 0) {
      showWhyNothing(box);
      return;
    }
    const all = answer.white + answer.draws + answer.black;
    const figure = (name, value, more) => h("div", { class: "figure" }, h("dt", {}, name), h("dd", {}, value), more ? h("dd", { class: "soft" }, more) : null);
    const summary = h("dl", { class: "figures" },
      figure("Games", number(answer.games)),
      figure("White won", percent(answer.white, all), number(answer.white)),
      figure("Drawn", percent(answer.draws, all), number(answer.draws)),
      figure("Black won", percent(answer.black, all), number(answer.black)),
      figure("White's score", percent(answer.white + answer.draws / 2, all)),
      answer.unfinished > 0 ? figure("No result", number(answer.unfinished)) : null);
    const years = filled(answer.years, "year", 1).map((row) => ({ name: String(row.year), parts: parts(row) }));
    const ratings = filled(answer.ratings, "rating", answer.ratingStep).map((row) => ({ name: String(row.rating), parts: parts(row) }));
    const lengths = filled(answer.lengths, "plies", answer.lengthStep).map((row) => ({ name: String(row.plies / 2), parts: parts(row) }));
    const without = (name, group) => (group?.games > 0 ? h("p", { class: "hint" }, `${count(group.games, "game")} ${name}.`) : null);
    put(box, h("div", { class: "summary" }, summary, resultBar(answer)),
      h("div", { class: "columns" },
        years.length > 0 ? h("div", {}, bars("Games by year", years, { heads: ["Year", ...HEADS] }), without("without a year", answer.undated)) : null,
        this.#scores(answer),
        ratings.length > 0 ? h("div", {}, bars("Games by mean rating", ratings, { heads: ["Rating from", ...HEADS] }), without("with an unrated player", answer.unrated)) : null,
        lengths.length > 0 ? bars("Games by length in moves", lengths, { heads: ["Moves from", ...HEADS] }) : null));
  }

  /** White's score and the percentage of draws, for the years with enough games. */
  #scores(answer) {
    const games = (row) => row.white + row.draws + row.black;
    const enough = answer.years.filter((row) => games(row) >= 20);
    if (enough.length < 2) return null;
    const rows = filled(enough, "year", 1);
    const share = (part) => rows.map((row) => (games(row) > 0 ? Math.round((1000 * part(row)) / games(row)) / 10 : null));
    const series = [
      { name: "White's score", kind: "first", values: share((row) => row.white + row.draws / 2) },
      { name: "Draws", kind: "second", values: share((row) => row.draws) },
    ];
    return lines("Results by year, in percent", rows.map((row) => row.year), series, { heads: ["Year", "White's score", "Draws"], height: 162, format: (value) => `${+value.toFixed(1)} %` });
  }
}

export const view = { title: "Statistics", make: () => new Statistics() };
