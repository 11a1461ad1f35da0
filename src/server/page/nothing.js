// Why there is nothing.

import { count, h } from "./dom.js";
import { changed, filtersOf, params } from "./address.js";
import { empty } from "./api.js";
import { withoutFilters } from "./filters.js";

const FIELDS = { white: "White", black: "Black", player: "player", opponent: "opponent", event: "event", site: "site", opening: "opening" };

/** Names that nobody bears, with links to those most like them. */
function unknownNames(names = []) {
  return names.map(({ field, near }) => {
    const asked = params().get(field);
    const first = `No ${FIELDS[field] ?? field} is called ${asked ? `“${asked}”` : "so"}. `;
    const links = near.map((name, at) => [at > 0 ? ", " : "", h("a", { href: changed({ [field]: `=${name}`, cursor: null }) }, name)]);
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
      return empty("No game reached this position.", followed);
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
