// A player's report.

import { count, date, h, number, put } from "../dom.js";
import { address, changed, filtersOf, go, params, plainAddress } from "../address.js";
import { Loader, get } from "../api.js";
import { score, scoreBar, shareCell, table } from "../chart/bars.js";
import { bars, lines } from "../chart/chart.js";
import { field, filterBar } from "../filters.js";
import { showWhyNothing } from "../list/nothing.js";

const OWN = ["player", "white", "black"];
const ENDINGS = {
  pawn: "Pawns only", knight: "Knights", bishop: "Bishops", same_bishops: "Bishops of the same colour", opposite_bishops: "Bishops of opposite colours",
  bishop_knight: "Bishops against knights", minor: "Minor pieces", rook: "Rooks", rook_minor: "Rook against minor piece", queen: "Queens", queen_rook: "Queen against rook",
};

/** Columns of a table of records. */
const record = (all) => [
  { head: "Games", cell: (row) => number(row.games), kind: "num" },
  all ? { head: "Share", cell: (row) => shareCell(row.games, all), kind: "num minor" } : null,
  { head: "Won, drawn, lost", cell: scoreBar, kind: "bar-column" },
  { head: "Score", cell: score, kind: "num" },
  { head: "Against", title: "Mean rating of the opponents", cell: (row) => row.opponent_rating ?? "–", kind: "num minor" },
  { head: "Perf.", title: "Performance rating", cell: (row) => row.performance ?? "–", kind: "num minor" },
].filter(Boolean);

class Player {
  #parts = {};
  #loader = null;
  #key = null;

  show(root) {
    const parts = this.#parts;
    parts.filters = filterBar({ left: OWN, more: () => (this.#name() ? [["player", this.#name()]] : []) });
    parts.heading = h("h1", {}, "Player");
    parts.form = h("form", { class: "inline-form", role: "search" });
    parts.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = new FormData(parts.form).get("name").trim();
      if (name) go(changed({ name, player: null, white: null, black: null, opponent: null }));
    });
    parts.report = h("div", { class: "report" });
    put(root, h("div", { class: "page" }, parts.heading, parts.form, parts.filters.element, parts.report));
    this.#loader = new Loader(parts.report);
    this.update();
  }

  leave() {
    this.#loader.stop();
  }

  /** The player: the name in the address, or the player in the filters. */
  #name() {
    const query = params();
    return query.get("name") || OWN.map((name) => query.get(name)).find(Boolean) || "";
  }

  update() {
    const parts = this.#parts;
    parts.filters.update();
    const name = this.#name();
    put(parts.form, field("Name", "name", { kind: "player", value: name.replace(/^=/, ""), placeholder: "Carlsen", hint: null }), h("button", { type: "submit", class: "primary" }, "Show"));
    put(parts.heading, name ? name.replace(/^=/, "") : "Player");
    if (!name) {
      this.#loader.stop();
      this.#key = null;
      put(parts.report, h("p", { class: "hint" }, "Type the beginning of a player's name."));
      return;
    }
    const filters = new URLSearchParams([...filtersOf(params())].filter(([one]) => !OWN.includes(one)));
    const query = new URLSearchParams([["name", name], ...filters, ["limit", "15"], ["depth", "12"], ["leastShare", "4"]]);
    const key = `${params().get("db")}|${query}`;
    if (key === this.#key) return;
    this.#key = key;
    document.title = `${name.replace(/^=/, "")} – pgndex`;
    this.#loader.load((signal) => get("/api/player", query, signal), (answer) => this.#show(answer, name));
  }

  #show(answer, name) {
    const { report, heading } = this.#parts;
    if (answer.all.games === 0) {
      const others = [...filtersOf(params())].filter(([one]) => !OWN.includes(one));
      showWhyNothing(report, [["player", name], ...others], OWN);
      return;
    }
    const names = answer.players.map((player) => player.name);
    if (names.length === 1) put(heading, names[0]);
    const exact = (one) => plainAddress("/view/player", { name: `=${one}` });
    const several = names.length > 1
      ? h("p", { class: "hint" }, `${names.length} players have such a name: `, answer.players.slice(0, 12).map((player, at) => [at > 0 ? ", " : "", h("a", { href: exact(player.name) }, player.name), ` (${number(player.games)})`]), names.length > 12 ? " …" : "")
      : null;
    put(report, several, this.#summary(answer, name), this.#charts(answer),
      h("div", { class: "columns" }, this.#side("As White", "white", answer.white, name), this.#side("As Black", "black", answer.black, name)),
      h("div", { class: "columns" }, this.#opponents(answer, name), this.#wins(answer)),
      h("div", { class: "columns" }, this.#others(answer)));
  }

  #summary(answer, name) {
    const rows = [["All games", answer.all, "player"], ["As White", answer.white, "white"], ["As Black", answer.black, "black"]];
    const columns = [{ head: "", cell: ([title, , side]) => h("a", { href: this.#filtered("/view/games", side, name) }, title) }, ...record().map((column) => ({ ...column, cell: ([, one]) => column.cell(one) })),
      { head: "Rating", title: "Mean rating of the player", cell: ([, one]) => one.rating ?? "–", kind: "num minor" }];
    return table("Record", columns, rows);
  }

  /** The address of a view with the games of this player on one side, or on either. */
  #filtered(path, side, name, more = {}) {
    const query = new URLSearchParams([...filtersOf(params())].filter(([one]) => !OWN.includes(one)));
    const db = params().get("db");
    if (db) query.set("db", db);
    query.set(side, name);
    for (const [one, value] of Object.entries(more)) query.set(one, value);
    return address(path, query);
  }

  #charts(answer) {
    const years = answer.years.filter(({ year }) => year !== null);
    if (years.length < 2) return null;
    const rows = years.map((one) => ({ name: String(one.year), parts: [["won", one.wins], ["draw", one.draws], ["lost", one.losses]] }));
    const rated = years.filter((one) => one.rating || one.performance);
    const series = [{ name: "Rating", kind: "first", values: rated.map((one) => one.rating) }, { name: "Performance", kind: "second", values: rated.map((one) => (one.performance_games >= 5 ? one.performance : null)) }];
    const least = Math.min(...series.flatMap(({ values }) => values.filter((value) => value !== null)));
    return h("div", { class: "columns" },
      bars("Games by year", rows, { heads: ["Year", "Won", "Drawn", "Lost"] }),
      rated.length > 1 ? lines("Rating by year", rated.map((one) => one.year), series, { heads: ["Year", "Rating", "Performance"], height: 180, format: String, least: Math.floor(least / 100) * 100 }) : null);
  }

  #side(title, side, record_, name) {
    if (record_.games === 0) return null;
    const openings = record_.openings.filter((one) => one.name);
    const to = (one) => this.#filtered("/view/games", side, name, { opening: `=${one.name}` });
    const columns = [{ head: "Opening", cell: (one) => h("a", { href: to(one) }, h("span", { class: "eco" }, one.eco), one.name) }, ...record()];
    return h("section", {}, h("div", { class: "rule-head" }, h("h2", {}, title), h("a", { href: this.#filtered("/", side, name) }, "Explore")),
      h("h3", {}, "Lines"), this.#lines(record_, side, name),
      h("h3", { class: "space" }, "Openings"), table(`Openings ${title.toLowerCase()}`, columns, openings),
      record_.opening_count > record_.openings.length ? h("p", { class: "hint" }, `The most frequent of ${count(record_.opening_count, "opening")}.`) : null);
  }

  /** The tree of moves played, as a table: each row has the moves from one branching to the next. */
  #lines(record_, side, name) {
    const rows = [];
    const walk = (node, depth, before) => {
      let at = node;
      const run = [node];
      while (at.next.length === 1 && at.next[0].games >= 0.9 * at.games) {
        [at] = at.next;
        run.push(at);
      }
      const moves = [...before, ...run.map((one) => one.uci)];
      rows.push({ ...node, depth, run, moves });
      for (const next of at.next) walk(next, depth + 1, moves);
    };
    for (const line of record_.lines) walk(line, 0, []);
    const text = (run) => run.map((one, at) => (one.ply % 2 === 1 ? `${(one.ply + 1) / 2}. ${one.san}` : at === 0 ? `${one.ply / 2}… ${one.san}` : one.san)).join(" ");
    const columns = [
      { head: "Moves", cell: (row) => h("a", { href: this.#filtered("/", side, name, { play: row.moves.join(","), ...(side === "black" ? { flip: "1" } : {}) }), class: "line-link", css: { "padding-inline-start": `min(${row.depth * 14}px, 12vw)` } }, text(row.run)) },
      ...record(),
    ];
    return table("Lines", columns, rows);
  }

  #opponents(answer, name) {
    const to = (row) => plainAddress("/view/games", { player: name, opponent: row.name ? `=${row.name}` : null });
    const columns = [{ head: "Opponent", cell: (row) => (row.name ? h("a", { href: to(row) }, row.name) : "unknown") }, ...record()];
    return h("section", {}, h("div", { class: "rule-head" }, h("h2", {}, "Opponents"), h("span", { class: "soft" }, count(answer.opponent_count, "opponent"))), table("Opponents", columns, answer.opponents));
  }

  #wins(answer) {
    const columns = [
      { head: "Opponent", cell: (game) => h("a", { href: plainAddress(`/view/game/${game.game_id}`) }, game.opponent ?? "unknown") },
      { head: "Rating", cell: (game) => game.opponent_rating ?? "–", kind: "num" },
      { head: "Side", cell: (game) => (game.side === "w" ? "White" : "Black") },
      { head: "Date", cell: (game) => date(game.date), kind: "nowrap" },
      { head: "Event", cell: (game) => game.event ?? "", kind: "minor" },
    ];
    return h("section", {}, h("div", { class: "rule-head" }, h("h2", {}, "Best wins")), answer.best_wins.length > 0 ? table("Best wins", columns, answer.best_wins) : h("p", { class: "hint" }, "No win against a rated player."));
  }

  #others(answer) {
    const part = (title, head, rows, name) => (rows.length === 0 ? null
      : h("section", {}, h("div", { class: "rule-head" }, h("h2", {}, title)), table(title, [{ head, cell: name }, ...record()], rows)));
    return [
      part("Endings", "Ending", answer.endings, (row) => ENDINGS[row.kind.replaceAll("-", "_")] ?? row.kind),
      part("Strength of opponents", "Rated", answer.opponent_ratings, (row) => (row.from === null ? "unrated" : `${row.from}–${row.from + 99}`)),
      answer.speeds.length > 1 || answer.speeds[0]?.speed ? part("Speeds", "Speed", answer.speeds, (row) => row.speed ?? "unknown") : null,
    ];
  }
}

export const view = { title: "Player", make: () => new Player() };
