// Patterns of positions, as text and as signs on squares.

import { FILES } from "./board.js";

const PIECES = "PNBRQKpnbrqk";

/** The pattern of squares: a square without a sign matches anything. */
export function patternOf(squares) {
  const rows = [];
  for (let rank = 8; rank >= 1; rank -= 1) {
    let row = "";
    let holes = 0;
    for (const file of FILES) {
      const sign = squares.get(file + rank);
      if (sign === ".") {
        holes += 1;
        continue;
      }
      row += (holes || "") + (sign ?? "?");
      holes = 0;
    }
    rows.push((row + (holes || "")).replace(/^\?{8}$/, "*"));
  }
  return rows.join("/");
}

/** The squares of a pattern; null if the pattern cannot be shown on a board. */
export function squaresOf(pattern) {
  const rows = pattern.trim().split(/\s/)[0].split("/");
  if (rows.length !== 8) return null;
  const squares = new Map();
  for (const [at, row] of rows.entries()) {
    const cells = cellsOf(row);
    if (!cells) return null;
    cells.forEach((sign, file) => { if (sign !== "?") squares.set(FILES[file] + (8 - at), sign); });
  }
  return squares;
}

function cellsOf(row) {
  const tokens = row.match(/\[[A-Za-z!?]+\]|[1-8]|[PNBRQKpnbrqk?!Aa*]/g) ?? [];
  if (tokens.join("") !== row || tokens.filter((token) => token === "*").length > 1) return null;
  const wide = (token) => (token === "*" ? 0 : Number(token) || 1);
  const left = 8 - tokens.reduce((sum, token) => sum + wide(token), 0);
  const cells = tokens.flatMap((token) => {
    if (token === "*") return Array(Math.max(0, left)).fill("?");
    return Number(token) ? Array(Number(token)).fill(".") : [token];
  });
  return cells.length === 8 ? cells : null;
}

/** The pieces on the squares as the first field of a FEN; signs that are not pieces are ignored. */
export function placementOf(squares) {
  const bare = new Map([...squares].filter(([, sign]) => PIECES.includes(sign)));
  const rows = [];
  for (let rank = 8; rank >= 1; rank -= 1) {
    const row = [...FILES].map((file) => bare.get(file + rank) ?? "1").join("");
    rows.push(row.replace(/1+/g, (run) => String(run.length)));
  }
  return rows.join("/");
}
