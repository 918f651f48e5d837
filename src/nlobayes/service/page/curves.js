// Draws curves of many processes into one SVG, each with a band and its name at the end.

import { axis, band, definitions, element, extent, group, path, scale } from "./plot.js";

const MARGIN = { top: 12, right: 180, bottom: 48, left: 84 };
const LINE = 14; // pixels between two names
const NARROW = 520; // pixels of a screen without room for names
const LOWEST = 1e-7; // pb
const HEAVIEST = 3000; // GeV

// Curves: [{ name, title, kind, x, middle, low, high }]; arrays have a value for each point. Kinds are
// classes of the style sheet. Returns the frame. `chosen` is the name of the highlighted curve.
export function drawCurves(svg, curves, labels, chosen) {
  const { width, height } = svg.getBoundingClientRect();
  const named = width > NARROW;
  const frame = {
    left: MARGIN.left, right: Math.max(width - (named ? MARGIN.right : MARGIN.top), MARGIN.left + 1),
    top: MARGIN.top, bottom: height - MARGIN.bottom,
  };
  const all = curves.flatMap(({ middle }) => middle.filter((value) => value !== null));
  const masses = curves.flatMap(({ x }) => x).filter((mass) => mass <= HEAVIEST);
  const horizontal = scale(extent(masses), [frame.left, frame.right], false);
  const [low, high] = extent(all.length ? all : [0.1, 1]);
  const vertical = scale([Math.max(low, LOWEST) / 1.5, high * 1.5], [frame.bottom, frame.top], true);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(
    definitions(frame),
    ...axis(horizontal, frame, "x", labels.x),
    ...axis(vertical, frame, "y", labels.y),
    group("curves", curves.flatMap((curve) => {
      const state = chosen && chosen !== curve.name ? " faint" : "";
      return [
        element("path", { class: `band ${curve.kind}${state}`, d: band(curve.x, curve.low, curve.high, horizontal, vertical) }),
        element("path", { class: `process ${curve.kind}${state}`, d: path(curve.x, curve.middle, horizontal, vertical) }),
      ];
    })),
    element("rect", { class: "frame", x: frame.left, y: frame.top,
      width: frame.right - frame.left, height: frame.bottom - frame.top }),
    ...(named ? names : () => [])(curves, horizontal, vertical, frame, chosen),
  );
  return { horizontal, vertical, frame };
}

// Writes the names beside the ends of the curves, from top to bottom without overlap.
function names(curves, horizontal, vertical, frame, chosen) {
  const ends = curves.map((curve) => {
    const shown = curve.middle.findLastIndex((value, i) => value > vertical.low && curve.x[i] <= HEAVIEST);
    return { curve, x: horizontal.place(curve.x[shown]), y: vertical.place(curve.middle[shown]) };
  }).filter(({ y }) => Number.isFinite(y)).sort((one, other) => one.y - other.y);
  let below = frame.bottom - LINE * (ends.length - 1);
  let above = frame.top - LINE;
  return ends.flatMap(({ curve, x, y }) => {
    const at = Math.max(above + LINE, Math.min(y, below));
    [above, below] = [at, below + LINE];
    const state = chosen && chosen !== curve.name ? " faint" : "";
    return [
      element("path", { class: `lead ${curve.kind}${state}`, d: `M${x},${y}L${frame.right + 6},${at}` }),
      element("text", { class: `name ${curve.kind}${state}`, x: frame.right + 10, y: at, "dominant-baseline": "middle",
        "data-name": curve.name }, curve.title),
    ];
  });
}
