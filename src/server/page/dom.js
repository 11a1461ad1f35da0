// Makes elements from data. Text is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element: `on` has event listeners, `prop` properties, `css` style properties; the rest are attributes. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an SVG element, from the same arguments as `h`. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "prop") {
      Object.assign(element, value);
    } else if (name === "css") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/** Appends nodes and texts, also those in lists; ignores null, undefined, false and empty texts. */
export function append(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces the content of an element. */
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

const ICONS = {
  first: "M4 3v10M13 3L6 8l7 5z",
  back: "M11.5 3l-7 5 7 5z",
  forward: "M4.5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  turn: "M5 13V3M2 6l3-3 3 3M11 3v10M8 10l3 3 3-3",
};

/** A small icon for a button. Screen readers skip it, so the button needs a label. */
export function icon(name) {
  const path = svg("path", { d: ICONS[name], fill: name === "turn" ? "none" : "currentColor", stroke: "currentColor", "stroke-width": 1.5, "stroke-linejoin": "round", "stroke-linecap": "round" });
  return svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon-image" }, path);
}

let serial = 0;
/** A new id, for an element that another element refers to. */
export const unique = (prefix) => `${prefix}-${++serial}`;

const NUMBER = new Intl.NumberFormat("en");
/** A number as people write it: 12,345. */
export const number = (value) => (value === null || value === undefined ? "–" : NUMBER.format(value));

/** A number with its noun: "1 game", "2,345 games". */
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

/** A percentage: 0.4 %, 12 %. */
export function percent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.1) return "<0.1 %";
  return `${share < 9.95 && share > 0 && share < 99.95 ? share.toFixed(1) : Math.round(share)} %`;
}

/** A file size with its unit: 1.5 MB. */
export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  let size = value;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at += 1;
  }
  return `${at === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`;
}

/** A date of a PGN, without its unknown parts: 2021.06.?? becomes 2021-06. */
export function date(text) {
  if (!text) return "";
  const known = text.split(".").filter((part) => !part.includes("?"));
  return known.join("-");
}

/** A result as people write it. */
export const result = (text) => (text === "1/2-1/2" ? "½–½" : (text ?? "").replace("-", "–"));

/** Announces a text to screen readers. */
export function say(text) {
  const region = document.querySelector("#live");
  if (region) region.textContent = text;
}

/** Whether a key was not meant for the view: it was pressed in a field, a grid or a dialog, or together with Ctrl, Alt or Meta. */
export function isTyping(event) {
  const at = event.target;
  if (event.altKey || event.ctrlKey || event.metaKey) return true;
  return at instanceof Element && at.closest("input, textarea, select, [contenteditable], [role=grid], [role=dialog]") !== null;
}

/** Saves a text as a file, as a download of the browser. */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Copies a text to the clipboard, and shows the result on the button that was pressed. */
export async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    say("Copied");
  } catch {
    button.textContent = "Copying is not allowed";
    say("The browser does not allow copying on this page");
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}
