// The pieces, drawn for this program: each within a square of 100 by 100 units.
// The paths are the same as in src/picture/piece.rs; a test in page.rs compares them.

import { svg } from "../dom.js";

const SHAPES = {
  p: {
    outline: "M41.5 41A14 14 0 1 1 58.5 41L64.5 45.5Q66.5 50 62.5 50L58.5 50C59.5 60 64 66 70 72.5C73.5 76.5 74 80 74 86L26 86C26 80 26.5 76.5 30 72.5C36 66 40.5 60 41.5 50L37.5 50Q33.5 50 35.5 45.5Z",
    lines: "M42.5 50H57.5M30.5 75H69.5",
    dots: [],
  },
  n: {
    outline: "M27 86C27 74 35 70 43 61C46 57.5 47 54 46.5 50C42 54 37 55.5 33 58C30 60 29 64 25 64.5C19 65 15 60 16 54C17 49 21 44 24 39C26 35 27 31 31 27C31 21 33 15 36 11C39 13 42 16 44 19.5C66 20 77 40 77 64C77 72 76.5 80 76 86Z",
    lines: "M46.5 50C49 47.5 50.5 44 50.5 41M51 27C63 34 68.5 48 67.5 75",
    dots: [[36, 36, 3], [21.5, 56, 2]],
  },
  b: {
    outline: "M50 19C61 27 68.5 36.5 68.5 46.5C68.5 53 65 58 60 61.5L63.5 65Q65.5 69.5 61.5 69.5C63 73.5 67.5 75 72 76.5Q77 78.5 77 86H23Q23 78.5 28 76.5C32.5 75 37 73.5 38.5 69.5Q34.5 69.5 36.5 65L40 61.5C35 58 31.5 53 31.5 46.5C31.5 36.5 39 27 50 19ZM50 7.5A5.75 5.75 0 1 1 50 19A5.75 5.75 0 1 1 50 7.5Z",
    lines: "M60 31L51.5 45.5M41.5 61.5H58.5M40 69.5H60M30 77H70",
    dots: [],
  },
  r: {
    outline: "M26 16H37V24.5H45V16H55V24.5H63V16H74V33L66 40V64L71 72Q77 74 77 80V86H23V80Q23 74 29 72L34 64V40L26 33Z",
    lines: "M28.5 33.5H71.5M36 41H64M36 64H64M31 73H69",
    dots: [],
  },
  q: {
    outline: "M29 64L17 38.5L32.5 47.5L33.5 28.5L43.5 44L50 22.5L56.5 44L66.5 28.5L67.5 47.5L83 38.5L71 64C69.5 68.5 70.5 72 73.5 75Q78 77 78 86H22Q22 77 26.5 75C29.5 72 30.5 68.5 29 64ZM15 28.5A5 5 0 1 1 15 38.5A5 5 0 1 1 15 28.5ZM32.5 18.5A5 5 0 1 1 32.5 28.5A5 5 0 1 1 32.5 18.5ZM50 12.5A5 5 0 1 1 50 22.5A5 5 0 1 1 50 12.5ZM67.5 18.5A5 5 0 1 1 67.5 28.5A5 5 0 1 1 67.5 18.5ZM85 28.5A5 5 0 1 1 85 38.5A5 5 0 1 1 85 28.5Z",
    lines: "M31 63.5C43 59.5 57 59.5 69 63.5M28.5 75C42 71 58 71 71.5 75",
    dots: [],
  },
  k: {
    outline: "M46 27.5V21.5H38.5V14H46V6.5H54V14H61.5V21.5H54V27.5C65 28 73.5 31.5 78 39L65.5 61L69.5 65Q71.5 69.5 67.5 69.5L64.5 69.5C66 73.5 70 75 74 76.5Q79 78.5 79 86H21Q21 78.5 26 76.5C30 75 34 73.5 35.5 69.5L32.5 69.5Q28.5 69.5 30.5 65L34.5 61L22 39C26.5 31.5 35 28 46 27.5Z",
    lines: "M24.5 39.5C38 34.5 62 34.5 75.5 39.5M36 61H64M37 69.5H63M29 77H71",
    dots: [],
  },
};
const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const EDGE = "#161616";

/** The name of the piece that a letter of a FEN stands for, such as "white pawn". */
export function pieceName(letter) {
  const kind = letter.toLowerCase();
  return `${letter === kind ? "black" : "white"} ${NAMES[kind]}`;
}

/** A piece as a group of shapes, in a square of 100 by 100 units. */
export function pieceShape(letter) {
  const kind = letter.toLowerCase();
  const { outline, lines, dots } = SHAPES[kind];
  const [fill, ink] = letter === kind ? ["#2e2e2e", "#f4f4f4"] : ["#fff", EDGE];
  return svg("g", { "stroke-linecap": "round", "stroke-linejoin": "round" }, [
    svg("path", { d: outline, fill, stroke: EDGE, "stroke-width": 3.4 }),
    svg("path", { d: lines, fill: "none", stroke: ink, "stroke-width": 2.6 }),
    dots.map(([cx, cy, r]) => svg("circle", { cx, cy, r, fill: ink })),
  ]);
}

/** A piece as a separate picture, without a description of its own. */
export function pieceImage(letter) {
  return svg("svg", { viewBox: "0 0 100 100", class: "piece", "aria-hidden": "true", "data-piece": letter }, pieceShape(letter));
}
