// The address of the page: every state of the page has its own address.

/** The names of the filters, as in the API. */
export const FILTERS = [
  "player", "white", "black", "opponent", "eloMin", "eloMax", "since", "until", "result", "speed", "event", "site", "opening",
  "eco", "openingEco", "timeControl", "termination", "pliesMin", "pliesMax", "withEvals", "source", "variant",
];

/** The parameters kept from one view to another. */
const KEPT = ["db", ...FILTERS];

/** The parameters of the current address. */
export const params = () => new URLSearchParams(location.search);

/** An address from a path and pairs of parameters; commas, slashes and parentheses are not encoded. */
export function address(path, query) {
  const text = query.toString().replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%28", "(").replaceAll("%29", ")");
  return text ? `${path}?${text}` : path;
}

/** Those parameters of a query that filter games. */
export function filtersOf(query) {
  return new URLSearchParams([...query].filter(([name, value]) => FILTERS.includes(name) && value !== ""));
}

/** An address of a view, with the current database and filters. */
export function viewAddress(path, more = {}) {
  const query = new URLSearchParams([...params()].filter(([name]) => KEPT.includes(name)));
  return address(path, withPairs(query, more));
}

/** An address of a view, with the current database and without filters. */
export function plainAddress(path, more = {}) {
  const query = new URLSearchParams();
  const db = params().get("db");
  if (db) query.set("db", db);
  return address(path, withPairs(query, more));
}

function withPairs(query, more) {
  for (const [name, value] of Object.entries(more)) {
    query.delete(name);
    if (Array.isArray(value)) value.forEach((one) => query.append(name, one));
    else if (value !== null && value !== undefined && value !== "" && value !== false) query.set(name, value === true ? "1" : value);
  }
  return query;
}

/** The current address, with some parameters changed. */
export function changed(more) {
  return address(location.pathname, withPairs(params(), more));
}

/** Goes to an address of the page. */
export function go(to, { replace = false } = {}) {
  if (to === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  window.dispatchEvent(new Event("navigate"));
}

/** Changes only the address: the view already shows what the new address says. */
export function note(to) {
  history.replaceState(null, "", to);
}
