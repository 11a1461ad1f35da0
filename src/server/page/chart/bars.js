// Bars that show results, and tables with such bars.

import { h, number, percent } from "../dom.js";

/** White's wins, draws and Black's wins as one bar with percentages. */
export function resultBar({ white, draws, black }, names = ["White", "draws", "Black"]) {
  const all = white + draws + black;
  if (all === 0) return h("span", { class: "no-bar" }, "–");
  const parts = [["white", white, names[0]], ["draw", draws, names[1]], ["black", black, names[2]]];
  const label = parts.map(([, value, name]) => `${name} ${percent(value, all)}`).join(", ");
  const part = ([kind, value]) => {
    if (value === 0) return null;
    const share = (100 * value) / all;
    const text = share >= 13 ? `${Math.round(share)}` : "";
    return h("span", { class: `part ${kind}`, css: { "flex-grow": String(share) } }, text);
  };
  return h("span", { class: "bar", role: "img", "aria-label": label, title: label }, parts.map(part));
}

/** A bar like that of `resultBar`, for a player's wins, draws and losses. */
export const scoreBar = ({ wins, draws, losses }) => {
  const bar = resultBar({ white: wins, draws, black: losses }, ["won", "drawn", "lost"]);
  bar.classList.add("score");
  return bar;
};

/** The score in percent. */
export function score({ wins, draws, losses }) {
  const all = wins + draws + losses;
  return all === 0 ? "–" : `${((100 * (wins + draws / 2)) / all).toFixed(1)} %`;
}

/**
 * A table from columns, each with `head`, `cell` and optionally `kind`: CSS classes, such as "num", or "minor" for
 * columns that are omitted on narrow screens.
 * The first column is the row's header.
 */
export function table(caption, columns, rows, { foot = null, row: rowOf = () => ({}) } = {}) {
  const head = columns.map(({ head: text, kind, title }) => h("th", { scope: "col", class: kind, title }, text));
  const cells = (row) => columns.map(({ cell, kind }, at) => {
    const content = cell(row);
    return at === 0 ? h("th", { scope: "row", class: kind }, content) : h("td", { class: kind }, content);
  });
  const body = rows.map((row) => h("tr", rowOf(row), cells(row)));
  return h("table", {},
    h("caption", { class: "unseen" }, caption),
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, body),
    foot ? h("tfoot", {}, h("tr", {}, cells(foot))) : null);
}

/** A percentage with a thin bar under it. */
export function shareCell(part, whole) {
  const share = whole ? (100 * part) / whole : 0;
  const width = share < 1 ? "0" : `${share}%`;
  return h("span", { class: "share" }, percent(part, whole), h("span", { class: "share-bar", css: { width }, "aria-hidden": "true" }));
}

export { number, percent };
