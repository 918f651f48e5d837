// Draws a curve with its bands into an SVG; the functions keep no state.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 12, right: 14, bottom: 48, left: 96 };
const BREAK = 26; // pixels between the two parts of an axis with a gap
const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// Curve: {x, middle, bands: [[low, high], ...], lines, domain, gap}. Arrays have a value for each
// point, null where there is no number. Bands are sorted from the widest to the narrowest, lines
// are dashed, and gap is [low, high] of x or null. Labels: {x, y}. Returns the arguments of `mark`.
export function draw(svg, curve, labels, logarithmic) {
  const { width, height } = svg.getBoundingClientRect();
  const frame = {
    left: MARGIN.left, right: Math.max(width - MARGIN.right, MARGIN.left + 1),
    top: MARGIN.top, bottom: height - MARGIN.bottom,
  };
  const horizontal = across(extent(curve.x), curve.gap, [frame.left, frame.right]);
  const vertical = scale(heights(curve, logarithmic), [frame.bottom, frame.top], logarithmic);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(
    definitions(frame),
    ...axis(horizontal, frame, "x", labels.x),
    ...axis(vertical, frame, "y", labels.y),
    ...gap(horizontal, frame),
    group("domain", shades(curve, horizontal, frame)),
    group("curve", [
      ...curve.bands.map(([low, high], i) =>
        element("path", { class: i ? "inner" : "outer", d: band(curve.x, low, high, horizontal, vertical) })),
      ...curve.lines.map((line) => element("path", { class: "total", d: path(curve.x, line, horizontal, vertical) })),
      element("path", { class: "line", d: path(curve.x, curve.middle, horizontal, vertical) }),
    ]),
    element("rect", { class: "frame", x: frame.left, y: frame.top,
      width: frame.right - frame.left, height: frame.bottom - frame.top }),
    group("mark", []),
  );
  return { curve, horizontal, vertical, frame };
}

// Marks one point of a drawn curve.
export function mark(svg, { curve, horizontal, vertical, frame }, point) {
  const x = horizontal.place(curve.x[point]);
  const marks = [element("line", { class: "cursor", x1: x, x2: x, y1: frame.top, y2: frame.bottom })];
  const y = vertical.place(curve.middle[point]);
  if (Number.isFinite(y) && y >= frame.top && y <= frame.bottom) {
    marks.push(element("circle", { class: "dot", cx: x, cy: y, r: 5 }));
  }
  svg.querySelector(".mark").replaceChildren(...marks);
}

// Formats a number for display.
export function written(value, digits = 4) {
  const { texts: [text], factor } = together([value], digits, (number) => Number(number));
  return text + factor;
}

// Returns the number of digits of a value that shows two digits of its sd: 3 to 12.
export function digitsOf(value, sd) {
  const [large, small] = [value, sd].map((number) => Math.floor(Math.log10(Math.abs(number))));
  const needed = large - small + 2;
  return Number.isFinite(needed) ? Math.min(Math.max(needed, 3), 12) : 3;
}

// Formats numbers for comparison with equal decimals and one power of ten; the largest has `digits`.
export function together(values, digits, tidy = (text) => text) {
  const greatest = Math.max(0, ...values.filter((v) => v !== null).map(Math.abs));
  const exponent = greatest ? Number(greatest.toExponential(digits - 1).split("e")[1]) : 0;
  const plain = exponent > -4 && exponent < 6;
  const decimals = Math.max(0, digits - 1 - (plain ? exponent : 0));
  const texts = values.map((v) => (v === null
    ? "–" : String(tidy((plain ? v : v / 10 ** exponent).toFixed(decimals))).replace("-", "−")));
  return { texts, factor: plain ? "" : `\u00a0×\u00a0${power(exponent)}` };
}

export function scale([low, high], [start, end], logarithmic) {
  const turn = logarithmic ? Math.log10 : (value) => value;
  const [first, last] = [turn(low), turn(high)];
  return {
    low, high, logarithmic, length: Math.abs(end - start),
    place: (value) => (value === null || (logarithmic && value <= 0)
      ? NaN : start + ((turn(value) - first) / (last - first)) * (end - start)),
  };
}

export function extent(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low < high ? [low, high] : [low - 1, high + 1];
}

// Makes a horizontal scale, without the gap if there is one between its ends.
function across([low, high], gap, [start, end]) {
  if (!gap || low >= gap[1] || high <= gap[0]) return scale([low, high], [start, end], false);
  const left = Math.max(gap[0] - low, 0);
  const perUnit = (end - start - BREAK) / (left + Math.max(high - gap[1], 0));
  const edge = start + left * perUnit;
  const place = (value) => {
    if (value <= gap[0]) return start + (value - low) * perUnit;
    if (value >= gap[1]) return edge + BREAK + (value - gap[1]) * perUnit;
    return edge + (BREAK * (value - gap[0])) / (gap[1] - gap[0]);
  };
  return { low, high, gap, logarithmic: false, length: end - start, place };
}

// Computes the range of the vertical axis. It contains the curve inside the domain, and bands and
// the rest of the curve as far as they do not dwarf it. Tall error bars may leave the frame.
function heights({ middle, bands, lines, domain }, logarithmic) {
  const [turn, back] = logarithmic ? [Math.log10, (value) => 10 ** value] : [Number, Number];
  const usable = (value) => value !== null && (!logarithmic || value > 0);
  const all = [...middle.keys()].filter((i) => usable(middle[i]));
  const trusted = all.filter((i) => domain[i] !== "outside");
  const points = trusted.length ? trusted : all;
  if (!points.length) return [0.1, 1];
  const values = (series, at) => at.map((i) => series[i]).filter(usable).map(turn);
  const [low, high] = range(values(middle, points));
  const inner = bands.at(-1).map((series) => median(values(series, points)));
  const room = Math.max((high - low) / 2, Math.min(1.5 * (inner[1] - inner[0]) || 0, logarithmic ? 2 : Infinity));
  const others = [...values(middle, all), ...[...bands.flat(), ...lines].flatMap((series) => values(series, points))];
  const [lowest, highest] = range(others);
  const bottom = Math.max(lowest, low - room);
  const [first, last] = extent([bottom, Math.min(highest, high + room)]);
  const margin = 0.05 * (last - first);
  const zero = !logarithmic && first >= 0 && first <= last - first;
  return [zero ? -margin / 2 : back(first - margin), back(last + margin)];
}

function range(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function median(values) {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

export function definitions({ left, right, top, bottom }) {
  const definition = element("defs", {});
  const clip = element("clipPath", { id: "within" });
  clip.append(element("rect", { x: left, y: top, width: right - left, height: bottom - top }));
  const dots = element("pattern", { id: "dots", width: 7, height: 7, patternUnits: "userSpaceOnUse" });
  dots.append(element("circle", { cx: 2, cy: 2, r: 1.4 }));
  const hatch = element("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse" });
  hatch.append(element("path", { d: "M-1 8 L8 -1 M-1 1 L1 -1 M6 8 L8 6" }));
  definition.append(clip, dots, hatch);
  return definition;
}

// Draws a gap of the axis: a blank strip between two rules, with its ends below.
function gap({ gap: ends, place }, frame) {
  if (!ends) return [];
  const [start, end] = ends.map(place);
  return [
    element("rect", { class: "gap", x: start, width: end - start, y: frame.top, height: frame.bottom - frame.top }),
    ...ends.map((value, i) => element("text", {
      x: place(value) + (i ? -2 : 2), y: frame.bottom + 18, "text-anchor": i ? "start" : "end",
    }, written(value, 2))),
  ];
}

export function axis(along, frame, direction, label) {
  const upright = direction === "y";
  const clear = ({ value }) => !along.gap || along.gap.every((end) => Math.abs(along.place(value) - along.place(end)) > 2 * BREAK);
  const marks = ticks(along).filter(clear).flatMap(({ value, text }) => {
    const at = along.place(value);
    const line = upright
      ? { x1: frame.left, x2: frame.right, y1: at, y2: at }
      : { x1: at, x2: at, y1: frame.top, y2: frame.bottom };
    const place = upright
      ? { x: frame.left - 8, y: at, "text-anchor": "end", "dominant-baseline": "middle" }
      : { x: at, y: frame.bottom + 18, "text-anchor": "middle" };
    return [element("line", { class: "grid", ...line }), element("text", place, text)];
  });
  const middle = (frame.top + frame.bottom) / 2;
  const title = upright
    ? { transform: `translate(16 ${middle}) rotate(-90)`, "text-anchor": "middle" }
    : { x: (frame.left + frame.right) / 2, y: frame.bottom + 40, "text-anchor": "middle" };
  return [...marks, element("text", { class: "title", ...title }, label)];
}

function ticks({ low, high, logarithmic, length }) {
  if (logarithmic) {
    const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
    const decades = Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => first + i);
    if (decades.length > 2) {
      const every = Math.ceil(decades.length / 8);
      return decades.filter((_, i) => i % every === 0)
        .map((exponent) => ({ value: 10 ** exponent, text: power(exponent) }));
    }
    const between = [first - 1, ...decades].flatMap((exponent) => [1, 2, 5].map((digit) => digit * 10 ** exponent))
      .filter((value) => value >= low && value <= high);
    if (between.length > 1) return between.map((value) => ({ value, text: written(value, 1) }));
  }
  const rough = (high - low) / Math.max(3, Math.min(9, length / 70));
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * size >= rough) * size;
  const count = Math.floor(high / step) - Math.ceil(low / step) + 1;
  return Array.from({ length: count }, (_, i) => (Math.ceil(low / step) + i) * step)
    .map((value) => ({ value, text: written(Number(value.toPrecision(12)), 3) }));
}

function power(exponent) {
  return `10${[...String(exponent)].map((sign) => SUPERSCRIPT[sign]).join("")}`;
}

// Draws rectangles behind intervals of points that are not inside the domain.
function shades({ x, domain }, horizontal, frame) {
  const middle = (i) => horizontal.place((x[i] + x[i + 1]) / 2);
  return runs(x.length, (i) => domain[i]).filter(([first]) => domain[first] !== "inside")
    .map(([first, last]) => {
      const start = first ? middle(first - 1) : frame.left;
      const end = last < x.length - 1 ? middle(last) : frame.right;
      return element("rect", {
        class: domain[first].replace(" ", "-"), x: Math.min(start, end), width: Math.abs(end - start),
        y: frame.top, height: frame.bottom - frame.top,
      });
    });
}

export function path(x, y, horizontal, vertical) {
  return segments(x, y, horizontal, vertical).map(([first, last]) =>
    `M${corners(x, y, first, last, horizontal, vertical).join("L")}`).join("");
}

export function band(x, low, high, horizontal, vertical) {
  const floor = vertical.logarithmic ? low.map((value) => (value > 0 ? value : vertical.low / 10)) : low;
  return segments(x, high, horizontal, vertical).map(([first, last]) => {
    const upper = corners(x, high, first, last, horizontal, vertical);
    const lower = corners(x, floor, first, last, horizontal, vertical).reverse();
    return `M${[...upper, ...lower].join("L")}Z`;
  }).join("");
}

function corners(x, y, first, last, horizontal, vertical) {
  return x.slice(first, last + 1).map((value, i) =>
    `${horizontal.place(value).toFixed(2)},${clamp(vertical.place(y[first + i])).toFixed(2)}`);
}

// Limits pixels far above or below the frame, which an SVG cannot draw.
function clamp(pixel) {
  return Math.max(-1e4, Math.min(1e4, pixel));
}

// Returns intervals [first, last] of points with a number, each on one side of the gap.
function segments(x, y, { gap: ends }, vertical) {
  const there = (i) => Number.isFinite(vertical.place(y[i]));
  const side = (i) => there(i) && (ends && x[i] >= ends[1] ? "right" : "left");
  return runs(y.length, side).filter(([first]) => there(first));
}

// Returns intervals [first, last] over which `kind` is constant.
function runs(count, kind) {
  const found = [];
  for (let i = 0; i < count; i += 1) {
    if (i && kind(i) === kind(i - 1)) found.at(-1)[1] = i;
    else found.push([i, i]);
  }
  return found;
}

export function group(name, children) {
  const made = element("g", { class: name, "clip-path": "url(#within)" });
  made.append(...children);
  return made;
}

export function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
