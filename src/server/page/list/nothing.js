// Why there is nothing.

import { count, h, put } from "../dom.js";
import { changed, filtersOf, params } from "../address.js";
import { Problem, empty, get } from "../api.js";
import { withoutFilters } from "../filters.js";

const FIELDS = { white: "White", black: "Black", player: "player", opponent: "opponent", event: "event", site: "site", opening: "opening" };

/** Names that nobody bears, with links to those most like them. */
function unknownNames(names = []) {
  return names.map(({ field, near }) => {
    // The view of a player has the name in a parameter of its own.
    const own = field === "player" && params().get("name") ? "name" : field;
    const asked = params().get(own);
    const first = `No ${FIELDS[field] ?? field} is called ${asked ? `“${asked}”` : "so"}. `;
    const links = near.map((name, at) => [at > 0 ? ", " : "", h("a", { href: changed({ [own]: `=${name}`, cursor: null }) }, name)]);
    return h("p", {}, first, near.length > 0 ? ["Did you mean ", links, "?"] : null);
  });
}

const clear = () => (filtersOf(params()).size > 0 ? h("p", {}, h("a", { href: withoutFilters() }, "Remove the filters")) : null);

/** What the server knows about why there are no games. */
export function whyNothing(nothing, unknown = []) {
  const [kind, told] = Object.entries(nothing ?? {})[0] ?? ["none", {}];
  const names = unknownNames(told?.unknown_names ?? unknown);
  const reached = told?.reached?.games ?? told?.reached;
  switch (kind) {
    case "not_reached": {
      const line = told.line?.to;
      const followed = line ? h("p", {}, `Games follow the line for ${count(line.moves, "move")}.`) : null;
      return empty("No game reached this position.", followed, names);
    }
    case "filtered_out":
      return empty(`${typeof reached === "number" ? count(reached, "game") : "Games"} reached this position, and none fits the filters.`, names, clear());
    case "none_fits":
      return empty("No game has such a position.", names, clear());
    case "passed_over":
    case "all_skipped":
      return empty("There are no more games.");
    default:
      return empty(filtersOf(params()).size > 0 ? "No game fits the filters." : "There are no games here.", names, clear());
  }
}

/** Asks why no game passes the filters of the address and what else is asked, and tells it in an element. */
export async function tellWhyNothing(box, asked = filtersOf(params())) {
  const first = whyNothing(null);
  put(box, first);
  try {
    const why = await get("/api/games", new URLSearchParams([...asked, ["limit", "1"]]));
    if (why.nothing && first.parentNode === box) put(box, whyNothing(why.nothing, why.unknownNames));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
