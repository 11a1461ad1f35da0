// Arrows over a board, and boards without interaction.

import { svg } from "../dom.js";
import { pieceName, pieceShape } from "./pieces.js";

const FILES = "abcdefgh";

/** The middle of a square, on a board of 80 by 80 units. */
function middle(square, flipped) {
  const [file, rank] = [FILES.indexOf(square[0]), Number(square[1]) - 1];
  return flipped ? [75 - 10 * file, 5 + 10 * rank] : [5 + 10 * file, 75 - 10 * rank];
}

/** The outline of an arrow from near the middle of a square to just before the middle of another square. */
function outline([x1, y1], [x2, y2], width) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [head, half, wide] = [width * 1.9, width / 2, width * 1.25];
  const at = (along, across) => `${(x1 + dx * along - dy * across).toFixed(2)} ${(y1 + dy * along + dx * across).toFixed(2)}`;
  const end = length - 1;
  const points = [[2.6, half], [end - head, half], [end - head, wide], [end, 0], [end - head, -wide], [end - head, -half], [2.6, -half]];
  return `M${points.map(([along, across]) => at(along, across)).join("L")}Z`;
}

/** A picture of arrows, each given with `uci`, a `weight` from 0 to 1 and optionally `isStrong`. */
export function arrowShape(arrows, flipped = false) {
  const shapes = [...arrows].reverse().map(({ uci, weight, isStrong }) => {
    const width = 0.9 + 1.7 * Math.sqrt(weight);
    const d = outline(middle(uci.slice(0, 2), flipped), middle(uci.slice(2, 4), flipped), width);
    const opacity = isStrong ? 0.95 : (0.16 + 0.62 * Math.sqrt(weight)).toFixed(3);
    return svg("path", { d, class: isStrong ? "arrow strong" : "arrow", "fill-opacity": opacity });
  });
  return svg("svg", { viewBox: "0 0 80 80", class: "board-arrows", "aria-hidden": "true" }, shapes);
}

/** A position as a small picture with a text description; `next` is a move to draw as an arrow. */
export function smallBoard(fen, { next = "", flipped = false } = {}) {
  const words = { white: [], black: [] };
  const parts = [svg("rect", { width: 80, height: 80, class: "square-light" })];
  const dark = [];
  for (let at = 0; at < 64; at += 1) {
    const [file, row] = [at % 8, Math.floor(at / 8)];
    if ((file + row) % 2 === 1) dark.push(`M${10 * file} ${10 * row}h10v10h-10z`);
  }
  parts.push(svg("path", { d: dark.join(""), class: "square-dark" }));
  fen.split(" ")[0].split("/").forEach((row, at) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") {
        file += Number(letter);
        continue;
      }
      const square = FILES[file++] + (8 - at);
      const [x, y] = middle(square, flipped);
      parts.push(svg("g", { transform: `translate(${x - 5} ${y - 5}) scale(.1)` }, pieceShape(letter)));
      const [side, kind] = pieceName(letter).split(" ");
      words[side].push(`${kind} ${square}`);
    }
  });
  if (next) parts.push(svg("path", { d: outline(middle(next.slice(0, 2), flipped), middle(next.slice(2, 4), flipped), 2.2), class: "arrow", "fill-opacity": 0.72 }));
  const label = `White: ${words.white.join(", ")}. Black: ${words.black.join(", ")}.`;
  return svg("svg", { viewBox: "0 0 80 80", class: "small-board", role: "img", "aria-label": label }, parts);
}
