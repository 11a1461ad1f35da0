// Games as a table that loads more on scrolling, and functions for all lists.

import { count, date, h, number, put, result } from "../dom.js";
import { changed, go, params, viewAddress } from "../address.js";
import { apiAddress } from "../api.js";
import { Endless } from "../list/endless.js";
import { filterBar } from "../filters.js";
import { TARGETS, listQuery } from "../list/listing.js";

/** The number of games of a list, as text. */
export function totalText(total) {
  if (!total) return "No games";
  const { all } = total;
  if (all === "shown") return count(total.games, "game");
  if (all?.exact) return count(all.exact.games, "game");
  if (all?.games !== undefined) return count(all.games, "game");
  if (all?.at_least !== undefined) return `${number(all.at_least)} games or more`;
  return "Many games, not counted";
}

/** The address of a game in a list. It has the parameters of the list, so that the view of the game can find its neighbours; with `then`, only the filters. */
export function gameAddress(id, more = {}) {
  const query = listQuery();
  const own = Object.fromEntries(TARGETS.filter((name) => name !== "then" && query.has(name)).map((name) => [name, query.get(name)]));
  if (query.has("then")) return `${viewAddress(`/view/game/${id}`, more)}`;
  return viewAddress(`/view/game/${id}`, { ...own, sort: query.get("sort"), ...more });
}

/** Names and ratings of both players. */
export function players(game, link) {
  const who = (name, rating, isWinner, side) => h("span", { class: isWinner ? "who won" : "who" },
    h("span", { class: `dot ${side}`, role: "img", "aria-label": side }), h("span", { class: "name" }, name || "?"), rating ? h("span", { class: "rating" }, rating) : null);
  return h("a", { href: link, class: "pair" },
    who(game.white, game.white_elo, game.result === "1-0", "white"), who(game.black, game.black_elo, game.result === "0-1", "black"));
}

/** Links to the list as files; null for the nearest positions, which cannot be exported. */
export function exports() {
  const query = listQuery();
  if (query.has("like")) return null;
  const to = (kind) => h("a", { href: apiAddress(`/api/export.${kind}`, query), download: `games.${kind}` }, kind.toUpperCase());
  return h("span", { class: "exports" }, " · Save all as ", to("pgn"), " or ", to("csv"));
}

const SORTS = { game: "No.", rating: "Rating", date: "Date" };
const SORT_WORDS = { game: "number", rating: "rating", date: "date" };

/** A choice of the order, for a list without columns; null for the nearest positions, which have their own order. */
export function sortChoice() {
  if (params().get("like")) return null;
  const sort = params().get("sort") ?? "game";
  const options = Object.entries(SORT_WORDS).map(([name, text]) => h("option", { value: name, selected: name === sort }, text));
  const select = h("select", { on: { change: () => go(changed({ sort: select.value === "game" ? null : select.value })) } }, options);
  return h("label", { class: "sort-choice" }, "Sorted by", select);
}

class Games {
  #parts = {};
  #list = null;

  show(root) {
    const parts = this.#parts;
    parts.filters = filterBar();
    parts.where = h("div", {});
    this.#list = new Endless({
      about: (list) => [h("strong", {}, totalText(list.total)), exports()],
      begin: () => {
        const body = h("tbody", {});
        return { body, holder: h("table", { class: "games-table" }, h("caption", { class: "unseen" }, "Games"), h("thead", {}, this.#head()), body) };
      },
      item: (game) => this.#row(game),
    });
    put(root, h("div", { class: "page" }, h("h1", {}, "Games"), parts.filters.element, parts.where, this.#list.element));
    this.update();
  }

  leave() {
    this.#list.stop();
  }

  update() {
    this.#parts.filters.update();
    this.#showWhere();
    this.#list.update();
  }

  #showWhere() {
    const query = params();
    const target = TARGETS.filter((name) => query.get(name));
    if (target.length === 0) {
      put(this.#parts.where);
      return;
    }
    const isPosition = target.every((name) => ["fen", "play"].includes(name));
    const position = h("a", { href: viewAddress("/", { fen: query.get("fen"), play: query.get("play") }) }, "a position of the explorer");
    const search = h("a", { href: `/view/search${location.search}` }, "a search");
    const none = Object.fromEntries(TARGETS.map((name) => [name, null]));
    put(this.#parts.where, h("p", {}, "Only games of ", isPosition ? position : search, ". ", h("a", { href: changed(none) }, "Show all games")));
  }

  #head() {
    const sort = params().get("sort") ?? "game";
    const column = (name, kind) => {
      const isOn = sort === name;
      const direction = name === "game" ? "ascending" : "descending";
      const link = h("a", { href: changed({ sort: name === "game" ? null : name }), class: "sort" }, SORTS[name], isOn ? (name === "game" ? " ↑" : " ↓") : "");
      return h("th", { scope: "col", class: kind, "aria-sort": isOn ? direction : null }, link);
    };
    const plain = (text, kind) => h("th", { scope: "col", class: kind }, text);
    return h("tr", {}, plain("Players"), plain("Result", "outcome"), column("rating", "num minor"), column("date"), plain("Event", "minor"),
      plain("Site", "minor2"), plain("Round", "num minor2"), plain("ECO", "minor"), this.#hasPosition() ? plain("Next", "minor") : null, column("game", "num minor"));
  }

  #hasPosition() {
    return TARGETS.some((name) => params().get(name));
  }

  #row(game) {
    const ratings = [game.white_elo, game.black_elo].filter(Boolean);
    const mean = ratings.length === 2 ? Math.round((ratings[0] + ratings[1]) / 2) : null;
    const key = this.#hasPosition() ? { at: game.ply } : {};
    const next = game.next_san ? `${game.move_number}${game.side === "b" ? "…" : "."} ${game.next_san}` : "–";
    return h("tr", {},
      h("th", { scope: "row" }, players(game, gameAddress(game.game_id, key))),
      h("td", { class: "outcome" }, result(game.result)),
      h("td", { class: "num minor" }, mean ?? "–"),
      h("td", { class: "nowrap" }, date(game.date)),
      h("td", { class: "minor" }, game.event ?? ""),
      h("td", { class: "minor2" }, game.site ?? ""),
      h("td", { class: "num minor2" }, game.round ?? ""),
      h("td", { class: "minor" }, game.eco ?? ""),
      this.#hasPosition() ? h("td", { class: "minor nowrap" }, next) : null,
      h("td", { class: "num minor soft" }, game.game_id));
  }
}

export const view = { title: "Games", make: () => new Games() };
