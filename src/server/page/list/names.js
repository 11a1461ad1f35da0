// Notes about names in filters that match several players, or nothing.

import { count, h, number, put } from "../dom.js";
import { changed, params } from "../address.js";
import { Problem, apiAddress, get } from "../api.js";

const FIELDS = { white: "White", black: "Black", player: "player", opponent: "opponent", event: "event", site: "site", opening: "opening" };
const OF_ALL = "The games of all these players are counted.";

/** The parameter with the name of a field: the view of a player has the player's name in the parameter `name`. */
const parameterOf = (field) => (field === "player" && params().get("name") ? "name" : field);

/** The name that the user gave in a field, in quotes; null if there are several, because the answer does not say which one it means. */
function askedName(field) {
  const names = params().getAll(parameterOf(field));
  return names.length === 1 ? `“${names[0]}”` : null;
}

/** A link to the same view with exactly this name. */
const exactly = (field, name) => h("a", { href: changed({ [parameterOf(field)]: `=${name}`, cursor: null }) }, name);

/** Names that do not occur in the database, with links to similar names. */
export function unknownNames(names = []) {
  return names.map(({ field, near }) => {
    const first = `No ${FIELDS[field] ?? field} is called ${askedName(field) ?? "that"}. `;
    const links = near.map((name, at) => [at > 0 ? ", " : "", exactly(field, name)]);
    return h("p", {}, first, near.length > 0 ? ["Did you mean ", links, "?"] : null);
  });
}

function severalPlayers(several = []) {
  return several.map(({ field, players, most }) => {
    const links = most.map(({ name, games }, at) => [at > 0 ? ", " : "", exactly(field, name), ` (${number(games)})`]);
    const rest = players - most.length;
    const more = links.length > 0 ? [" Most games: ", links, rest > 0 ? ` and ${number(rest)} more.` : "."] : null;
    return h("p", {}, `${askedName(field) ?? `This ${FIELDS[field]}`} matches ${count(players, "player")}. ${OF_ALL}`, more);
  });
}

/** A section with notes about names that match several players, or nothing; `left` are fields that the view shows itself. */
export class NameNotes {
  #left;
  #key = null;
  #controller = null;

  constructor(left) {
    this.#left = left;
    this.element = h("div", { class: "name-notes hint", role: "status" });
  }

  /** Requests and shows the notes about the names in filters. */
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
    // The view reports invalid filters, because it requests games with them.
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
