// Lines of moves: running text for the user's line, a score sheet for a game.

import { evaluationText } from "./evaluation.js";
import { h } from "../dom.js";

const GLYPHS = {
  1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 7: "□", 10: "=", 13: "∞", 14: "⩲", 15: "⩱", 16: "±", 17: "∓", 18: "+−", 19: "−+",
  22: "⨀", 23: "⨀", 32: "⟳", 33: "⟳", 36: "↑", 37: "↑", 40: "→", 41: "→", 44: "=∞", 45: "=∞", 132: "⇆", 133: "⇆", 138: "⊕", 139: "⊕", 146: "N",
};
const WORDS = { 1: "good move", 2: "mistake", 3: "brilliant move", 4: "blunder", 5: "interesting move", 6: "dubious move" };
const COLOURS = { 1: "good", 2: "mistake", 3: "good", 4: "blunder", 5: "interesting", 6: "dubious" };

/** The glyphs of a move. */
function glyphs(nags = []) {
  return nags.map((nag) => {
    const text = GLYPHS[nag] ?? `$${nag}`;
    const kind = COLOURS[nag] ? `glyph ${COLOURS[nag]}` : "glyph";
    return h("span", { class: kind, title: WORDS[nag] ?? `NAG ${nag}` }, nag > 6 ? ` ${text}` : text);
  });
}

function moveLink(node, shown) {
  const { number, isWhite } = shown.tree.numberOf(node);
  const attributes = { href: shown.href(node), class: "move", "data-ply": node.ply };
  if (node === shown.current) attributes["aria-current"] = "true";
  const link = h("a", attributes, node.san ?? "…", glyphs(node.notes.nags));
  if (!isWhite) link.setAttribute("aria-label", `${number}… ${link.textContent}`);
  shown.links.set(node, link);
  return link;
}

function numbered(node, shown, isFirst) {
  const { number, isWhite } = shown.tree.numberOf(node);
  const text = isWhite ? `${number}.` : isFirst ? `${number}…` : "";
  const mark = text ? h("span", { class: "move-number" }, text) : null;
  return [h("span", { class: "move-pair" }, mark, moveLink(node, shown)), " "];
}

const comments = (list = []) => list.filter(Boolean).map((text) => [h("span", { class: "comment" }, text), " "]);

/** The moves after a node as running text, with variations in parentheses. */
function running(node, shown, isFirst = true) {
  const parts = [];
  let at = node;
  let fresh = isFirst;
  while (at.children.length > 0) {
    const [main, ...others] = at.children;
    parts.push(comments(main.notes.before), numbered(main, shown, fresh || (main.notes.before ?? []).length > 0));
    parts.push(comments(main.notes.comments));
    for (const other of others) parts.push(variation(other, shown));
    fresh = others.length > 0 || (main.notes.comments ?? []).length > 0;
    at = main;
  }
  return parts;
}

function variation(node, shown) {
  const inside = [comments(node.notes.before), numbered(node, shown, true), comments(node.notes.comments), running(node, shown, false)].flat(Infinity);
  while (inside.at(-1) === " ") inside.pop();
  return [h("span", { class: "variation" }, "(", inside, ")"), " "];
}

/** A line with its variations. `href` gives each move's address; returns the element and the links by move. */
export function line({ tree, current, href }) {
  const shown = { tree, current, href, links: new Map() };
  return { element: h("div", { class: "line" }, running(tree.root, shown)), links: shown.links };
}

/** A game as a score sheet: moves in two columns, comments and variations between them. */
export function sheet({ tree, current, href, result }) {
  const shown = { tree, current, href, links: new Map() };
  const rows = [];
  let row = null;
  const note = (parts) => { rows.push(h("div", { class: "sheet-note" }, parts)); };
  const cell = (child) => { row.append(child); };
  const begin = (number, skipped) => {
    row = h("div", { class: "sheet-row" }, h("span", { class: "move-number" }, `${number}.`));
    if (skipped) cell(h("span", { class: "move skipped", "aria-hidden": "true" }, "…"));
    rows.push(row);
  };
  note(comments(tree.root.notes.comments));
  for (let at = tree.root; at.children.length > 0; at = at.children[0]) {
    const [main, ...others] = at.children;
    const { number, isWhite } = tree.numberOf(main);
    if ((main.notes.before ?? []).length > 0) {
      note(comments(main.notes.before));
      row = null;
    }
    if (isWhite || row === null) begin(number, !isWhite);
    cell(moveLink(main, shown));
    const value = evaluationText(main.notes);
    if (value) row.lastChild.append(h("span", { class: "value" }, value));
    const said = main.notes.comments ?? [];
    if (said.length > 0 || others.length > 0) {
      note([comments(said), others.map((other) => h("div", { class: "sheet-variation" }, variation(other, shown)))]);
      row = null;
    }
  }
  if (result) rows.push(h("div", { class: "sheet-result" }, result));
  const filled = rows.filter((one) => one.childNodes.length > 0);
  return { element: h("div", { class: "sheet" }, filled), links: shown.links };
}

/** Marks another move as current, and scrolls it into view. */
export function mark(links, node, scroller) {
  for (const [other, link] of links) {
    if (other === node) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const link = links.get(node);
  if (!scroller) return;
  if (!link) {
    scroller.scrollTop = 0;
    return;
  }
  const [outer, inner] = [scroller.getBoundingClientRect(), link.getBoundingClientRect()];
  if (inner.top < outer.top + 24) scroller.scrollTop += inner.top - outer.top - 24;
  else if (inner.bottom > outer.bottom - 24) scroller.scrollTop += inner.bottom - outer.bottom + 24;
}
