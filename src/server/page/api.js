// Requests to the server.

import { h, put } from "./dom.js";
import { address, params } from "./address.js";

/** An error of the server: its status, title, detail and parameter. The status is 0 if the server did not answer. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The server answered with ${status}.`);
    this.status = status;
    this.title = body.title;
    this.parameter = body.parameter;
  }
}

/** The address of a request to the current database. */
export function apiAddress(path, query = new URLSearchParams()) {
  const db = params().get("db");
  return address(`${db ? `/db/${encodeURIComponent(db)}` : ""}${path}`, new URLSearchParams(query));
}

async function ask(to, options) {
  let response;
  try {
    response = await fetch(to, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server does not answer. Is it still running?" });
  }
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new Problem(response.status, body);
  }
  return response;
}

/** Requests JSON. */
export async function get(path, query, signal) {
  return (await ask(apiAddress(path, query), { signal })).json();
}

/** Requests a text. */
export async function getText(path, query, signal) {
  return (await ask(apiAddress(path, query), { signal })).text();
}

/** Sends data, and reads the answer as JSON. */
export async function post(path, type, body, query, signal) {
  const headers = { "content-type": type };
  return (await ask(apiAddress(path, query), { method: "POST", headers, body, signal })).json();
}

/** The served databases. */
export async function databases() {
  return (await (await ask("/api/databases", {})).json()).databases;
}

const KEPT = 400;
const positions = new Map();

/** A position with its legal moves. The last answers are cached. */
export async function position(query, signal) {
  const key = apiAddress("/api/position", query);
  if (!positions.has(key)) {
    const answer = await get("/api/position", query, signal);
    positions.set(key, answer);
    if (positions.size > KEPT) positions.delete(positions.keys().next().value);
  }
  return positions.get(key);
}

/**
 * A section of the page that shows an answer. If the answer takes longer than a quarter of a second, the section says
 * so and offers to stop the request. It also shows errors. A new request cancels the previous one.
 */
export class Loader {
  #element;
  #controller = null;
  #timer = 0;
  #bar = null;

  constructor(element) {
    this.#element = element;
  }

  /** Cancels the pending request. */
  stop() {
    this.#controller?.abort();
    this.#controller = null;
    this.#quiet();
  }

  /** Requests an answer and shows it. If the server reports an error, calls `failed`, and shows the error unless `failed` returns true. */
  async load(asked, show, failed = () => false) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    this.#element.setAttribute("aria-busy", "true");
    this.#timer = setTimeout(() => this.#wait(asked, show, failed), 250);
    try {
      const answer = await asked(controller.signal);
      if (this.#controller !== controller) return;
      this.#quiet();
      show(answer);
    } catch (error) {
      if (this.#controller !== controller) return;
      this.#quiet();
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      if (failed(error)) return;
      // An invalid request fails each time, so there is no button to try again.
      put(this.#element, failure(error, error.status === 400 || error.status === 404 ? null : () => this.load(asked, show, failed)));
    }
  }

  #wait(asked, show, failed) {
    const stopped = () => {
      this.stop();
      put(this.#element, h("div", { class: "message" }, h("p", {}, "Stopped."), again(() => this.load(asked, show, failed))));
    };
    const stop = h("button", { type: "button", class: "quiet", on: { click: stopped } }, "Stop");
    this.#bar = h("div", { class: "waiting" }, h("span", { class: "waiting-bar" }), h("span", { role: "status" }, "Looking…"), stop);
    this.#element.prepend(this.#bar);
  }

  #quiet() {
    clearTimeout(this.#timer);
    this.#bar?.remove();
    this.#bar = null;
    this.#element.removeAttribute("aria-busy");
  }
}

const again = (retry) => h("button", { type: "button", on: { click: retry } }, "Try again");

/** A message about an error, with a button that calls `retry`, if it is given. */
export function failure(error, retry) {
  const sentence = error.message.split("\n");
  const more = sentence.length > 1 ? h("pre", {}, sentence.slice(1).join("\n")) : null;
  const first = sentence[0].charAt(0).toUpperCase() + sentence[0].slice(1);
  return h("div", { class: "message error", role: "alert" }, h("p", {}, first), more, retry ? again(retry) : null);
}

/** A message with the reason why a view is empty. */
export function empty(title, ...hints) {
  return h("div", { class: "message" }, h("p", { class: "message-title" }, title), hints);
}
