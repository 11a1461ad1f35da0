// <chess-board>: shows a position, and reports a move that the user makes by dragging, by two clicks or by keys.
// It does not know the rules of chess: `show` passes the legal moves to it.

import { h, put, say } from "../dom.js";
import { arrowShape } from "./arrows.js";
import { pieceImage, pieceName } from "./pieces.js";

export const FILES = "abcdefgh";
export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const PIECES = "PNBRQKpnbrqk";
const FAR_ENOUGH = 5;

/** The piece on each square of a FEN. */
export function placement(fen) {
  const squares = new Map();
  const rows = (fen ?? "").split(" ")[0].split("/");
  rows.forEach((row, at) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") file += Number(letter);
      else if (file < 8) squares.set(FILES[file++] + (8 - at), letter);
    }
  });
  return squares;
}

const isDark = (square) => (FILES.indexOf(square[0]) + Number(square[1])) % 2 === 1;

class ChessBoard extends HTMLElement {
  #cells = new Map();
  #squares = new Map();
  #moves = [];
  #arrows = [];
  #last = "";
  #check = "";
  #flipped = false;
  #editing = false;
  #cursor = "e2";
  #picked = null;
  #drag = null;
  #grid = null;
  #overlay = null;
  #menu = null;

  connectedCallback() {
    if (this.#grid) return;
    this.#grid = h("div", { role: "grid", class: "board-grid", "aria-label": this.getAttribute("label") ?? "Board" });
    this.#overlay = arrowShape([]);
    this.#menu = h("div", { class: "promotion", role: "dialog", "aria-label": "Promote to", hidden: true });
    this.append(this.#grid, this.#overlay, this.#menu);
    this.#build();
    this.#grid.addEventListener("focusin", (event) => this.#reached(event.target.dataset.square));
    this.#grid.addEventListener("keydown", (event) => this.#key(event));
    this.#grid.addEventListener("pointerdown", (event) => this.#down(event));
    this.#grid.addEventListener("pointermove", (event) => this.#move(event));
    this.#grid.addEventListener("pointerup", (event) => this.#up(event));
    this.#grid.addEventListener("pointercancel", () => this.#drop());
    this.#menu.addEventListener("keydown", (event) => { if (event.key === "Escape") this.#closeMenu(); });
  }

  /** Shows a position; `moves` are the legal moves, or an empty list if the board is read-only. */
  show({ fen, moves = [], last = "", isCheck = false }) {
    this.#squares = placement(fen);
    this.#moves = moves;
    this.#last = last;
    const king = fen.split(" ")[1] === "b" ? "k" : "K";
    this.#check = isCheck ? ([...this.#squares].find(([, piece]) => piece === king)?.[0] ?? "") : "";
    this.#picked = null;
    this.#closeMenu();
    this.#draw();
  }

  /** Shows squares that the user can set up; a square has the letter of a piece, or a sign for the allowed pieces. */
  edit(squares) {
    this.#editing = true;
    this.#squares = squares;
    this.#draw();
  }

  set flipped(flipped) {
    if (this.#flipped === flipped) return;
    this.#flipped = flipped;
    if (this.#grid) this.#build();
  }

  get flipped() {
    return this.#flipped;
  }

  /** Arrows, each with `uci` and a `weight` from 0 to 1. */
  set arrows(arrows) {
    this.#arrows = arrows;
    this.#drawArrows();
  }

  set label(label) {
    this.#grid?.setAttribute("aria-label", label);
  }

  #build() {
    const hadFocus = this.#grid.contains(document.activeElement);
    const files = this.#flipped ? [...FILES].reverse() : [...FILES];
    const ranks = this.#flipped ? [1, 2, 3, 4, 5, 6, 7, 8] : [8, 7, 6, 5, 4, 3, 2, 1];
    this.#cells.clear();
    const cell = (square, rank, file) => {
      const edges = { "data-rank": file === files[0] ? rank : null, "data-file": rank === ranks[7] ? file : null };
      const made = h("div", { role: "gridcell", "data-square": square, class: isDark(square) ? "dark" : "light", ...edges });
      this.#cells.set(square, made);
      return made;
    };
    put(this.#grid, ranks.map((rank) => h("div", { role: "row" }, files.map((file) => cell(file + rank, rank, file)))));
    this.#draw();
    if (hadFocus) this.#cells.get(this.#cursor).focus();
  }

  #draw() {
    if (!this.#grid) return;
    const targets = new Map(this.#movesFrom(this.#picked).map((move) => [target(move), move]));
    const movable = new Set(this.#moves.map((move) => move.uci.slice(0, 2)));
    for (const [square, cell] of this.#cells) {
      const sign = this.#squares.get(square);
      if (cell.dataset.sign !== (sign ?? "")) {
        cell.dataset.sign = sign ?? "";
        put(cell, signImage(sign));
      }
      const is = {
        last: this.#last.slice(0, 2) === square || this.#last.slice(2, 4) === square,
        check: this.#check === square,
        picked: this.#picked === square,
        target: targets.has(square),
        movable: this.#editing ? sign !== undefined : movable.has(square),
      };
      for (const [name, value] of Object.entries(is)) cell.classList.toggle(name, value);
      cell.tabIndex = square === this.#cursor ? 0 : -1;
      const words = [square, signName(sign, this.#editing)];
      if (is.check) words.push("in check");
      if (is.target) words.push("possible target");
      cell.setAttribute("aria-label", words.filter(Boolean).join(", "));
      cell.setAttribute("aria-selected", is.picked);
    }
    this.#drawArrows();
  }

  #drawArrows() {
    if (!this.#overlay) return;
    const made = arrowShape(this.#arrows, this.#flipped);
    this.#overlay.replaceWith(made);
    this.#overlay = made;
  }

  #movesFrom(square) {
    return square === null ? [] : this.#moves.filter((move) => move.uci.slice(0, 2) === square);
  }

  #key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (steps[event.key]) {
      const turn = this.#flipped ? -1 : 1;
      const [right, up] = steps[event.key];
      const file = Math.min(7, Math.max(0, FILES.indexOf(this.#cursor[0]) + right * turn));
      const rank = Math.min(8, Math.max(1, Number(this.#cursor[1]) + up * turn));
      this.#focus(FILES[file] + rank);
    } else if (event.key === "Enter" || event.key === " ") {
      this.#pick(this.#cursor);
    } else if (event.key === "Escape") {
      this.#picked = null;
      this.#draw();
    } else if (this.#editing && (event.key === "Delete" || event.key === "Backspace")) {
      this.#dispatch("square", { square: this.#cursor, sign: null });
    } else if (this.#editing && event.key.length === 1 && `${PIECES}?!Aa.`.includes(event.key)) {
      this.#dispatch("square", { square: this.#cursor, sign: event.key });
    } else {
      return;
    }
    event.preventDefault();
  }

  #focus(square) {
    this.#reached(square);
    this.#cells.get(square).focus();
  }

  /** Makes a square the one that Tab reaches and to which keys apply. */
  #reached(square) {
    this.#cells.get(this.#cursor).tabIndex = -1;
    this.#cursor = square;
    this.#cells.get(square).tabIndex = 0;
  }

  /** Handles a click or Enter on a square. */
  #pick(square) {
    if (this.#editing) {
      this.#dispatch("square", { square });
      return;
    }
    const moves = this.#movesFrom(this.#picked).filter((move) => target(move) === square || rookTarget(move) === square);
    if (moves.length > 0) {
      this.#play(moves);
      return;
    }
    const isOwn = this.#movesFrom(square).length > 0;
    this.#picked = isOwn && this.#picked !== square ? square : null;
    this.#draw();
    if (this.#picked) {
      const names = this.#movesFrom(square).map(target);
      say(`${signName(this.#squares.get(square))} on ${square} selected. Possible targets: ${[...new Set(names)].join(", ")}`);
    } else if (this.#moves.length > 0) {
      say(isOwn ? "Piece deselected" : `There is no piece on ${square} that can move now`);
    }
  }

  #play(moves) {
    if (moves.length === 1) {
      this.#picked = null;
      this.#dispatch("play", { uci: moves[0].uci });
      return;
    }
    const letter = (move) => (this.#squares.get(move.uci.slice(0, 2)) === "P" ? move.uci[4].toUpperCase() : move.uci[4]);
    const choose = (move) => () => {
      this.#closeMenu();
      this.#picked = null;
      this.#dispatch("play", { uci: move.uci });
    };
    const order = [..."qnrb"];
    const sorted = [...moves].sort((one, other) => order.indexOf(one.uci[4]) - order.indexOf(other.uci[4]));
    put(this.#menu, sorted.map((move) => {
      const label = pieceName(letter(move)).split(" ")[1];
      return h("button", { type: "button", "aria-label": label, on: { click: choose(move) } }, pieceImage(letter(move)));
    }));
    this.#menu.hidden = false;
    this.#menu.firstElementChild.focus();
  }

  #closeMenu() {
    if (!this.#menu || this.#menu.hidden) return;
    const hadFocus = this.#menu.contains(document.activeElement);
    this.#menu.hidden = true;
    if (hadFocus) this.#cells.get(this.#cursor).focus();
  }

  #dispatch(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  #down(event) {
    const cell = event.target.closest("[data-square]");
    if (!cell || event.button !== 0) return;
    const square = cell.dataset.square;
    event.preventDefault();
    this.#focus(square);
    const image = cell.querySelector(".piece");
    const canMove = this.#editing || this.#movesFrom(square).length > 0;
    this.#drag = { square, image: canMove ? image : null, x: event.clientX, y: event.clientY, isMoving: false };
    this.#grid.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag?.image) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoving && Math.hypot(x, y) < FAR_ENOUGH) return;
    if (!drag.isMoving) {
      drag.isMoving = true;
      if (!this.#editing) {
        this.#picked = drag.square;
        this.#draw();
      }
      drag.image.classList.add("dragged");
    }
    drag.image.style.transform = `translate(${x}px, ${y}px) scale(1.12)`;
  }

  #up(event) {
    const drag = this.#drag;
    this.#drop();
    if (!drag) return;
    if (!drag.isMoving) {
      this.#pick(drag.square);
      return;
    }
    const to = this.#squareAt(event.clientX, event.clientY);
    if (this.#editing) {
      this.#dispatch("carry", { from: drag.square, to });
      return;
    }
    const moves = this.#movesFrom(drag.square).filter((move) => target(move) === to || rookTarget(move) === to);
    if (moves.length > 0) {
      this.#play(moves);
      return;
    }
    this.#picked = null;
    this.#draw();
  }

  #drop() {
    if (this.#drag?.image) {
      this.#drag.image.classList.remove("dragged");
      this.#drag.image.style.removeProperty("transform");
    }
    this.#drag = null;
  }

  #squareAt(x, y) {
    const box = this.#grid.getBoundingClientRect();
    const [column, row] = [Math.floor((8 * (x - box.left)) / box.width), Math.floor((8 * (y - box.top)) / box.height)];
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.#flipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
  }
}

const target = (move) => move.uci.slice(2, 4);

/** The corner of the rook if the move is castling, because the user can also click that square; otherwise null. */
function rookTarget(move) {
  if (!move.san.startsWith("O-O")) return null;
  const file = move.san.startsWith("O-O-O") ? "a" : "h";
  return file + move.uci[1];
}

function signImage(sign) {
  if (!sign) return null;
  return PIECES.includes(sign) ? pieceImage(sign) : h("span", { class: sign.length > 1 ? "sign piece long" : sign === "." ? "sign piece hole" : "sign piece", "aria-hidden": "true" }, sign.replace(/^\.$/, "∅").replace(/[[\]]/g, ""));
}

const SIGNS = { ".": "must be empty", "!": "any piece", A: "any white piece", a: "any black piece" };

/** What the sign on a square means. */
export function signName(sign, isSearched = false) {
  if (!sign) return isSearched ? "anything" : "empty";
  if (PIECES.includes(sign)) return pieceName(sign);
  return SIGNS[sign] ?? `one of ${sign}`;
}

customElements.define("chess-board", ChessBoard);
