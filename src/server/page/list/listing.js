// A list of games, read page by page, and the neighbours of a game in it.

import { FILTERS, params } from "../address.js";
import { apiAddress, get } from "../api.js";

/** The parameters of a position, or of a description of positions. */
export const TARGETS = ["fen", "play", "pattern", "material", "structure", "ending", "move", "for", "ply", "then", "either", "mirror", "like", "variations"];
const LISTING = [...FILTERS, ...TARGETS, "sort"];

/** The parameters of an address that determine a list. They stay in order: those after `then` describe a later position of the game. */
export function listQuery(query = params()) {
  // The server refuses these with `like`, which has its own order and searches the main lines, and `variations` alone.
  const hasTarget = TARGETS.some((name) => name !== "variations" && query.get(name));
  const refused = query.get("like") ? ["sort", "variations"] : hasTarget ? [] : ["variations"];
  const isUsed = (name, value) => LISTING.includes(name) && !refused.includes(name) && (value !== "" || name === "then");
  return new URLSearchParams([...query].filter(([name, value]) => isUsed(name, value)));
}

const PAGE = 60;

class Listing {
  constructor(query) {
    this.query = query;
    this.games = [];
    this.total = null;
    this.nothing = null;
    this.cursor = null;
    this.isDone = false;
  }

  /** Reads the next page; returns the new games. */
  async more(signal) {
    if (this.isDone) return [];
    const query = new URLSearchParams([...this.query, ["limit", String(PAGE)]]);
    if (this.cursor) query.set("cursor", this.cursor);
    const page = await get("/api/games", query, signal);
    this.total ??= page.total;
    if (this.games.length === 0) this.nothing = page.nothing;
    this.cursor = page.nextCursor;
    this.isDone = !page.nextCursor;
    this.games.push(...page.games);
    return page.games;
  }

  /** The games before and after a game in the list; null if the game is not in the pages read. If it is the last game read, reads another page. */
  async around(id, signal) {
    let at = this.#find(id);
    if (at < 0 && this.games.length === 0) {
      await this.more(signal);
      at = this.#find(id);
    }
    if (at < 0) return null;
    if (at === this.games.length - 1) await this.more(signal);
    let next = at + 1;
    while (next < this.games.length && this.games[next].game_id === id) next += 1;
    return { at: at + 1, previous: this.games[at - 1] ?? null, next: this.games[next] ?? null };
  }

  #find(id) {
    return this.games.findIndex((game) => game.game_id === id);
  }
}

let current = null;
let currentKey = null;

/** The list with these parameters; the last list is cached. */
export function listing(query = listQuery()) {
  const key = apiAddress("/api/games", query);
  if (key !== currentKey || !current) [current, currentKey] = [new Listing(query), key];
  return current;
}
