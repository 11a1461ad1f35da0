// The files of the database, and their problems.

import { bytes, count, h, number, put } from "../dom.js";
import { changed, go, params, plainAddress } from "../address.js";
import { Loader, empty, get } from "../api.js";
import { table } from "../chart/bars.js";
import { choice } from "../filters.js";

class Sources {
  #parts = {};
  #info = null;
  #sources = null;
  #problems = null;
  #more = null;
  #key = null;

  show(root) {
    const parts = this.#parts;
    for (const name of ["info", "sources", "problems", "kinds", "more"]) parts[name] = h("div", {});
    put(root, h("div", { class: "page" }, h("h1", {}, "Sources and problems"), parts.info,
      h("h2", { class: "big" }, "Sources"), parts.sources,
      h("h2", { class: "big" }, "Problems"), parts.kinds, parts.problems, parts.more));
    this.#problems = new Loader(parts.problems);
    this.#more = new Loader(parts.more);
    this.#info = new Loader(parts.info);
    this.#sources = new Loader(parts.sources);
    this.#sources.load((signal) => get("/api/sources", {}, signal), ({ sources }) => this.#showSources(sources));
    this.#info.load((signal) => get("/api/info", {}, signal), (info) => this.#showInfo(info));
    this.update();
  }

  leave() {
    for (const loader of [this.#info, this.#sources, this.#problems, this.#more]) loader.stop();
  }

  update() {
    const query = new URLSearchParams({ limit: 100 });
    for (const name of ["kind", "severity"]) if (params().get(name)) query.set(name, params().get(name));
    if (String(query) === this.#key) return;
    this.#key = String(query);
    if (this.#parts.known) this.#showKinds(this.#parts.known);
    put(this.#parts.more);
    this.#problems.load((signal) => get("/api/problems", query, signal), (page) => this.#showProblems(page, query));
  }

  #showInfo(info) {
    const figure = (name, value, more) => h("div", { class: "figure" }, h("dt", {}, name), h("dd", {}, value), more ? h("dd", { class: "soft" }, more) : null);
    const whole = (name, value, more) => figure(name, number(value), more);
    put(this.#parts.info, h("dl", { class: "figures" },
      whole("Games", info.games), whole("Positions", info.positions, `${number(info.distinct_positions)} different`), whole("Players", info.players),
      whole("Events", info.events), whole("Cut off at an error", info.truncated), whole("Without moves", info.skipped), figure("Size", bytes(info.bytes))),
    h("p", { class: "hint" }, info.path));
    this.#parts.known = info.problems;
    this.#showKinds(info.problems);
  }

  #showKinds(kinds) {
    if (kinds.length === 0) {
      put(this.#parts.kinds);
      return;
    }
    const named = kinds.map((one) => [one.kind, `${one.kind} (${number(one.problems ?? one.count ?? 0)})`]);
    const kind = choice("Kind", "kind", [["", "all"], ...named], params().get("kind") ?? "");
    const severity = choice("Severity", "severity", [["", "all"], ["warning", "corrected"], ["error", "with loss"]], params().get("severity") ?? "");
    for (const box of [kind, severity]) {
      const select = box.querySelector("select");
      select.addEventListener("change", () => go(changed({ [select.name]: select.value })));
    }
    put(this.#parts.kinds, h("div", { class: "fields problem-kinds" }, kind, severity));
  }

  #showSources(sources) {
    const columns = [
      { head: "File", cell: (source) => source.path },
      { head: "Games", cell: (source) => h("a", { href: plainAddress("/view/games", { source: String(source.source_id) }) }, number(source.games)), kind: "num" },
      { head: "Problems", cell: (source) => number(source.problems), kind: "num minor" },
      { head: "Duplicates", cell: (source) => number(source.duplicates), kind: "num minor" },
      { head: "Size", cell: (source) => bytes(source.bytes), kind: "num minor" },
      { head: "Indexed", cell: (source) => (source.indexed_at ? source.indexed_at.slice(0, 16).replace("T", " ") : "not completely"), kind: "nowrap minor" },
    ];
    put(this.#parts.sources, sources.length > 0 ? table("Sources", columns, sources) : empty("Nothing has been indexed yet."));
  }

  #showProblems(page, query) {
    const { problems } = this.#parts;
    if (page.problems.length === 0) {
      put(problems, empty(params().get("kind") || params().get("severity") ? "No problems of this kind." : "No problems were found."));
      return;
    }
    const columns = [
      { head: "What", cell: (one) => [h("span", {}, one.message), one.token ? h("code", { class: "token" }, one.token) : null, h("span", { class: "place" }, `${one.kind}, line ${number(one.line)} of ${one.source}`)] },
      { head: "Kind", cell: (one) => h("span", { class: one.severity === "error" ? "severity error" : "severity" }, one.kind), kind: "nowrap minor" },
      { head: "Game", cell: (one) => (one.game_id ? h("a", { href: plainAddress(`/view/game/${one.game_id}`, { at: one.ply }) }, number(one.game_id)) : "not stored"), kind: "num" },
      { head: "Line", cell: (one) => number(one.line), kind: "num minor" },
      { head: "File", cell: (one) => one.source, kind: "minor file" },
    ];
    const made = table("Problems", columns, page.problems);
    put(problems, made);
    this.#offerMore(page, query, columns, made.querySelector("tbody"));
  }

  #offerMore(page, query, columns, body) {
    const { more } = this.#parts;
    if (!page.nextCursor) {
      put(more, h("p", { class: "hint" }, `${count(body.rows.length, "problem")} shown.`));
      return;
    }
    const ask = () => this.#more.load((signal) => get("/api/problems", new URLSearchParams([...query, ["cursor", page.nextCursor]]), signal), (next) => {
      body.append(...table("", columns, next.problems).querySelector("tbody").rows);
      this.#offerMore(next, query, columns, body);
    });
    put(more, h("button", { type: "button", on: { click: ask } }, "More problems"));
  }
}

export const view = { title: "Sources and problems", make: () => new Sources() };
