// The current view, and the frame around it.

import { h, put, say } from "./dom.js";
import { changed, go, params, plainAddress, viewAddress } from "./address.js";
import { databases, failure } from "./api.js";

/** The views: for each, its path, its name, and the module that shows it. */
const VIEWS = [
  ["/", "Explorer", "./explorer/explorer.js"],
  ["/view/games", "Games", "./view/games.js"],
  ["/view/game/", "Game", "./view/game.js"],
  ["/view/search", "Search", "./view/search.js"],
  ["/view/player", "Player", "./view/player.js"],
  ["/view/repertoire", "Repertoire", "./view/repertoire.js"],
  ["/view/openings", "Openings", "./view/openings.js"],
  ["/view/statistics", "Statistics", "./view/statistics.js"],
  ["/view/sources", "Sources", "./view/sources.js"],
  ["/view/sql", "SQL", "./view/sql.js"],
];

const view = document.querySelector("#view");
let shown = null;
let shownPath = null;

const find = (path) => VIEWS.find(([own]) => own === path || (own.endsWith("/") && own !== "/" && path.startsWith(own)));

async function navigate() {
  const path = location.pathname;
  const found = find(path);
  markNav(path);
  const key = `${path}|${params().get("db") ?? ""}`;
  if (shown && shownPath === key) {
    shown.update();
    return;
  }
  shown?.leave?.();
  shown = null;
  shownPath = key;
  if (!found) {
    put(view, h("div", { class: "page" }, h("h1", {}, "Nothing here"), h("p", {}, "There is no view at this address. ", h("a", { href: plainAddress("/") }, "Go to the explorer"))));
    return;
  }
  try {
    const module = await import(found[2]);
    if (shownPath !== key) return;
    document.title = `${module.view.title} – pgndex`;
    shown = module.view.make();
    shown.show(view);
    window.scrollTo(0, 0);
  } catch (error) {
    put(view, h("div", { class: "page" }, h("h1", {}, found[1]), failure(error)));
    throw error;
  }
}

function markNav(path) {
  const here = path.startsWith("/view/game/") ? "/view/games" : path;
  for (const link of document.querySelectorAll("#nav a")) {
    const own = link.dataset.path;
    link.href = viewAddress(own);
    if (own === here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const at = VIEWS.find(([own]) => own === here);
  const name = document.querySelector("#nav-name");
  if (name) name.textContent = at ? at[1] : "Views";
}

/** A button that switches between light colours, dark colours and the system's setting. */
function schemeSwitch() {
  const names = { auto: "Scheme: system", light: "Scheme: light", dark: "Scheme: dark" };
  const signs = { auto: "◐", light: "○", dark: "●" };
  const button = h("button", { type: "button", class: "icon" });
  const set = (scheme) => {
    if (scheme === "auto") delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = scheme;
    button.textContent = signs[scheme];
    button.setAttribute("aria-label", names[scheme]);
    button.title = names[scheme];
  };
  let scheme = read("scheme");
  set(scheme);
  button.addEventListener("click", () => {
    const order = ["auto", "light", "dark"];
    scheme = order[(order.indexOf(scheme) + 1) % 3];
    set(scheme);
    say(names[scheme]);
    try {
      localStorage.setItem("scheme", scheme);
    } catch { /* Without storage, the choice is lost when the page is closed. */ }
  });
  return button;
}

function read(name) {
  try {
    const value = localStorage.getItem(name);
    return ["light", "dark"].includes(value) ? value : "auto";
  } catch {
    return "auto";
  }
}

function header() {
  const list = h("ul", { id: "nav-list" }, VIEWS.filter(([path]) => path === "/" || !path.endsWith("/")).map(([path, name]) =>
    h("li", {}, h("a", { href: viewAddress(path), "data-path": path }, name))));
  const name = h("span", { id: "nav-name" }, "Views");
  const open = h("button", { type: "button", class: "nav-open", "aria-expanded": "false", "aria-controls": "nav-list" }, name, h("span", { "aria-hidden": "true" }, " ▾"));
  const nav = h("nav", { id: "nav", "aria-label": "Views" }, open, list);
  const toggle = (isOpen) => {
    nav.classList.toggle("open", isOpen);
    open.setAttribute("aria-expanded", String(isOpen));
  };
  open.addEventListener("click", () => toggle(!nav.classList.contains("open")));
  list.addEventListener("click", () => toggle(false));
  nav.addEventListener("keydown", (event) => { if (event.key === "Escape") toggle(false); });
  const chooser = h("div", { class: "database" });
  put(document.querySelector("#top"), h("a", { class: "mark", href: "/" }, "pgndex"), nav, chooser, schemeSwitch());
  chooseDatabase(chooser);
}

async function chooseDatabase(box) {
  const all = await databases().catch(() => []);
  if (all.length < 2) return;
  const options = all.map(({ name, isFirst }) => h("option", { value: isFirst ? "" : name, selected: (params().get("db") ?? "") === (isFirst ? "" : name) }, name));
  const select = h("select", { "aria-label": "Database", on: { change: () => go(changed({ db: select.value, cursor: null, source: null })) } }, options);
  put(box, select);
  window.addEventListener("navigate", () => { select.value = params().get("db") ?? ""; });
}

function follow(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const to = new URL(link.href);
  const isOwn = to.origin === location.origin && (to.pathname === "/" || to.pathname.startsWith("/view/"));
  if (!isOwn || link.hasAttribute("download") || (link.target && link.target !== "_self")) return;
  if (to.pathname === location.pathname && to.hash) return;
  event.preventDefault();
  go(to.pathname + to.search);
}

window.addEventListener("popstate", () => window.dispatchEvent(new Event("navigate")));
window.addEventListener("navigate", navigate);
document.addEventListener("click", follow);
header();
navigate();
