// Reasons for an empty list.

import { count, h, put } from "../dom.js";
import { changed, filtersOf, params } from "../address.js";
import { Problem, empty, get } from "../api.js";
import { withoutFilters } from "../filters.js";
import { unknownNames } from "./names.js";

const clear = () => (filtersOf(params()).size > 0 ? h("p", {}, h("a", { href: withoutFilters() }, "Remove the filters")) : null);

/** The server's reasons for an empty list. The notes below the filters already list unknown names, except those in `unknown`. */
export function whyNothing(nothing, unknown = []) {
  const [kind, reason] = Object.entries(nothing ?? {})[0] ?? ["none", {}];
  const names = unknownNames(unknown);
  const reached = reason?.reached?.games ?? reason?.reached;
  switch (kind) {
    case "not_reached": {
      const line = reason.line?.to;
      const followed = line ? h("p", {}, `Games reached the position after ${count(line.moves, "half-move")} of this line, but none went further.`) : null;
      return empty("No game reached this position.", followed, names);
    }
    case "filtered_out":
      return empty(`${typeof reached === "number" ? count(reached, "game") : "Games"} reached this position, but none passes the filters.`, names, clear());
    case "none_fits":
      return empty("No game has such a position.", names, clear());
    case "hits_skipped":
    case "all_skipped":
    case "matches_skipped":
      return empty("There are no more games.");
    default:
      return empty(filtersOf(params()).size > 0 ? "No game passes the filters." : "There are no games here.", names, clear());
  }
}

/**
 * Requests the reason why no game matches, and shows it in an element. `own` are filters for which the view has
 * its own fields.
 */
export async function showWhyNothing(box, asked = filtersOf(params()), own = []) {
  const first = whyNothing(null);
  put(box, first);
  try {
    const why = await get("/api/games", new URLSearchParams([...asked, ["limit", "1"]]));
    const unknown = why.unknownNames.filter(({ field }) => own.includes(field));
    if (why.nothing && first.parentNode === box) put(box, whyNothing(why.nothing, unknown));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
