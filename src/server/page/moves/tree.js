// A tree of moves: a line with its variations. The tree does not know the rules of chess: callers add each move with the position after it.

import { START } from "../board/board.js";

class MoveNode {
  constructor(parent, { uci, san, fen, ...rest }) {
    this.parent = parent;
    this.uci = uci ?? null;
    this.san = san ?? null;
    this.fen = fen ?? null;
    this.notes = rest;
    this.children = [];
    this.ply = parent ? parent.ply + 1 : 0;
  }

  /** The moves from the start to this node. */
  get path() {
    const path = [];
    for (let node = this; node.parent; node = node.parent) path.unshift(node);
    return path;
  }

  get isMain() {
    for (let node = this; node.parent; node = node.parent) if (node.parent.children[0] !== node) return false;
    return true;
  }
}

export class Tree {
  /** A tree without moves, from a position; by default the start position. */
  constructor(fen = null) {
    this.fen = fen;
    this.root = new MoveNode(null, { fen: fen ?? START });
    const [, side, , , , number] = this.root.fen.split(" ");
    this.first = { isBlack: side === "b", number: Number(number) || 1 };
  }

  /** The node after a move. Adds the node if it is missing. */
  add(parent, move) {
    const known = parent.children.find((child) => child.uci === move.uci);
    if (known) {
      known.san ??= move.san ?? null;
      known.fen ??= move.fen ?? null;
      return known;
    }
    const node = new MoveNode(parent, move);
    parent.children.push(node);
    return node;
  }

  /** Adds a node for a move, even if there is one already: a game can have the same move in several variations. */
  push(parent, move) {
    const node = new MoveNode(parent, move);
    parent.children.push(node);
    return node;
  }

  /** The node after some moves; missing nodes are added without their SAN. */
  reach(moves) {
    return moves.reduce((node, uci) => this.add(node, { uci }), this.root);
  }

  /** Removes a move and the moves after it. */
  remove(node) {
    node.parent.children = node.parent.children.filter((child) => child !== node);
  }

  /** Makes the line to a node the main line. */
  promote(node) {
    for (let at = node; at.parent; at = at.parent) {
      const siblings = at.parent.children;
      siblings.splice(siblings.indexOf(at), 1);
      siblings.unshift(at);
    }
  }

  /** The number of a move, and whether it is White's. */
  numberOf(node) {
    const half = node.ply - 1 + (this.first.isBlack ? 1 : 0);
    const number = this.first.number + Math.floor(half / 2);
    return { number, isWhite: half % 2 === 0 };
  }

  /** Whether White is to move after a node. */
  isWhiteAfter(node) {
    return (node.ply + (this.first.isBlack ? 1 : 0)) % 2 === 0;
  }

  /** A move with its number: "3. Nf3" or "3… Nf6". */
  named(node) {
    const { number, isWhite } = this.numberOf(node);
    return `${number}${isWhite ? "." : "…"} ${node.san ?? node.uci}`;
  }

  /** The tree as a text for addresses: moves separated by commas; after a move, the alternatives to it follow in parentheses. */
  get text() {
    const write = (node) => {
      const [main, ...others] = node.children;
      if (!main) return "";
      const variations = others.map((other) => `(${other.uci}${rest(other)})`).join("");
      return `${main.uci}${variations}${rest(main)}`;
    };
    const rest = (node) => (node.children.length > 0 ? `,${write(node)}` : "");
    return write(this.root);
  }

  /** Adds the moves of a text in the form that `text` returns. Stops at a closing parenthesis without an opening one. */
  read(text) {
    let before = this.root;
    let at = this.root;
    const stack = [];
    for (const [token] of text.matchAll(/[a-h][1-8][a-h][1-8][nbrq]?|[()]/g)) {
      if (token === "(") {
        stack.push([before, at]);
        at = before;
      } else if (token === ")") {
        if (stack.length === 0) return;
        [before, at] = stack.pop();
      } else {
        before = at;
        at = this.add(at, { uci: token });
      }
    }
  }

  /** Whether there is more than one line. */
  get branches() {
    const one = (node) => node.children.length > 1 || node.children.some(one);
    return one(this.root);
  }

  /** The nodes at the ends of all lines. */
  get leaves() {
    const ends = [];
    const walk = (node) => (node.children.length === 0 ? ends.push(node) : node.children.forEach(walk));
    walk(this.root);
    return ends;
  }
}
