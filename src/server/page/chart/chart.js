// Small charts, each with a table of its figures.

import { h, number, svg, unique } from "../dom.js";

/** A picture that is redrawn when its width changes. */
function drawn(height, label, draw) {
  const box = h("div", { class: "chart-box", css: { height: `${height}px` } });
  let width = 0;
  const redraw = () => {
    if (width < 40) return;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, draw(width, height));
    box.replaceChildren(picture);
  };
  const observer = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === width) return;
    width = now;
    redraw();
  });
  observer.observe(box);
  return { box, redraw };
}

/** A chart with its heading and the table of its figures. */
function figure(title, box, heads, rows, more = null) {
  const id = unique("chart");
  const cells = (row) => row.map((value, at) => (at === 0 ? h("th", { scope: "row" }, value) : h("td", { class: "num" }, typeof value === "number" ? number(value) : value)));
  const made = () => h("table", {}, h("caption", { class: "unseen" }, title),
    h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { scope: "col", class: at > 0 ? "num" : null }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, cells(row)))));
  const holder = h("div", { class: "chart-table", tabindex: "0", role: "group", "aria-label": `Figures: ${title}` });
  const table = h("details", { class: "chart-figures" }, h("summary", {}, "Figures"), holder);
  table.addEventListener("toggle", () => { if (table.open && !holder.firstChild) holder.append(made()); });
  return h("figure", { class: "chart", "aria-labelledby": id }, h("figcaption", { id }, title), more, box, table);
}

/** A round number that is at least the value, and at least 4. */
function ceiling(value) {
  if (value <= 4) return 4;
  const unit = 10 ** Math.floor(Math.log10(value));
  // Half of the result must be an integer, too.
  const steps = value < 10 ? [4, 6, 8, 10] : value < 100 ? [1, 2, 3, 4, 5, 6, 8, 10] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return steps.map((step) => step * unit).find((step) => step >= value);
}

const short = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(2)}M` : value >= 1000 ? `${+(value / 1000).toFixed(2)}k` : number(value));

/** Returns horizontal lines with their numbers, and the function from a value to its y coordinate. */
function scale(most, width, height, left, bottom, label = short) {
  const y = (value) => height - bottom - (value / most) * (height - bottom - 8);
  const lines = [0, 0.5, 1].map((part) => {
    const at = Math.round(y(part * most)) + 0.5;
    return [svg("line", { x1: left, x2: width, y1: at, y2: at, class: part === 0 ? "axis" : "grid" }),
      svg("text", { x: left - 6, y: at + 4, "text-anchor": "end", class: "tick" }, label(part * most))];
  });
  return { y, lines };
}

/** The round step between labels, if the texts are evenly spaced numbers and there is only space for every `least`th; otherwise null. */
function roundStep(texts, least) {
  const [first, second] = [Number(texts[0]), Number(texts[1])];
  const each = second - first;
  if (least === 1 || !(each > 0) || !texts.every((text, at) => Number(text) === first + at * each)) return null;
  return [2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].find((step) => step >= least * each && step % each === 0) ?? null;
}

/** Names under bars, as many as fit. */
function names(texts, x, width, height) {
  const longest = Math.max(...texts.map((text) => text.length), 1) * 7 + 12;
  const step = Math.max(1, Math.ceil((texts.length * longest) / width));
  const right = x(0) + width;
  const round = roundStep(texts, step);
  const fits = (text, at) => (round ? Number(text) % round === 0 : at % step === 0) && x(at) + text.length * 3.5 + 2 <= right;
  return texts.map((text, at) => (fits(text, at) ? svg("text", { x: x(at), y: height - 4, "text-anchor": "middle", class: "tick" }, text) : null));
}

/**
 * Bars side by side. Each of `rows` has `name` and `parts`: pairs of a class and a value, the first at the bottom.
 * `heads` are the headers of the table: first the header of the names, then those of the parts.
 */
export function bars(title, rows, { heads, height = 180, link = null }) {
  const sum = (row) => row.parts.reduce((all, [, value]) => all + value, 0);
  const most = ceiling(Math.max(...rows.map(sum), 1));
  const draw = (width) => {
    const [left, bottom] = [44, 20];
    const { y, lines } = scale(most, width, height, left, bottom);
    const step = (width - left) / rows.length;
    const wide = Math.max(1, Math.min(48, step - (step > 4 ? 2 : 0)));
    const x = (at) => left + step * (at + 0.5);
    const columns = rows.map((row, at) => {
      let base = 0;
      const parts = row.parts.map(([kind, value]) => {
        const [top, foot] = [y(base + value), y(base)];
        base += value;
        return svg("rect", { x: (x(at) - wide / 2).toFixed(1), y: top.toFixed(1), width: wide.toFixed(1), height: Math.max(0, foot - top).toFixed(1), class: `part-${kind}` });
      });
      const said = `${row.name}: ${row.parts.map(([, value], index) => `${heads[index + 1]} ${number(value)}`).join(", ")}`;
      return svg("g", { class: wide < 5 ? "column thin" : "column" }, svg("title", {}, said), svg("rect", { x: x(at) - step / 2, y: 0, width: step, height: height - bottom, fill: "transparent" }), parts);
    });
    return [lines, columns, names(rows.map((row) => String(row.name)), x, width - left, height)];
  };
  const { box } = drawn(height, `${title}. The table below has the same figures.`, draw);
  const figures = rows.map((row) => [link ? h("a", { href: link(row) }, row.name) : String(row.name), ...row.parts.map(([, value]) => value)]);
  return figure(title, box, heads, figures);
}

/** Curves above the same labels. Each of `series` has `name`, `kind` and `values`; a value of null is a gap. */
export function lines(title, labels, series, { heads, height = 160, least = 0, format = short }) {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const low = Math.min(least ?? Infinity, ...all);
  const most = ceiling(Math.max(...all, 1) - low);
  const draw = (width) => {
    const [left, bottom] = [48, 20];
    const grid = scale(most, width, height, left, bottom, (value) => format(value + low));
    const x = (at) => left + 4 + ((width - left - 8) * at) / Math.max(1, labels.length - 1);
    const paths = series.map(({ kind, values }) => svg("path", { d: pathOf(values, x, (value) => grid.y(value - low)), class: `curve ${kind}` }));
    return [grid.lines, paths, names(labels.map(String), x, width - left, height)];
  };
  const { box } = drawn(height, `${title}. The table below has the same figures.`, draw);
  const rows = labels.map((label, at) => [String(label), ...series.map(({ values }) => (values[at] === null ? "–" : format(values[at])))]);
  return figure(title, box, heads, rows, legend(series));
}

const legend = (series, more = null) => (series.length < 2 ? null : h("p", { class: "legend" }, series.map(({ name, kind }) => h("span", { class: `key ${kind}` }, name)), more ? h("span", {}, more) : null));

/** Rows in even steps: adds empty rows for missing steps, and leaves out rows without a value. Returns at most 600 rows. */
export function filled(rows, name, step) {
  const known = rows.filter((row) => row[name] !== null);
  if (known.length === 0) return [];
  const by = new Map(known.map((row) => [row[name], row]));
  const [first, last] = [known[0][name], known.at(-1)[name]];
  const all = [];
  for (let at = first; at <= last && all.length < 600; at += step) all.push(by.get(at) ?? { [name]: at, games: 0, white: 0, draws: 0, black: 0, unfinished: 0 });
  return all;
}

function pathOf(values, x, y) {
  let path = "";
  let isPen = false;
  values.forEach((value, at) => {
    if (value === null) {
      isPen = false;
      return;
    }
    const point = `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    // A value without neighbours becomes a line of length zero, which is drawn as a dot.
    path += isPen ? `L${point}` : `M${point}h0`;
    isPen = true;
  });
  return path;
}

/**
 * The curve of a game: a value for each ply, drawn by `body`, with a mark. A click calls `pick` with the ply.
 * Returns the figure, and the function `mark`, which moves the mark to a ply.
 */
export function gameCurve(title, { plies, heads, rows, body, height = 96, pick, more = null }) {
  let at = 0;
  const x = (ply, width) => 2 + ((width - 4) * ply) / Math.max(1, plies);
  const { box, redraw } = drawn(height, `${title}. The table below has the same figures.`, (width) => {
    const here = x(at, width);
    return [body((ply) => x(ply, width), width, height), svg("line", { x1: here, x2: here, y1: 0, y2: height, class: "now" })];
  });
  box.classList.add("curve-box");
  box.addEventListener("click", (event) => {
    const bounds = box.getBoundingClientRect();
    pick(Math.max(0, Math.min(plies, Math.round(((event.clientX - bounds.left - 2) / (bounds.width - 4)) * plies))));
  });
  const mark = (ply) => {
    at = ply;
    redraw();
  };
  return { element: figure(title, box, heads, rows, more), mark };
}

export { legend, pathOf };
