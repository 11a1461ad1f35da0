// The curves of a game: evaluations and clocks.

import { svg } from "../dom.js";
import { gameCurve, legend } from "./chart.js";
import { evaluationText } from "../moves/evaluation.js";

/** Hundredths of a second as a clock shows them. */
export function clockText(hundredths) {
  const seconds = Math.floor(hundredths / 100);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** An evaluation as a height, from 0 (Black wins) to 1 (White wins); null if there is none. */
function chance({ cp, mate }) {
  if (mate !== undefined && mate !== null) return mate > 0 ? 1 : 0;
  if (cp === undefined || cp === null) return null;
  return 1 / (1 + Math.exp(-0.0037 * cp));
}

function mainLine(tree) {
  const nodes = [tree.root];
  while (nodes.at(-1).children.length > 0) nodes.push(nodes.at(-1).children[0]);
  return nodes;
}

const moveName = (tree, node) => (node.parent ? tree.named(node) : "start");

/** The curve of evaluations; null if there are fewer than two. */
export function evaluations(game, tree, pick) {
  const nodes = mainLine(tree);
  const values = nodes.map((node) => chance(node.notes));
  if (values.filter((value) => value !== null).length < 2) return null;
  const rows = nodes.filter((node) => evaluationText(node.notes)).map((node) => [moveName(tree, node), evaluationText(node.notes)]);
  const body = (x, width, height) => {
    const y = (value) => 1 + (1 - value) * (height - 2);
    const known = values.map((value, ply) => [ply, value]).filter(([, value]) => value !== null);
    const top = known.map(([ply, value]) => `${x(ply).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    const [first, last] = [x(0), x(known.at(-1)[0])];
    const begin = `${first.toFixed(1)} ${y(known[0][1]).toFixed(1)}L`;
    const slips = nodes.filter((node) => (node.notes.nags ?? []).some((nag) => nag === 2 || nag === 4) && chance(node.notes) !== null);
    return [
      svg("rect", { x: 0, y: 0, width, height, class: "part-black" }),
      svg("path", { d: `M${first} ${height}L${begin}${top}L${last} ${height}Z`, class: "part-white" }),
      svg("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2, class: "middle" }),
      svg("path", { d: `M${top}`, class: "curve thin" }),
      slips.map((node) => svg("circle", { cx: x(node.ply), cy: y(chance(node.notes)), r: 3, class: node.notes.nags.includes(4) ? "slip blunder" : "slip mistake" })),
    ];
  };
  return gameCurve("Evaluation", { plies: game.ply_count, heads: ["Move", "Evaluation"], rows, body, pick });
}

/** The curves of both clocks; null if fewer than four moves have a clock. */
export function clocks(game, tree, pick) {
  const nodes = mainLine(tree).filter((node) => node.notes.clock !== undefined && node.parent);
  if (nodes.length < 4) return null;
  const most = Math.max(...nodes.map((node) => node.notes.clock));
  const rows = nodes.map((node) => [moveName(tree, node), clockText(node.notes.clock)]);
  const series = [{ name: "White", kind: "white" }, { name: "Black", kind: "black" }];
  const body = (x, width, height) => {
    const y = (value) => 4 + (1 - value / most) * (height - 6);
    const path = (isWhite) => nodes.filter((node) => tree.numberOf(node).isWhite === isWhite)
      .map((node, at) => `${at ? "L" : "M"}${x(node.ply).toFixed(1)} ${y(node.notes.clock).toFixed(1)}`).join("");
    return [
      svg("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5, class: "axis" }),
      svg("path", { d: path(true), class: "curve white" }),
      svg("path", { d: path(false), class: "curve black" }),
    ];
  };
  return gameCurve("Clocks", { plies: game.ply_count, heads: ["Move", "Left"], rows, body, pick, height: 80, more: legend(series, `up to ${clockText(most)}`) });
}
