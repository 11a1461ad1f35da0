// A list of games, read page by page; a game knows its neighbours in it.

import { FILTERS, params } from "../address.js";
import { apiAddress, get } from "../api.js";

/** The parameters that determine the games and their order. */
export const TARGETS = ["fen", "play", "pattern", "material", "structure", "ending", "move", "for", "ply", "then", "either", "mirror", "like", "variations"];
const LISTING = [...FILTERS, ...TARGETS, "sort"];

/** The parameters of an address that determine a list, in their order: those after `then` hold later in a game. */
export function listQuery(query = params()) {
  return new URLSearchParams([...query].filter(([name, value]) => LISTING.includes(name) && (value !== "" || name === "then")));
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

  /** The games before and after one in the list; reads another page at its end. */
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

/** The list of an address; the last one is cached. */
export function listing(query = listQuery()) {
  const key = apiAddress("/api/games", query);
  if (key !== currentKey || !current) [current, currentKey] = [new Listing(query), key];
  return current;
}
