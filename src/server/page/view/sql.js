// SQL: a read-only statement, its rows as a table, as CSV and as a chart.

import { count, download, h, number, put, say, unique } from "../dom.js";
import { changed, go, params, plainAddress } from "../address.js";
import { Loader, empty, post } from "../api.js";
import { bars, lines } from "../chart/chart.js";
import { choice } from "../filters.js";

const EXAMPLES = [
  ["Results by year", "SELECT substr(date, 1, 4) AS year, count(*) AS games,\n       round(100.0 * sum(result = '1-0') / count(*), 1) AS white,\n       round(100.0 * sum(result = '1/2-1/2') / count(*), 1) AS draws\nFROM game\nWHERE date >= '1990' AND date < '2026'\nGROUP BY year ORDER BY year"],
  ["Players with the most games", "SELECT name, count(*) AS games\nFROM (SELECT white_id AS player_id FROM game UNION ALL SELECT black_id FROM game)\nJOIN player USING (player_id)\nGROUP BY player_id ORDER BY games DESC LIMIT 20"],
  ["Longest games", "SELECT game_id, w.name AS white, b.name AS black, date, ply_count / 2 AS moves\nFROM game\nJOIN player w ON w.player_id = white_id\nJOIN player b ON b.player_id = black_id\nORDER BY ply_count DESC LIMIT 20"],
  ["Most frequent openings", "SELECT opening.eco, opening.name, count(*) AS games\nFROM game JOIN opening USING (opening_id)\nGROUP BY opening_id ORDER BY games DESC LIMIT 25"],
  ["Positions reached most often", "SELECT fen, games FROM visited_position ORDER BY games DESC LIMIT 20"],
  ["Problems by kind", "SELECT kind, severity, count(*) AS problems FROM problem GROUP BY kind, severity ORDER BY problems DESC"],
];
const SCHEMA = "SELECT m.name AS table_name, m.type AS kind, p.name AS column_name, p.type AS type FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' ORDER BY m.type, m.name, p.cid";

const run = (sql, signal) => post("/api/sql", "application/json", JSON.stringify({ sql }), {}, signal);

class Sql {
  #parts = {};
  #loader = null;
  #asked = null;

  show(root) {
    const parts = this.#parts;
    const id = unique("sql");
    parts.text = h("textarea", { id, name: "sql", rows: 9, spellcheck: "false", class: "sql-text", placeholder: "SELECT … FROM game LIMIT 20" });
    parts.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#submit();
      }
    });
    parts.rows = h("div", { class: "report" });
    parts.schema = h("div", { class: "schema" });
    const form = h("form", { class: "form" },
      h("div", { class: "field" }, h("label", { for: id }, "A read-only statement; Ctrl+Enter runs it"), parts.text),
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Run"), h("span", { class: "hint" }, "At most 1,000 rows and, by default, 1 second. A statement cannot change the database.")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    const examples = EXAMPLES.map(([name, sql]) => h("li", {}, h("a", { href: changed({ sql }) }, name)));
    put(root, h("div", { class: "sql-view" },
      h("section", { class: "page", "aria-label": "Statement" }, h("h1", {}, "SQL"), form, parts.rows),
      h("aside", { class: "sql-side", "aria-label": "Help" }, h("h2", {}, "Examples"), h("ul", { class: "examples" }, examples), h("h2", {}, "Tables"), parts.schema)));
    this.#loader = new Loader(parts.rows);
    new Loader(parts.schema).load((signal) => run(SCHEMA, signal), (answer) => this.#showSchema(answer));
    this.update();
  }

  leave() {
    this.#loader.stop();
  }

  update() {
    const sql = params().get("sql") ?? "";
    if (sql === this.#asked) return;
    this.#asked = sql;
    this.#parts.text.value = sql;
    this.#loader.stop();
    // An address can come from anybody: its statement is only shown, and runs when the user presses Run.
    if (sql) put(this.#parts.rows, empty("Press Run to see the rows."));
    else put(this.#parts.rows);
  }

  #submit() {
    const sql = this.#parts.text.value.trim();
    if (!sql) return;
    this.#asked = sql;
    if (changed({ sql }) !== location.pathname + location.search) go(changed({ sql }));
    this.#run(sql);
  }

  #run(sql) {
    const began = performance.now();
    this.#loader.load((signal) => run(sql, signal), (answer) => this.#show(answer, performance.now() - began));
  }

  #show({ columns, rows, truncated }, milliseconds) {
    const { rows: box } = this.#parts;
    if (rows.length === 0) {
      put(box, empty("No rows."));
      return;
    }
    const kinds = columns.map((_, at) => (rows.every((row) => row[at] === null || typeof row[at] === "number") ? "num" : null));
    const cell = (value, at) => {
      if (value === null) return h("span", { class: "soft" }, "NULL");
      if (columns[at] === "game_id") return h("a", { href: plainAddress(`/view/game/${value}`) }, value);
      if (columns[at] === "fen") return h("a", { href: plainAddress("/", { fen: value.split(" ").length === 4 ? `${value} 0 1` : value }) }, value);
      return String(value);
    };
    const body = rows.map((row) => h("tr", {}, row.map((value, at) => h("td", { class: kinds[at] }, cell(value, at)))));
    const made = h("table", { class: "sql-rows" }, h("caption", { class: "unseen" }, "Rows"),
      h("thead", {}, h("tr", {}, columns.map((name, at) => h("th", { scope: "col", class: kinds[at] }, name)))), h("tbody", {}, body));
    const summary = `${count(rows.length, "row")}${truncated ? ", and there are more" : ""} in ${number(Math.round(milliseconds))} ms`;
    say(summary);
    const save = h("button", { type: "button", on: { click: () => download("rows.csv", "text/csv", csv(columns, rows)) } }, "Save as CSV");
    put(box, h("div", { class: "buttons" }, h("strong", {}, summary), save), this.#chart(columns, rows, kinds),
      h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Rows" }, made));
  }

  /** A chart of two selected columns. */
  #chart(columns, rows, kinds) {
    const figures = columns.map((name, at) => [String(at), name]).filter(([at]) => kinds[at] === "num" && columns[at] !== "game_id");
    if (figures.length === 0 || rows.length < 2) return null;
    const first = kinds.findIndex((kind) => kind === null);
    const across = choice("Horizontal axis", "across", columns.map((name, at) => [String(at), name]), String(first >= 0 ? first : 0));
    const up = choice("Vertical axis", "up", figures, figures.find(([at]) => at !== String(first >= 0 ? first : 0))?.[0] ?? figures[0][0]);
    const kind = choice("Chart as", "as", [["bars", "bars"], ["line", "a line"]], "bars");
    const place = h("div", {});
    const value = (box) => box.querySelector("select").value;
    const draw = () => {
      const [x, y] = [Number(value(across)), Number(value(up))];
      const shown = rows.filter((row) => row[y] !== null).slice(0, 400);
      const heads = [columns[x], columns[y]];
      const title = `${columns[y]} by ${columns[x]}`;
      const name = (row) => String(row[x] ?? "NULL").slice(0, 40);
      const isNegative = shown.some((row) => row[y] < 0);
      put(place, value(kind) === "bars" && !isNegative
        ? bars(title, shown.map((row) => ({ name: name(row), parts: [["all", row[y]]] })), { heads, height: 220 })
        : lines(title, shown.map(name), [{ name: columns[y], kind: "first", values: shown.map((row) => row[y]) }], { heads, height: 220, least: null, format: (one) => number(Math.round(100 * one) / 100) }));
    };
    for (const box of [across, up, kind]) box.addEventListener("change", draw);
    const all = h("details", { class: "sql-chart" }, h("summary", {}, "Chart"), h("div", { class: "fields" }, across, up, kind), place);
    all.addEventListener("toggle", () => { if (all.open && !place.firstChild) draw(); });
    return all;
  }

  #showSchema({ rows }) {
    const tables = Map.groupBy ? Map.groupBy(rows, ([table]) => table) : grouped(rows);
    const entry = ([name, columns]) => h("details", {}, h("summary", {}, h("code", {}, name), columns[0][1] === "view" ? h("span", { class: "soft" }, " view") : null),
      h("ul", {}, columns.map(([, , column, type]) => h("li", {}, h("code", {}, column), type ? h("span", { class: "soft" }, ` ${type.toLowerCase()}`) : null))));
    put(this.#parts.schema, [...tables].map(entry));
  }
}

function grouped(rows) {
  const tables = new Map();
  for (const row of rows) tables.set(row[0], [...(tables.get(row[0]) ?? []), row]);
  return tables;
}

/** Rows as CSV; cells that a spreadsheet would treat as formulas begin with an apostrophe. */
function csv(columns, rows) {
  const cell = (value) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n").concat("\r\n");
}

export const view = { title: "SQL", make: () => new Sql() };
