// One game: board, moves with annotations, curves.

import { append, copy, date, download, h, icon, isTyping, put, result, say } from "../dom.js";
import { changed, go, note, params, viewAddress } from "../address.js";
import { Loader, apiAddress, get, getText } from "../api.js";
import "../board/board.js";
import { clockText, clocks, evaluations } from "../chart/curves.js";
import { evaluationText } from "../moves/evaluation.js";
import { listQuery, listing } from "../list/listing.js";
import { mark, sheet } from "../moves/moves.js";
import { Tree } from "../moves/tree.js";

const NEVER = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/** Makes a tree from the plies of a game. The server returns the annotations of a move with the position after it. */
export function gameTree(game) {
  const tree = new Tree(game.start_fen ?? null);
  const said = ({ nags, comments, clock, eval_cp: cp, eval_mate: mate }) => ({ nags, comments, clock, cp, mate });
  tree.nodes = [];
  const follow = (plies, parent) => {
    let at = parent;
    plies.forEach((ply, index) => {
      const after = plies[index + 1];
      if (!ply.san) return;
      const before = index === 0 && parent !== tree.root ? ply.comments : undefined;
      const node = tree.push(at, { uci: ply.uci, san: ply.san, fen: after?.fen ?? ply.fen, ...(after ? said(after) : {}), before });
      node.key = after?.key_hex ?? null;
      node.number = tree.nodes.push(node) - 1;
      for (const variation of ply.variations ?? []) follow(variation.plies, at);
      at = node;
    });
  };
  const [first] = game.plies;
  if (first) Object.assign(tree.root, { fen: first.fen, notes: said(first), key: first.key_hex });
  follow(game.plies, tree.root);
  return tree;
}

class Game {
  #parts = {};
  #game = null;
  #tree = null;
  #node = null;
  #links = new Map();
  #curves = [];
  #around = null;
  #loader = null;
  #keys = (event) => this.#key(event);

  show(root) {
    this.#parts.root = h("div", { class: "page" });
    put(root, this.#parts.root);
    const waiting = h("div", {});
    this.#loader = new Loader(waiting);
    document.addEventListener("keydown", this.#keys);
    const id = location.pathname.split("/").pop();
    put(this.#parts.root, h("h1", {}, "Game"), waiting);
    this.#loader.load((signal) => get(`/api/game/${encodeURIComponent(id)}`, {}, signal), (game) => this.#build(game));
  }

  leave() {
    document.removeEventListener("keydown", this.#keys);
    this.#loader.stop();
  }

  update() {
    if (!this.#tree) return;
    this.#parts.board.flipped = params().has("flip");
    this.#placeSides();
    this.#to(this.#asked(), false);
  }

  /** The move in the address. */
  #asked() {
    const at = params().get("at") ?? "";
    if (at.startsWith("v")) return this.#tree.nodes[Number(at.slice(1))] ?? this.#tree.root;
    const main = [this.#tree.root];
    while (main.at(-1).children.length > 0) main.push(main.at(-1).children[0]);
    const key = params().get("key");
    if (!at && key) return main.find((node) => node.key === key) ?? this.#tree.root;
    return main[Math.min(main.length - 1, Number(at) || 0)];
  }

  #build(game) {
    this.#game = game;
    this.#tree = gameTree(game);
    const { tags } = game;
    const parts = this.#parts;
    document.title = `${tags.White} – ${tags.Black} – pgndex`;
    parts.board = h("chess-board", { label: "Board" });
    parts.top = h("div", { class: "side-strip" });
    parts.bottom = h("div", { class: "side-strip" });
    parts.around = h("div", { class: "neighbours" });
    parts.actions = h("div", { class: "buttons" });
    const shown = sheet({ tree: this.#tree, current: this.#tree.root, href: (node) => changed({ at: this.#at(node), key: null }), result: result(game.result) });
    this.#links = shown.links;
    parts.moves = h("div", { class: "sheet-box", tabindex: "0", role: "group", "aria-label": "Moves" }, shown.element);
    this.#curves = [evaluations, clocks].map((make) => make(game, this.#tree, (ply) => this.#toPly(ply))).filter(Boolean);
    const curves = this.#curves.length > 0 ? h("div", { class: "curves" }, this.#curves.map((curve) => curve.element)) : null;
    put(parts.root, h("div", { class: "game-view" },
      h("section", { class: "game-board", "aria-label": "Board" }, parts.top, parts.board, parts.bottom, this.#controls()),
      h("section", { class: "game-moves", "aria-label": "Game" }, this.#title(), parts.actions, this.#problems(), parts.moves, curves, this.#tags()),
    ));
    this.#showActions();
    this.#findNeighbours();
    this.update();
  }

  #title() {
    const { tags, opening, result: outcome } = this.#game;
    const where = [tags.Event, tags.Site, tags.Round && tags.Round !== "?" ? `round ${tags.Round}` : null, date(tags.Date)];
    const name = opening ? h("p", {}, h("span", { class: "eco" }, opening.eco), opening.name) : null;
    return h("div", { class: "title-block" },
      h("h1", {}, tags.White, h("span", { class: "soft" }, " – "), tags.Black, " ", h("span", { class: "outcome-large" }, result(outcome))),
      h("p", { class: "sub" }, where.filter((text) => text && text !== "?").join(" · ")), name, this.#parts.around);
  }

  #problems() {
    const { problems, status, ply_count: plies } = this.#game;
    const texts = problems.map((problem) => h("li", {}, `Line ${problem.line}: ${problem.message}`));
    const state = status === "truncated" ? `Only the first ${plies} half-moves of this game could be read.`
      : status === "skipped" ? "The moves of this game were not read." : null;
    if (!state && texts.length === 0) return null;
    return h("div", { class: "message problem" }, state ? h("p", {}, state) : null, texts.length > 0 ? h("ul", {}, texts) : null);
  }

  #tags() {
    const rest = Object.entries(this.#game.tags).filter(([name]) => !NEVER.includes(name));
    const line = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
    return h("details", { class: "tags" }, h("summary", {}, "Tags and source"),
      h("dl", {}, rest.map(([name, value]) => line(name, value)), line("Source", this.#game.source), line("Game", String(this.#game.game_id))));
  }

  #controls() {
    const button = (label, name, act, keys) => h("button", { type: "button", "aria-label": label, title: `${label} (${keys})`, on: { click: act } }, icon(name));
    return h("div", { class: "controls" },
      button("To the start", "first", () => this.#to(this.#tree.root), "Home"),
      button("Back", "back", () => this.#step(-1), "←"),
      button("Forward", "forward", () => this.#step(1), "→"),
      button("To the end", "last", () => this.#end(), "End"),
      button("Turn the board", "turn", () => this.#flip(), "F"));
  }

  #showActions() {
    const id = this.#game.game_id;
    const path = `/api/game/${id}/pgn`;
    const copyPgn = async (event) => {
      const button = event.currentTarget;
      copy(await getText(path, {}), button);
    };
    const save = async () => download(`game-${id}.pgn`, "application/x-chess-pgn", await getText(path, {}));
    this.#parts.explore = h("a", { class: "button primary", href: "/" }, "Explore from here");
    put(this.#parts.actions, this.#parts.explore,
      h("button", { type: "button", on: { click: copyPgn } }, "Copy PGN"),
      h("button", { type: "button", on: { click: save } }, "Save PGN"),
      h("button", { type: "button", on: { click: (event) => copy(this.#node.fen, event.currentTarget) } }, "Copy FEN"));
    append(this.#parts.actions, h("a", { class: "unseen-link", href: apiAddress(`/api/game/${id}`) }, "JSON"));
  }

  async #findNeighbours() {
    const id = this.#game.game_id;
    const query = listQuery();
    const list = listing(query);
    const isAll = [...query.keys()].every((name) => name === "sort" && query.get("sort") === "game");
    let found = null;
    try {
      found = list.games.length > 0 || !isAll ? await list.around(id) : null;
    } catch { /* The game is shown without its neighbours. */ }
    if (!found && isAll) found = { previous: id > 1 ? { game_id: id - 1 } : null, next: { game_id: id + 1 }, at: null };
    this.#around = found;
    if (!found || this.#parts.root.isConnected === false) return;
    const link = (game, text, key) => (game ? h("a", { href: this.#neighbour(game), title: `${text} (${key})` }, text) : h("span", { class: "soft" }, text));
    const total = list.total?.all?.exact?.games ?? list.total?.all?.games ?? null;
    const place = found.at && total ? `Game ${found.at} of ${total.toLocaleString("en")}` : null;
    put(this.#parts.around, link(found.previous, "Previous game", "P"), link(found.next, "Next game", "N"), place ? h("span", { class: "soft" }, place) : null,
      isAll ? null : h("a", { href: `${"/view/games"}${location.search}` }, "Back to the list"));
  }

  #neighbour(game) {
    const query = params();
    query.delete("key");
    query.delete("at");
    if (game.ply) query.set("at", game.ply);
    const text = query.toString();
    return `/view/game/${game.game_id}${text ? `?${text}` : ""}`;
  }

  /** The text of a move in the address. */
  #at(node) {
    return node.isMain ? String(node.ply) : `v${node.number}`;
  }

  #to(node, isNew = true) {
    if (!node || !this.#tree) return;
    this.#node = node;
    if (isNew) note(changed({ at: this.#at(node), key: null }));
    this.#parts.board.show({ fen: node.fen, last: node.uci ?? "" });
    mark(this.#links, node, this.#parts.moves);
    if (node.isMain) for (const curve of this.#curves) curve.mark(node.ply);
    this.#parts.explore.href = viewAddress("/", { play: node.path.map((move) => move.uci).join(","), fen: this.#game.start_fen });
    this.#placeSides();
    if (isNew) {
      const said = (node.notes.comments ?? []).join(" ");
      say(node.parent ? `${this.#tree.named(node)} ${evaluationText(node.notes)} ${said}` : "Start position");
    }
  }

  /** Both players, above and below the board, each with the clock at this move. */
  #placeSides() {
    const { tags } = this.#game;
    const isFlipped = this.#parts.board.flipped;
    const clock = (isWhite) => {
      for (let node = this.#node; node?.parent; node = node.parent) {
        if (this.#tree.numberOf(node).isWhite === isWhite && node.notes.clock !== undefined) return clockText(node.notes.clock);
      }
      return null;
    };
    const strip = (side) => {
      const time = clock(side === "White");
      return [h("span", { class: `dot ${side.toLowerCase()}` }), h("strong", {}, tags[side]), tags[`${side}Elo`] ? h("span", { class: "rating" }, tags[`${side}Elo`]) : null,
        time ? h("span", { class: "clock", "aria-label": `Clock of ${side}` , role: "text" }, time) : null];
    };
    put(this.#parts.top, strip(isFlipped ? "White" : "Black"));
    put(this.#parts.bottom, strip(isFlipped ? "Black" : "White"));
  }

  #toPly(ply) {
    let node = this.#tree.root;
    while (node.ply < ply && node.children.length > 0) [node] = node.children;
    this.#to(node);
  }

  #step(by) {
    this.#to(by < 0 ? this.#node?.parent : this.#node?.children[0]);
  }

  #end() {
    this.#toPly(Infinity);
  }

  #flip() {
    go(changed({ flip: !params().has("flip") }), { replace: true });
  }

  #key(event) {
    if (isTyping(event) || !this.#tree) return;
    const acts = {
      ArrowLeft: () => this.#step(-1),
      ArrowRight: () => this.#step(1),
      Home: () => this.#to(this.#tree.root),
      End: () => this.#end(),
      f: () => this.#flip(),
      n: () => this.#around?.next && go(this.#neighbour(this.#around.next)),
      p: () => this.#around?.previous && go(this.#neighbour(this.#around.previous)),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

export const view = { title: "Game", make: () => new Game() };
