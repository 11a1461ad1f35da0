// Whom the names of filters fit, where that is not one: several players, or nobody.

import { count, h, number, put } from "../dom.js";
import { changed, params } from "../address.js";
import { Problem, apiAddress, get } from "../api.js";

const FIELDS = { white: "White", black: "Black", player: "player", opponent: "opponent", event: "event", site: "site", opening: "opening" };
const OF_ALL = "The games of all of them count.";

/** The parameter that has a name: the view of a player has the player in one of its own. */
const parameterOf = (field) => (field === "player" && params().get("name") ? "name" : field);

/** What was asked, in quotes; nothing where several names were, as it is not told which is meant. */
function askedName(field) {
  const names = params().getAll(parameterOf(field));
  return names.length === 1 ? `“${names[0]}”` : null;
}

/** A link to the same with a name that fits one alone. */
const exactly = (field, name) => h("a", { href: changed({ [parameterOf(field)]: `=${name}`, cursor: null }) }, name);

/** Names that nobody bears, with links to those most like them. */
export function unknownNames(names = []) {
  return names.map(({ field, near }) => {
    const first = `No ${FIELDS[field] ?? field} is called ${askedName(field) ?? "so"}. `;
    const links = near.map((name, at) => [at > 0 ? ", " : "", exactly(field, name)]);
    return h("p", {}, first, near.length > 0 ? ["Did you mean ", links, "?"] : null);
  });
}

function severalPlayers(several = []) {
  return several.map(({ field, players, most }) => {
    const links = most.map(({ name, games }, at) => [at > 0 ? ", " : "", exactly(field, name), ` (${number(games)})`]);
    const rest = players - most.length;
    const more = links.length > 0 ? [" Most games: ", links, rest > 0 ? ` and ${number(rest)} more.` : "."] : null;
    return h("p", {}, `${askedName(field) ?? `This ${FIELDS[field]}`} fits ${count(players, "player")}. ${OF_ALL}`, more);
  });
}

/** A part of the page that tells it; `left` are fields that the view tells of by itself. */
export class NameNotes {
  #left;
  #key = null;
  #controller = null;

  constructor(left) {
    this.#left = left;
    this.element = h("div", { class: "name-notes hint", role: "status" });
  }

  /** Asks whom the names of filters fit. */
  async update(filters) {
    const query = new URLSearchParams(filters);
    const key = apiAddress("/api/filter", query);
    if (key === this.#key) return;
    this.#key = key;
    this.#controller?.abort();
    put(this.element);
    if (!Object.keys(FIELDS).some((name) => query.has(name))) {
      this.element.removeAttribute("aria-busy");
      return;
    }
    this.#controller = new AbortController();
    this.element.setAttribute("aria-busy", "true");
    // What is wrong with a filter is told by the view, which asks for its games.
    const answer = await get("/api/filter", query, this.#controller.signal).catch((error) => {
      if (error instanceof Problem || error.name === "AbortError") return null;
      throw error;
    });
    if (key !== this.#key) return;
    this.element.removeAttribute("aria-busy");
    const isTold = ({ field }) => !this.#left.includes(field);
    if (answer) put(this.element, severalPlayers(answer.severalPlayers.filter(isTold)), unknownNames(answer.unknownNames.filter(isTold)));
  }
}
