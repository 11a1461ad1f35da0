// An engine's evaluation of a position.

/** An evaluation as people write it. */
export function evaluationText({ cp, mate }) {
  if (mate !== undefined && mate !== null) return `#${mate}`;
  if (cp === undefined || cp === null) return "";
  return `${cp > 0 ? "+" : cp < 0 ? "−" : ""}${(Math.abs(cp) / 100).toFixed(2)}`;
}
