// The explorer: a board, the user's line, and the moves played from the position on the board.

import { append, count, h, icon, isTyping, number, put, say, unique } from "../dom.js";
import { changed, filtersOf, go, params, viewAddress } from "../address.js";
import { Loader, Problem, failure, get, position } from "../api.js";
import { resultBar, score, shareCell, table } from "../chart/bars.js";
import "../board/board.js";
import { filterBar } from "../filters.js";
import { Lines } from "./lines.js";
import { line, mark } from "../moves/moves.js";
import { showWhyNothing } from "../list/nothing.js";
import { pasteBox } from "../moves/paste.js";
import { Trend, scoredSide, sideChoice } from "./trend.js";
import { Tree } from "../moves/tree.js";

const ARROWS = 8;
/** The maximum length of a pasted text as a parameter of an address. */
const LONGEST = 59_000;
/** Whether a position is the start position of games. */
const isStart = (fen) => fen.startsWith("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq");
/** The minimum number of games for a meaningful performance. */
const FEW = 5;

/** The address of a node: the moves to it, and the tree if the tree has other moves. */
function nodeAddress(tree, node, more = {}) {
  const play = node.path.map((move) => move.uci).join(",");
  const text = tree.text;
  return changed({ play, tree: text === play ? null : text, moves: null, ...more });
}

class Explorer {
  #tree = new Tree();
  #node = this.#tree.root;
  #links = new Map();
  #described = null;
  #moves = [];
  #parts = {};
  #keys = (event) => this.#key(event);

  show(root) {
    const parts = this.#parts;
    parts.board = h("chess-board", { label: "Board", on: { play: (event) => this.#play(event.detail.uci) } });
    parts.filters = filterBar();
    parts.heading = h("h1", { class: "opening-name" }, "Explorer");
    parts.sub = h("p", { class: "sub" });
    parts.line = h("div", { class: "line-box" });
    parts.tools = h("div", { class: "line-tools" });
    parts.answer = h("div", { class: "answer" });
    parts.lists = h("div", { class: "lists" });
    parts.sides = h("div", {});
    parts.trend = new Trend();
    parts.tree = new Lines();
    parts.trouble = h("div", {});
    put(root, h("div", { class: "explorer" },
      h("section", { class: "board-side", "aria-label": "Board and line" }, parts.board, this.#controls(), parts.trouble, parts.line, parts.tools, this.#below()),
      h("section", { class: "moves-side", "aria-label": "Moves from here" }, h("div", { class: "title-block" }, parts.heading, parts.sub), parts.filters.element, parts.sides, parts.answer, parts.trend.element, parts.tree.element),
      h("section", { class: "lists-side", "aria-label": "Games from here" }, parts.lists)));
    parts.positionLoader = new Loader(parts.trouble);
    parts.answerLoader = new Loader(parts.answer);
    document.addEventListener("keydown", this.#keys);
    this.update();
  }

  leave() {
    document.removeEventListener("keydown", this.#keys);
    this.#parts.positionLoader.stop();
    this.#parts.answerLoader.stop();
    this.#parts.trend.stop();
    this.#parts.tree.stop();
  }

  #controls() {
    const button = (label, text, act, keys) => h("button", { type: "button", "aria-label": label, title: keys ? `${label} (${keys})` : label, on: { click: act } }, text);
    const input = h("input", { id: unique("move"), name: "move", autocomplete: "off", spellcheck: "false", placeholder: "Nf3", class: "move-input", "aria-label": "Type a move" });
    const typed = h("form", { class: "typed" }, input);
    typed.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#typed(input);
    });
    return h("div", { class: "controls" },
      button("To the start", icon("first"), () => this.#to(this.#tree.root), "Home"),
      button("Back", icon("back"), () => this.#step(-1), "←"),
      button("Forward", icon("forward"), () => this.#step(1), "→"),
      button("To the end", icon("last"), () => this.#end(), "End"),
      button("Turn the board", icon("turn"), () => this.#flip(), "F"),
      typed);
  }

  #below() {
    return pasteBox((text) => this.#paste(text));
  }

  /** Shows the position in the address. */
  update() {
    const query = params();
    const fen = query.get("fen") || null;
    const [play, text] = [query.get("play") ?? "", query.get("tree") ?? ""];
    const isSame = this.#tree.fen === fen && (text || play) !== "" && this.#tree.text.startsWith(text || play);
    if (!isSame && !(this.#tree.fen === fen && !text && this.#isPrefix(play))) {
      this.#tree = new Tree(fen);
      if (text) this.#tree.read(text);
    }
    this.#node = this.#tree.reach(play ? play.split(",") : []);
    this.#parts.filters.update();
    this.#parts.board.flipped = query.has("flip");
    if (query.get("moves")) {
      this.#paste(query.get("moves"), true);
      return;
    }
    this.#ask(fen, play);
  }

  /** Whether moves are the beginning of a line of the tree. If so, the user stepped back in this line, and its rest is kept. */
  #isPrefix(play) {
    let node = this.#tree.root;
    for (const uci of play ? play.split(",") : []) {
      node = node.children.find((child) => child.uci === uci);
      if (!node) return false;
    }
    return true;
  }

  #ask(fen, play) {
    const where = new URLSearchParams();
    if (fen) where.set("fen", fen);
    if (play) where.set("play", play);
    const parts = this.#parts;
    if (this.#node.fen && this.#node.san) parts.board.show({ fen: this.#node.fen, last: this.#node.uci ?? "" });
    this.#showLine();
    parts.positionLoader.load((signal) => position(where, signal), (answer) => this.#showPosition(answer), (error) => {
      this.#moves = [];
      parts.board.show({ fen: (error.status !== 400 && this.#node.fen) || this.#tree.root.fen });
      put(parts.sub);
      if (error.status !== 400) {
        put(parts.heading, "Explorer");
        return false;
      }
      put(parts.heading, "This line cannot be played");
      put(parts.tools);
      put(parts.line, h("p", {}, h("a", { href: changed({ play: null, tree: null, fen: null }) }, "Go to the start position")));
      return false;
    });
    put(parts.sides, sideChoice());
    const side = scoredSide(this.#tree.isWhiteAfter(this.#node));
    const asked = [...where, ...filtersOf(params()), ...(side ? [["side", side]] : [])];
    const query = new URLSearchParams([...asked, ["top", "8"], ["recent", "8"]]);
    const failed = (error) => {
      put(parts.lists);
      parts.trend.clear();
      parts.tree.clear();
      const isToldAtBoard = ["fen", "play"].includes(error.parameter);
      if (isToldAtBoard) put(parts.answer);
      return isToldAtBoard;
    };
    parts.answerLoader.load((signal) => get("/api/explore", query, signal), (answer) => this.#showAnswer(answer, asked), failed);
  }

  #showPosition(answer) {
    put(this.#parts.trouble);
    this.#described = answer;
    this.#moves = answer.moves;
    if (!this.#tree.fen || this.#tree.root.fen !== answer.startFen) this.#tree.root.fen = answer.startFen;
    let node = this.#tree.root;
    for (const move of answer.line) node = this.#tree.add(node, move);
    const last = this.#node.uci ?? "";
    this.#parts.board.show({ fen: answer.fen, moves: answer.moves, last, isCheck: answer.isCheck });
    const turn = answer.turn === "w" ? "White" : "Black";
    const state = answer.isMate ? "checkmate" : answer.isStalemate ? "stalemate" : `${turn} to move${answer.isCheck ? ", in check" : ""}`;
    this.#parts.board.label = `Board, ${state}`;
    const { opening } = answer;
    const unnamed = this.#node.parent ? "No named opening" : isStart(answer.startFen) ? "Start position" : "Position from a FEN";
    const name = opening ? opening.name : unnamed;
    put(this.#parts.heading, opening ? h("span", { class: "eco" }, opening.eco) : null, name);
    document.title = `${name} – pgndex`;
    put(this.#parts.sub, state.charAt(0).toUpperCase() + state.slice(1));
    for (const text of [...answer.assumptions, ...answer.changes]) append(this.#parts.trouble, h("p", { class: "hint" }, text));
    const reached = this.#node.parent ? `${this.#tree.named(this.#node)}. ` : "";
    say(`${reached}${state}`);
    this.#showLine();
    this.#nameBranches();
  }

  /** Requests the SAN of moves in variations, which an address gives only in UCI notation. */
  async #nameBranches() {
    for (const leaf of this.#tree.leaves) {
      if (leaf.path.every((node) => node.san)) continue;
      const query = new URLSearchParams({ play: leaf.path.map((node) => node.uci).join(",") });
      if (this.#tree.fen) query.set("fen", this.#tree.fen);
      try {
        const answer = await position(query);
        let node = this.#tree.root;
        for (const move of answer.line) node = this.#tree.add(node, move);
      } catch {
        this.#tree.remove(leaf);
      }
      this.#showLine();
    }
  }

  #showLine() {
    const { line: box, tools } = this.#parts;
    const shown = line({ tree: this.#tree, current: this.#node, href: (node) => nodeAddress(this.#tree, node) });
    this.#links = shown.links;
    if (this.#tree.root.children.length === 0) {
      put(box, h("p", { class: "hint" }, "Make a move on the board, or choose one from the table."));
      put(tools);
      return;
    }
    put(box, shown.element);
    mark(this.#links, this.#node, box);
    const act = (label, doIt, isShown = true) => (isShown ? h("button", { type: "button", class: "quiet", on: { click: doIt } }, label) : null);
    put(tools,
      act("Make main line", () => this.#promote(), !this.#node.isMain),
      act("Delete from here", () => this.#delete(), this.#node.parent !== null),
      this.#search(),
      act("Clear", () => go(changed({ play: null, tree: null, fen: null })), true));
  }

  /** Links to searches for positions like the one shown. */
  #search() {
    const { fen } = this.#node;
    if (!fen) return null;
    const place = fen.split(" ");
    return [
      h("a", { class: "tool", href: viewAddress("/view/search", { like: place.slice(0, 4).join(" ") }) }, "Find similar"),
      h("a", { class: "tool", href: viewAddress("/view/search", { structure: place[0].replace(/[^Pp/\d]/g, "1").replace(/\d+/g, (run) => String([...run].reduce((sum, digit) => sum + Number(digit), 0))) }) }, "Same pawns"),
    ];
  }

  #promote() {
    this.#tree.promote(this.#node);
    go(nodeAddress(this.#tree, this.#node), { replace: true });
    this.#showLine();
  }

  #delete() {
    const { parent } = this.#node;
    this.#tree.remove(this.#node);
    go(nodeAddress(this.#tree, parent));
  }

  #showAnswer(answer, asked) {
    const { answer: box, lists } = this.#parts;
    const all = answer.white + answer.draws + answer.black;
    if (all + answer.unfinished === 0) {
      put(lists);
      this.#parts.trend.clear();
      this.#parts.tree.clear();
      this.#parts.board.arrows = [];
      this.#explainNothing();
      return;
    }
    const said = [h("strong", {}, number(all + answer.unfinished)), all + answer.unfinished === 1 ? " game" : " games"];
    if (answer.unfinished > 0) said.push(`, ${number(answer.unfinished)} without a result`);
    if (answer.transposed) said.push(`; ${number(answer.transposed)} reached the position in another move order`);
    const games = this.#gamesAddress();
    put(box, h("p", { class: "totals" }, said, " ", games ? h("a", { href: games }, "Show games") : null), this.#moveTable(answer, all));
    const weights = answer.moves.slice(0, ARROWS).map((move) => ({ uci: move.uci, weight: (move.white + move.draws + move.black) / (all || 1) }));
    this.#parts.arrows = weights.filter(({ weight }) => weight >= 0.008);
    this.#parts.board.arrows = this.#parts.arrows;
    this.#parts.trend.update(asked);
    const path = this.#node.path.map((node) => node.uci);
    this.#parts.tree.update(asked, { ply: this.#node.ply, first: this.#tree.first, href: (moves) => changed({ play: [...path, ...moves].join(","), tree: null, moves: null }) });
    put(lists, this.#gameList("Highest-rated games", "rating", answer.topGames, answer), this.#gameList("Latest games", "date", answer.recentGames, answer));
  }

  #gamesAddress() {
    const query = params();
    return viewAddress("/view/games", { fen: query.get("fen"), play: query.get("play"), sort: "rating" });
  }

  #moveTable(answer, all) {
    const total = (move) => move.white + move.draws + move.black;
    const after = (move) => nodeAddress(this.#tree, this.#node, { play: [...this.#node.path.map((node) => node.uci), move.uci].join(","), tree: this.#treeWith(move) });
    const side = answer.color === "black" ? "Black" : "White";
    const isLate = answer.moves.some((move) => move.lastYear !== undefined && move.lastYear !== null);
    const columns = [
      { head: "Move", cell: (move) => (move.san ? h("a", { href: after(move), class: "table-move" }, move.san) : h("abbr", { title: "All moves" }, "Σ")), kind: "name" },
      { head: "Games", cell: (move) => number(total(move)), kind: "num" },
      { head: "Share", cell: (move) => (move.san ? shareCell(total(move), all) : ""), kind: "num share-column" },
      { head: "White, draws, Black", cell: resultBar, kind: "bar-column" },
      answer.color && { head: "Score", title: `Points of ${side} in percent`, cell: (move) => score(recordOf(move, answer.color)), kind: "num minor" },
      answer.color && { head: "Perf.", title: `Performance rating of ${side}, shown for ${FEW} games or more`, cell: (move) => (total(move) >= FEW ? move.performance ?? "–" : "–"), kind: "num minor" },
      { head: "Rating", title: "Mean rating of the players who made the move", cell: (move) => (move.san ? move.averageRating ?? "–" : ""), kind: answer.color ? "num minor3" : "num minor" },
      isLate && { head: "Last", title: "The last year in which the move was played", cell: (move) => move.lastYear ?? "–", kind: "num minor" },
      { head: "Opening", cell: (move) => openingCell(move.opening, answer.opening), kind: "text minor2" },
    ].filter(Boolean);
    const rowOf = (move) => ({ on: {
      mouseenter: () => this.#point(move), mouseleave: () => this.#point(null),
      focusin: () => this.#point(move), focusout: () => this.#point(null),
    } });
    const foot = { san: null, white: answer.white, draws: answer.draws, black: answer.black, performance: answer.performance, opening: null };
    const made = table("Moves played from here", columns, answer.moves, { foot, row: rowOf });
    made.classList.add("continuations");
    const played = answer.moves.reduce((sum, move) => sum + total(move), 0);
    const ended = all - played;
    return [made, ended > 0 ? h("p", { class: "hint" }, `${count(ended, "game")} with a result played no move from here.`) : null];
  }

  /** The text of the tree with a move added; null if the tree then consists of just the line to this new move. */
  #treeWith(move) {
    const known = this.#node.children.find((child) => child.uci === move.uci);
    if (known) return this.#tree.text;
    const added = this.#tree.push(this.#node, move);
    const text = this.#tree.text;
    const isLine = added.path.map((node) => node.uci).join(",") === text;
    this.#tree.remove(added);
    return isLine ? null : text;
  }

  #point(move) {
    const arrows = this.#parts.arrows ?? [];
    this.#parts.board.arrows = move ? [{ uci: move.uci, weight: 0.5, isStrong: true }, ...arrows.filter(({ uci }) => uci !== move.uci)] : arrows;
  }

  #explainNothing() {
    const query = filtersOf(params());
    for (const name of ["fen", "play"]) if (params().get(name)) query.set(name, params().get(name));
    showWhyNothing(this.#parts.answer, query);
  }

  #gameList(title, sort, games, answer) {
    if (games.length === 0) return null;
    const sans = new Map(answer.moves.map((move) => [move.uci, move.san]));
    const where = { fen: params().get("fen"), play: params().get("play"), sort, key: this.#described?.key };
    const row = (game) => {
      const rating = (player) => (player.rating ? h("span", { class: "rating" }, player.rating) : null);
      const to = viewAddress(`/view/game/${game.id}`, where);
      const outcome = game.winner === "white" ? "1–0" : game.winner === "black" ? "0–1" : "½–½";
      return h("li", {}, h("a", { href: to, class: "game-row" },
        h("span", { class: "pair" },
          h("span", { class: game.winner === "white" ? "who won" : "who" }, h("span", { class: "name" }, game.white.name), rating(game.white)),
          h("span", { class: game.winner === "black" ? "who won" : "who" }, h("span", { class: "name" }, game.black.name), rating(game.black))),
        h("span", { class: "outcome" }, outcome),
        h("span", { class: "when" }, h("span", { class: "san" }, sans.get(game.uci) ?? ""), h("span", {}, game.month ?? game.year ?? ""))));
    };
    return h("div", { class: "game-list" }, h("h2", {}, title), h("ol", {}, games.map(row)));
  }

  #play(uci) {
    const move = this.#moves.find((one) => one.uci === uci);
    if (!move) return;
    const node = this.#tree.add(this.#node, move);
    go(nodeAddress(this.#tree, node));
  }

  #typed(input) {
    const plain = (text) => text.replace(/[+#!?=x]/g, "").replaceAll("0", "O").toLowerCase();
    const text = input.value.trim();
    const exact = this.#moves.filter((move) => move.san.replace(/[+#]/g, "") === text.replace(/[+#!?]/g, "") || move.uci === text);
    const fits = exact.length > 0 ? exact : this.#moves.filter((move) => plain(move.san) === plain(text));
    if (fits.length === 1) {
      input.value = "";
      this.#play(fits[0].uci);
    } else {
      say(fits.length > 1 ? `${text} can be several moves: ${fits.map((move) => move.san).join(", ")}` : `${text} is not a legal move here`);
      input.setCustomValidity(fits.length > 1 ? "Several moves match" : "Not a legal move here");
      input.reportValidity();
      input.addEventListener("input", () => input.setCustomValidity(""), { once: true });
    }
  }

  #to(node) {
    go(nodeAddress(this.#tree, node));
  }

  #step(by) {
    const node = by < 0 ? this.#node.parent : this.#node.children[0];
    if (node) this.#to(node);
  }

  #end() {
    let node = this.#node;
    while (node.children.length > 0) [node] = node.children;
    this.#to(node);
  }

  #flip() {
    go(changed({ flip: !params().has("flip") }), { replace: true });
  }

  /** Goes to the position of a pasted FEN, or after pasted moves. Returns an error message, or null. */
  async #paste(text, replace = false) {
    const isFen = /^[1-8pnbrqkPNBRQK]+(\/[1-8pnbrqkPNBRQK~]+){7}/.test(text.trim());
    const query = new URLSearchParams({ [isFen ? "fen" : "moves"]: text.trim() });
    if (query.toString().length > LONGEST) return "This text is too long. Leave out comments and variations.";
    try {
      const answer = await position(query);
      const play = answer.line.map((move) => move.uci).join(",");
      go(changed({ fen: isStart(answer.startFen) ? null : answer.startFen, play, tree: null, moves: null }), { replace });
      return null;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (replace) put(this.#parts.trouble, failure(error));
      return error.message;
    }
  }

  #key(event) {
    if (isTyping(event)) return;
    const acts = {
      ArrowLeft: () => this.#step(-1),
      ArrowRight: () => this.#step(1),
      Home: () => this.#to(this.#tree.root),
      End: () => this.#end(),
      f: () => this.#flip(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

/** Results from one side's view. */
const recordOf = ({ white, draws, black }, side) => (side === "black" ? { wins: black, draws, losses: white } : { wins: white, draws, losses: black });

function openingCell(opening, before) {
  if (!opening || (before && opening.name === before.name)) return "";
  const known = before && opening.name.startsWith(`${before.name}:`) ? before.name.length + 2 : 0;
  return [h("span", { class: "eco" }, opening.eco), opening.name.slice(known)];
}

export const view = { title: "Explorer", make: () => new Explorer() };
