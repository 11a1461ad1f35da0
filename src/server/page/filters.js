// Filters as chips, each of which can be removed, and a form for the most common filters.

import { append, h, put, unique } from "./dom.js";
import { changed, filtersOf, go, params } from "./address.js";
import { get } from "./api.js";
import { NameNotes } from "./list/names.js";

const SPEEDS = ["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"];
const SPEED_NAMES = { ultraBullet: "UltraBullet", bullet: "Bullet", blitz: "Blitz", rapid: "Rapid", classical: "Classical", correspondence: "Correspondence" };
const RESULTS = { "1-0": "White won", "0-1": "Black won", draw: "Draw", "1/2-1/2": "Draw", "*": "No result" };

/** The text of a chip. */
const CHIPS = {
  player: (value) => `Player: ${value}`,
  white: (value) => `White: ${value}`,
  black: (value) => `Black: ${value}`,
  opponent: (value) => `Against: ${value}`,
  eloMin: (value) => `Rated ${value} or more`,
  eloMax: (value) => `Rated ${value} or less`,
  since: (value) => `Since ${value}`,
  until: (value) => `Until ${value}`,
  result: (value) => RESULTS[value] ?? value,
  speed: (value) => SPEED_NAMES[value] ?? value,
  event: (value) => `Event: ${value}`,
  site: (value) => `Site: ${value}`,
  opening: (value) => `Opening: ${value}`,
  eco: (value) => `ECO ${value}`,
  openingEco: (value) => `Opening ECO ${value}`,
  timeControl: (value) => `Time control ${value}`,
  termination: (value) => `Ended by: ${value}`,
  pliesMin: (value) => `${value} half-moves or more`,
  pliesMax: (value) => `${value} half-moves or fewer`,
  withEvals: () => "With evaluations",
  source: (value) => `Source: ${value}`,
  variant: (value) => `Variant: ${value}`,
};

/**
 * The bar with the chips, and notes about the names in them. `left` are filters that the bar leaves out, because the view has its own
 * fields for them; `more` returns the parameters of these fields.
 */
export function filterBar({ left = [], more = () => [] } = {}) {
  const id = unique("filters");
  const chips = h("ul", { class: "chips", "aria-label": "Filters" });
  const panel = h("div", { class: "filter-panel", id, hidden: true });
  const open = h("button", { type: "button", class: "chip add", "aria-expanded": "false", "aria-controls": id }, "Filter");
  const toggle = (isOpen, field) => {
    panel.hidden = !isOpen;
    open.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
      put(panel, form(left, () => toggle(false)));
      (panel.querySelector(`[name="${field ?? ""}"]`) ?? panel.querySelector("input, select")).focus();
    } else {
      open.focus();
    }
  };
  open.addEventListener("click", () => toggle(panel.hidden));
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") toggle(false); });
  const notes = new NameNotes(left);
  const update = () => {
    const set = [...filtersOf(params())].filter(([name]) => !left.includes(name));
    put(chips, set.map(([name, value]) => chip(name, value, () => toggle(true, name))));
    if (set.length > 1) append(chips, h("li", {}, h("a", { class: "clear", href: withoutFilters(left) }, "Clear all")));
    notes.update([...more(), ...set]);
  };
  update();
  return { element: h("div", { class: "filters" }, h("div", { class: "filter-row" }, open, chips), panel, notes.element), update };
}

/** The current address without its filters, except those in `left`. */
export function withoutFilters(left = []) {
  const names = [...filtersOf(params()).keys()].filter((name) => !left.includes(name));
  return changed(Object.fromEntries(names.map((name) => [name, null])));
}

function chip(name, value, edit) {
  const others = [...params().getAll(name)].filter((other) => other !== value);
  const text = CHIPS[name](value);
  const take = (event) => {
    event.preventDefault();
    go(changed({ [name]: others, cursor: null }));
  };
  return h("li", { class: "chip" },
    h("button", { type: "button", class: "chip-text", on: { click: edit } }, text),
    h("button", { type: "button", class: "chip-x", "aria-label": `Remove filter: ${text}`, on: { click: take } }, "×"));
}

/** A field with its label; with `kind`, it suggests names of this kind while the user types. */
export function field(label, name, { type = "text", kind = null, value = "", placeholder = null, hint = null, ...more } = {}) {
  const id = unique(name);
  const input = h("input", { id, name, type, placeholder, autocomplete: "off", spellcheck: "false", ...more, prop: { value } });
  const list = kind ? offerNames(input, kind) : null;
  return h("div", { class: "field" }, h("label", { for: id }, label), input, list, hint ? h("small", {}, hint) : null);
}

/** A field to select from pairs of value and text. */
export function choice(label, name, pairs, value = "") {
  const id = unique(name);
  const options = pairs.map(([one, text]) => h("option", { value: one, selected: one === value }, text));
  return h("div", { class: "field" }, h("label", { for: id }, label), h("select", { id, name }, options));
}

function offerNames(input, kind) {
  const list = h("datalist", { id: unique("names") });
  input.setAttribute("list", list.id);
  let timer = 0;
  let last = "";
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const prefix = input.value.trim();
      if (prefix.length < 2 || prefix === last) return;
      last = prefix;
      const answer = await get("/api/names", { kind, prefix, limit: 12 }).catch(() => ({ names: [] }));
      if (input.value.trim() === prefix) put(list, answer.names.map((name) => h("option", { value: name })));
    }, 120);
  });
  return list;
}

function form(left, close) {
  const set = params();
  const value = (name) => set.get(name) ?? "";
  const side = value("white") ? "white" : value("black") ? "black" : "player";
  const speeds = set.getAll("speed");
  const speed = (name) => h("label", { class: "check" },
    h("input", { type: "checkbox", name: "speed", value: name, prop: { checked: speeds.includes(name) } }), SPEED_NAMES[name]);
  const sides = [["player", "either colour"], ["white", "White"], ["black", "Black"]];
  const both = value("white") && value("black");
  const isShown = (name) => !left.includes(name);
  const players = both
    ? [field("White", "white", { kind: "player", value: value("white") }), field("Black", "black", { kind: "player", value: value("black") })]
    : [
      isShown("player") && field("Player", "somebody", { kind: "player", value: value(side), placeholder: "Carlsen" }),
      isShown("player") && choice("who plays", "side", sides, side),
      field("Opponent", "opponent", { kind: "player", value: value("opponent") || (side === "white" ? value("black") : "") }),
    ];
  const body = h("form", { class: "filter-form" },
    h("fieldset", {}, h("legend", {}, "Players"), players,
      field("Rated at least", "eloMin", { type: "number", min: 0, max: 4000, value: value("eloMin"), placeholder: "2400" }),
      field("Rated at most", "eloMax", { type: "number", min: 0, max: 4000, value: value("eloMax") })),
    h("fieldset", {}, h("legend", {}, "Games"),
      field("Since", "since", { value: value("since"), placeholder: "2020 or 2020-06" }),
      field("Until", "until", { value: value("until") }),
      choice("Result", "result", [["", "any"], ["1-0", "White won"], ["0-1", "Black won"], ["draw", "draw"], ["*", "no result"]], value("result")),
      field("Event", "event", { kind: "event", value: value("event") }),
      field("Opening", "opening", { kind: "opening", value: value("opening") }),
      field("ECO", "eco", { value: value("eco"), placeholder: "B90 or B90-B99" }),
      field("Time control", "timeControl", { value: value("timeControl"), placeholder: "180+2" }),
      field("Source", "source", { value: set.getAll("source").join(" "), hint: "number or path" })),
    h("fieldset", { class: "checks" }, h("legend", {}, "Speed"), SPEEDS.map(speed),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "withEvals", prop: { checked: set.has("withEvals") } }), "with evaluations")),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Apply"), h("button", { type: "button", on: { click: close } }, "Close")));
  body.addEventListener("submit", (event) => {
    event.preventDefault();
    go(changed(readForm(body, left)));
    close();
  });
  return body;
}

function readForm(body, left) {
  const data = new FormData(body);
  const text = (name) => (data.get(name) ?? "").trim();
  const read = { cursor: null };
  for (const name of ["eloMin", "eloMax", "since", "until", "result", "event", "opening", "eco", "timeControl", "opponent"]) read[name] = text(name);
  read.source = text("source") ? [text("source")] : null;
  read.speed = data.getAll("speed");
  read.withEvals = data.has("withEvals");
  if (data.has("white")) return { ...read, white: text("white"), black: text("black") };
  if (left.includes("player")) return read;
  const side = data.get("side");
  const [somebody, opponent] = [text("somebody"), text("opponent")];
  const named = { player: null, white: null, black: null, opponent: null };
  if (side === "player") return { ...read, ...named, player: somebody || opponent, opponent: somebody ? opponent : null };
  const other = side === "white" ? "black" : "white";
  return { ...read, ...named, [side]: somebody, [other]: opponent };
}
