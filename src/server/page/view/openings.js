// Openings: families, their variations and the lines of each variation, as bars within bars, and as a table.

import { count, h, number, percent, put, svg } from "../dom.js";
import { changed, filtersOf, go, params, viewAddress } from "../address.js";
import { Loader, get } from "../api.js";
import { resultBar, shareCell, table } from "../chart/bars.js";
import { filterBar } from "../filters.js";
import { showWhyNothing } from "../list/nothing.js";

const LEVELS = 3;
const ROW = 84;
/** In pixels. If the picture is narrower, it is vertical: groups are below each other, and their contents are beside them. */
const NARROW = 560;
const TALL = 560;

/** Groups openings by the parts of their names: "Sicilian Defense: Najdorf Variation, English Attack" has three. */
function group(openings) {
  const root = { name: "", path: [], games: 0, white: 0, draws: 0, black: 0, ecos: new Set(), children: new Map() };
  for (const opening of openings) {
    const [family, rest = ""] = opening.name.split(/: (.*)/s);
    const parts = [family, ...rest.split(", ").filter(Boolean)];
    let node = root;
    add(node, opening);
    for (const part of parts) {
      if (!node.children.has(part)) node.children.set(part, { name: part, path: [...node.path, part], games: 0, white: 0, draws: 0, black: 0, ecos: new Set(), children: new Map() });
      node = node.children.get(part);
      add(node, opening);
    }
  }
  return root;
}

function add(node, opening) {
  for (const name of ["games", "white", "draws", "black"]) node[name] += opening[name];
  node.ecos.add(opening.eco);
}

const sorted = (node) => [...node.children.values()].sort((one, other) => other.games - one.games);

/** The whole name of an opening from its parts. */
const nameOf = ([family, ...rest]) => (rest.length > 0 ? `${family}: ${rest.join(", ")}` : family);

/** The ECO codes of a group, from the first to the last. */
function ecoRange(node) {
  const codes = [...node.ecos].sort();
  return codes.length > 1 ? `${codes[0]}–${codes.at(-1)}` : codes[0];
}

class Openings {
  #parts = {};
  #loader = null;
  #key = null;
  #root = null;
  #observer = null;
  #width = 0;

  show(root) {
    const parts = this.#parts;
    parts.filters = filterBar({ left: ["opening"] });
    parts.trail = h("nav", { "aria-label": "Where in the openings", class: "trail" });
    parts.picture = h("div", { class: "icicle" });
    parts.table = h("div", { class: "opening-table" });
    parts.answer = h("div", { class: "report" });
    put(root, h("div", { class: "page" }, h("h1", {}, "Openings"), parts.filters.element, parts.answer));
    this.#loader = new Loader(parts.answer);
    this.#observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width === this.#width) return;
      this.#width = width;
      this.#draw();
    });
    this.#observer.observe(parts.picture);
    this.update();
  }

  leave() {
    this.#loader.stop();
    this.#observer.disconnect();
  }

  update() {
    this.#parts.filters.update();
    const filters = filtersOf(params());
    filters.delete("opening");
    const key = `${params().get("db")}|${filters}`;
    if (key === this.#key) {
      this.#show();
      return;
    }
    this.#key = key;
    this.#root = null;
    this.#loader.load((signal) => get("/api/openings", filters, signal), (answer) => {
      if (answer.games === 0) {
        showWhyNothing(this.#parts.answer, filters);
        return;
      }
      this.#root = group(answer.openings);
      this.#root.all = answer;
      const { trail, picture, table: box } = this.#parts;
      put(this.#parts.answer, h("div", {}, trail, picture, h("p", { class: "hint" }, "The size shows the number of games. The darker an opening is, the better Black scores. Click an opening to see its variations.")), box);
      this.#show();
    });
  }

  /** The group in the address. */
  #here() {
    let node = this.#root;
    for (const part of (params().get("at") ?? "").split("|").filter(Boolean)) node = node.children.get(part) ?? node;
    return node;
  }

  #to(path) {
    return changed({ at: path.length > 0 ? path.join("|") : null });
  }

  #show() {
    if (!this.#root) return;
    const node = this.#here();
    const up = node.path.map((part, at) => [" / ", at === node.path.length - 1 ? h("span", { "aria-current": "true" }, part) : h("a", { href: this.#to(node.path.slice(0, at + 1)) }, part)]);
    put(this.#parts.trail, h("a", { href: this.#to([]) }, "All openings"), up);
    this.#draw();
    const rows = sorted(node);
    const name = (row) => [h("span", { class: "eco" }, ecoRange(row)), row.children.size > 0 ? h("a", { href: this.#to(row.path) }, row.name) : row.name];
    const games = (row) => viewAddress("/view/games", { opening: row.children.size > 0 ? nameOf(row.path) : `=${nameOf(row.path)}`, sort: "rating" });
    const columns = [
      { head: "Opening", cell: (row) => (row === node ? "Σ" : name(row)) },
      { head: "Games", cell: (row) => (row === node ? number(row.games) : h("a", { href: games(row), "aria-label": `${count(row.games, "game")} of ${row.name}` }, number(row.games))), kind: "num" },
      { head: "Share", cell: (row) => (row === node ? "" : shareCell(row.games, node.games)), kind: "num minor" },
      { head: "White, draws, Black", cell: resultBar, kind: "bar-column" },
      { head: "", cell: (row) => h("a", { href: viewAddress("/", { opening: nameOf(row.path) || null }) }, "Explore"), kind: "minor" },
    ];
    const title = node.path.length > 0 ? nameOf(node.path) : "All openings";
    const own = node.games - rows.reduce((sum, row) => sum + row.games, 0);
    const rest = own > 0 && node.path.length > 0 ? h("p", { class: "hint" }, `${count(own, "game")} without a named variation.`) : null;
    const unnamed = node.path.length === 0 && this.#root.all.unnamed?.games > 0 ? h("p", { class: "hint" }, `${count(this.#root.all.unnamed.games, "game")} without a named opening.`) : null;
    const body = rows.length > 0 ? table(title, columns, rows, { foot: node }) : h("p", {}, h("a", { href: viewAddress("/view/games", { opening: `=${nameOf(node.path)}` }) }, `Show the ${count(node.games, "game")}`));
    put(this.#parts.table, h("div", { class: "rule-head" }, h("h2", {}, title), h("span", { class: "soft" }, count(node.games, "game"))), body, rest, unnamed);
  }

  #draw() {
    if (!this.#root || this.#width < 40) return;
    const node = this.#here();
    const isUpright = this.#width < NARROW;
    const height = isUpright ? TALL : ROW * LEVELS;
    const column = this.#width / LEVELS;
    const parts = [];
    const place = (children, from, length, games, level) => {
      let at = from;
      for (const child of children) {
        const part = (length * child.games) / games;
        if (part >= 1.5) {
          parts.push(isUpright ? this.#block(child, level * column, at, column, part) : this.#block(child, at, level * ROW, part, ROW));
          if (level + 1 < LEVELS) place(sorted(child), at, part, child.games, level + 1);
        }
        at += part;
      }
    };
    place(sorted(node), 0, isUpright ? height : this.#width, node.games, 0);
    const label = "Openings by number of games. The table below has the same figures.";
    put(this.#parts.picture, svg("svg", { viewBox: `0 0 ${this.#width} ${height}`, width: this.#width, height, role: "img", "aria-label": label }, parts));
  }

  #block(node, x, y, width, height) {
    const points = node.white + node.draws + node.black;
    const white = points > 0 ? (node.white + node.draws / 2) / points : 0.5;
    const shade = Math.max(0, Math.min(4, Math.round((0.62 - white) / 0.05)));
    const rect = svg("rect", { x, y, width: Math.max(0.5, width - 1), height: Math.max(0.5, height - 1), class: `block shade-${shade}` });
    const said = `${nameOf(node.path)}: ${count(node.games, "game")}, White scores ${percent(Math.round(white * 1000), 1000)}`;
    const hasNumber = width > 52 && height >= 36;
    const lines = labelLines(node.name, width, Math.floor((height - (hasNumber ? 22 : 4)) / 15));
    const texts = lines.map((line, at) => svg("text", { x: x + 6, y: y + Math.min(18, height / 2 + 5) + 15 * at, class: `block-text shade-${shade}` }, line));
    if (hasNumber && lines.length > 0) texts.push(svg("text", { x: x + 6, y: y + height - (height > 60 ? 10 : 6), class: `block-number shade-${shade}` }, number(node.games)));
    const made = svg("g", { class: "block-group" }, svg("title", {}, said), rect, texts);
    if (node.children.size > 0) made.addEventListener("click", () => go(this.#to(node.path)));
    return made;
  }
}

/** A name in as many lines as fit into a block, at most three. The rest of the name is cut off. */
function labelLines(name, width, room) {
  const most = Math.floor((width - 10) / 6.6);
  if (most < 4) return [];
  const lines = [];
  for (const word of name.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else if (lines.length < Math.min(3, room)) {
      if (word.length > most && lines.length > 0) break;
      lines.push(word.length > most ? `${word.slice(0, most - 1)}…` : word);
      if (word.length > most) break;
    } else {
      break;
    }
  }
  return lines;
}

export const view = { title: "Openings", make: () => new Openings() };
