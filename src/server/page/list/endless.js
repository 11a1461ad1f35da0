// A list that loads more games on scrolling.

import { count, h, put, say } from "../dom.js";
import { Loader, apiAddress } from "../api.js";
import { listing } from "./listing.js";
import { whyNothing } from "./nothing.js";

export class Endless {
  #parts;
  #options;
  #list = null;
  #key = null;
  #body = null;
  #observer;

  /**
   * `begin` makes the element of the list, and returns it as `holder`, and the parent of the items as `body`. `item` makes
   * an item from a game, and `about` describes the list.
   */
  constructor(options) {
    this.#options = options;
    const parts = { about: h("div", { class: "totals" }), box: h("div", {}), end: h("div", { class: "list-end" }) };
    this.#parts = { ...parts, loader: new Loader(parts.box), moreLoader: new Loader(parts.end) };
    this.element = h("div", { class: "endless" }, parts.about, parts.box, parts.end);
    const seen = (entries) => { if (entries.some((entry) => entry.isIntersecting)) this.#more(); };
    this.#observer = new IntersectionObserver(seen, { rootMargin: "600px" });
  }

  stop() {
    this.#observer.disconnect();
    this.#parts.loader.stop();
    this.#parts.moreLoader.stop();
  }

  clear() {
    this.stop();
    this.#key = null;
    for (const name of ["about", "box", "end"]) put(this.#parts[name]);
  }

  /** Shows the list that the address describes. */
  update() {
    const list = listing();
    const key = apiAddress("/api/games", list.query);
    if (key === this.#key) return;
    this.#key = key;
    this.#list = list;
    this.#observer.disconnect();
    put(this.#parts.end);
    put(this.#parts.about);
    const first = async (signal) => (list.games.length > 0 ? list.games : list.more(signal));
    this.#parts.loader.load(first, () => this.#showFirst());
  }

  #showFirst() {
    const { box, about } = this.#parts;
    const list = this.#list;
    put(about);
    if (list.games.length === 0) {
      put(box, whyNothing(list.nothing));
      return;
    }
    put(about, this.#options.about(list));
    say(about.textContent);
    const { holder, body } = this.#options.begin();
    this.#body = body;
    for (const game of list.games) body.append(this.#options.item(game));
    put(box, holder);
    this.#watch();
  }

  #watch() {
    const { end } = this.#parts;
    this.#observer.disconnect();
    if (this.#list.isDone) {
      put(end, h("p", { class: "hint" }, `${this.#list.games.length === 1 ? "The only row is" : `All ${count(this.#list.games.length, "row")} are`} shown.`));
      return;
    }
    put(end, h("button", { type: "button", on: { click: () => this.#more() } }, "Show more"));
    this.#observer.observe(end);
  }

  #more() {
    const list = this.#list;
    this.#observer.disconnect();
    this.#parts.moreLoader.load((signal) => list.more(signal), (games) => {
      if (list !== this.#list) return;
      for (const game of games) this.#body.append(this.#options.item(game));
      this.#watch();
    });
  }
}
