// The page: it requests a curve from the service after every change of an input, and shows it.

import { digitsOf, draw, mark, together, written } from "./plot.js";

const POINTS = 201;
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageDown: -20, PageUp: 20, Home: -Infinity, End: Infinity };
const SOURCES = { regression: "surrogate", scale: "scale", pdf: "parton distributions", alpha_s: "α_s", total: "total" };
const NEAR = "farther from training rows than any validation row";
const at = (id) => document.getElementById(id);

let surrogate;
let values = {};
let answer;
let drawn;
let chosen; // point chosen by pointer or keys; undefined: the point at the value of the input
let point;
let pending = new AbortController();

start().catch(showError);

async function start() {
  surrogate = await request("api/surrogate");
  describe();
  at("along").append(...surrogate.inputs.map(({ name }) => new Option(label(name), name)));
  const axis = surrogate.scale === "log10" ? "log" : "linear";
  document.querySelector(`input[name=axis][value=${axis}]`).checked = true;
  at("unit-norm-label").hidden = !surrogate.mixings.length;
  at("along").addEventListener("change", () => { chosen = undefined; show(); });
  at("unit-norm").addEventListener("change", show);
  at("reset").addEventListener("click", () => { values = typical(); show(); });
  at("download").addEventListener("click", download);
  at("copy").addEventListener("click", copy);
  for (const radio of document.querySelectorAll("input[name=axis]")) radio.addEventListener("change", plot);
  for (const kind of ["pointermove", "pointerdown"]) at("plot").addEventListener(kind, follow);
  at("plot").addEventListener("keydown", step);
  new ResizeObserver(() => answer && plot()).observe(at("plot"));
  values = typical();
  await show();
}

async function request(path, options) {
  const response = await fetch(path, options).catch((error) => {
    throw error.name === "AbortError" ? error : new Error("the service does not answer; is it still running?");
  });
  const content = await response.json().catch(() => ({ detail: response.statusText }));
  if (!response.ok) throw new Error(content.detail);
  return content;
}

function showError(error) {
  at("problem").textContent = `${error.message}`;
  at("problem").hidden = false;
}

function typical() {
  return Object.fromEntries(surrogate.inputs.map(({ name, typical }) => [name, typical]));
}

// Describes the surrogate, and whether it passed its checks.
function describe() {
  const { target, of, origin, draws, run, failed, converged, bibtex } = surrogate;
  const facts = [`${draws} posterior draws`, accuracy(), run && `run ${run}`];
  document.title = `${target} – nlobayes`;
  at("title").textContent = `Surrogate of ${target}`;
  at("of").textContent = `of ${physical(of)}`;
  at("about").textContent = facts.filter(Boolean).join(" · ");
  at("verdict").append(
    converged === null ? remark("approximate: convergence does not apply") :
      badge(converged && !failed.convergence.length, "chains converged", "chains did NOT converge", failed.convergence),
    badge(!failed.calibration.length, "error bars calibrated", "error bars NOT calibrated", failed.calibration),
  );
  at("meaning").textContent = meaning();
  at("origin").replaceChildren(...entries(Object.fromEntries(
    Object.entries(origin).map(([name, text]) => [name.replaceAll("_", " "), physical(text)]),
  )));
  at("bibtex").textContent = bibtex;
}

// Relative errors have no meaning for targets that pass through zero.
function accuracy() {
  const { relative_error_p50: relative, rmse_target: absolute } = surrogate.scores.test ?? {};
  if (surrogate.scale === "log10") return relative && `median error ${percent(relative)} on test rows`;
  return absolute && `root mean square error ${written(absolute, 2)}${withUnit(surrogate.unit)} on test rows`;
}

// Explains what error bars contain, and what they do not contain.
function meaning() {
  const { coverage_68: inner, coverage_95: outer } = surrogate.scores.test ?? {};
  const failed = surrogate.failed.calibration;
  return [
    "The value that the original calculation would give lies in the 68 % interval at 68 of 100 points like the training data, in the 95 % interval at 95 of 100.",
    "Their widths were calibrated on rows that were not used for training.",
    inner && outer && `Of other test rows, ${percent(inner, 3)} and ${percent(outer, 3)} lie within.`,
    failed.length && `Do not rely on them: ${failed.join(", ")} failed.`,
    surrogate.theory.length
      ? `They do not include the uncertainty of the calculation itself. The total error adds in quadrature its stated errors: ${surrogate.theory.map((source) => SOURCES[source]).join(", ")}.`
      : "They do not include the uncertainty of the calculation itself: missing orders, parton distributions, its inputs.",
  ].filter(Boolean).join(" ");
}

function physical(text) {
  return text.replaceAll("->", "→").replace(/chi0_(\d)/g, (_, digit) => `χ⁰${SUBSCRIPTS[digit]}`);
}

function remark(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

function badge(passed, good, bad, checks) {
  const item = document.createElement("li");
  item.className = passed ? "passed" : "failed";
  item.textContent = passed ? `✓ ${good}` : `✗ ${bad}${checks.length ? `: ${checks.join(", ")}` : ""}`;
  return item;
}

// Rebuilds the fixed inputs, then the curve.
async function show() {
  const [along, others] = [true, false].map((is) => surrogate.inputs.filter(({ name }) => (name === at("along").value) === is));
  at("inputs").replaceChildren(...others.map((one) => input(one, ["number", "range"])));
  at("reader").replaceChildren(input(along[0], ["number"]));
  normalise();
  await update();
}

function input({ name, unit, low, high }, types) {
  const row = document.createElement("div");
  row.className = "input";
  const text = document.createElement("label");
  text.textContent = label(name) + (unitOf(unit) && ` in ${unit}`);
  text.htmlFor = `number-${name}`;
  const controls = types.map((type) => {
    const control = Object.assign(document.createElement("input"), { type, min: low, max: high, step: "any" });
    control.id = `${type}-${name}`;
    control.dataset.input = name;
    control.setAttribute("aria-label", `${name}${unitOf(unit) && ` in ${unit}`}`);
    control.addEventListener("input", () => move(name, control));
    return control;
  });
  row.append(text, ...controls);
  fill(controls, values[name]);
  return row;
}

function move(name, control) {
  const { gap } = surrogate.inputs.find((one) => one.name === name);
  const within = gap !== null && control.value > gap[0] && control.value < gap[1];
  if (within && control.type === "range") control.value = nearer(gap, control.value);
  const message = `there are no training data between ${gap?.map((end) => written(end, 3)).join(" and ")}`;
  control.setCustomValidity(within && control.type === "number" ? message : "");
  if (!control.checkValidity() || control.value === "") return;
  values[name] = Number(control.value);
  if (name === at("along").value) chosen = undefined;
  normalise(name);
  for (const other of document.querySelectorAll("[data-input]")) {
    if (other !== control) fill([other], values[other.dataset.input]);
  }
  update();
}

function fill(controls, value) {
  for (const control of controls) {
    control.value = control.type === "number" ? Number(value.toPrecision(5)) : value;
  }
}

function nearer([low, high], value) {
  return value - low < high - value ? low : high;
}

// Keeps rows of mixings at unit length by scaling all but the one that was moved, or reports their length.
function normalise(moved) {
  const along = at("along").value;
  const notes = surrogate.mixings.map((row) => {
    if (at("unit-norm").checked && row.includes(along)) {
      return `${row.map(label).join(", ")} are scaled to unit length at every point.`;
    }
    const free = row.filter((name) => name !== moved);
    const left = 1 - (row.includes(moved) ? values[moved] ** 2 : 0);
    const squares = free.reduce((sum, name) => sum + values[name] ** 2, 0);
    if (at("unit-norm").checked && squares > 0 && left >= 0) {
      const factor = Math.sqrt(left / squares);
      for (const name of free) values[name] *= factor;
    }
    const total = row.filter((name) => name !== along).reduce((sum, name) => sum + values[name] ** 2, 0);
    if (row.includes(along)) return `${row.map(label).join(", ")} are of unit length at few points or none.`;
    if (Math.abs(total - 1) < 0.005) return "";
    return `The squares of ${row.map(label).join(", ")} sum to ${written(total, 3)}, not 1: no particle has these mixings.`;
  });
  at("norm").textContent = notes.filter(Boolean).join(" ");
}

// Requests the curve; a later request cancels an earlier one.
async function update() {
  pending.abort();
  pending = new AbortController();
  const query = new URLSearchParams({
    along: at("along").value, through: values[at("along").value], leave_gap: true, steps: POINTS, unit_norm: at("unit-norm").checked && surrogate.mixings.length > 0,
  });
  for (const [name, value] of Object.entries(values)) query.set(`at.${name}`, value);
  at("plot").setAttribute("aria-busy", "true");
  try {
    answer = await request(`api/scan?${query}`, { signal: pending.signal });
    at("problem").hidden = true;
    plot();
    at("plot").setAttribute("aria-busy", "false");
  } catch (error) {
    if (error.name !== "AbortError") showError(error);
  }
}

function plot() {
  const [lowest, low, high, highest] = answer.quantiles;
  const column = answer.inputs.indexOf(answer.along);
  const curve = {
    x: answer.points.map((row) => row[column]),
    middle: answer.median, bands: [[lowest, highest], [low, high]],
    lines: totals(), domain: answer.domain, gap: surrogate.inputs[column].gap,
  };
  at("total").hidden = !curve.lines.length;
  at("gaps").hidden = !hasGaps(curve.domain);
  const unit = unitOf(surrogate.inputs[column].unit);
  const labels = { x: label(answer.along) + (unit && ` in ${unit}`), y: targetLabel() };
  drawn = draw(at("plot"), curve, labels, document.querySelector("input[name=axis]:checked").value === "log");
  at("plot").setAttribute("aria-label", `${labels.y} along ${labels.x}`);
  read(chosen ?? nearest(curve.x, values[answer.along]));
}

// Returns whether there are points near the edge between the first and the last inside.
function hasGaps(domain) {
  return domain.slice(domain.indexOf("inside"), domain.lastIndexOf("inside")).includes("near edge");
}

// Returns the median with its total error down and up, if there are theory errors.
function totals() {
  return ["total_down", "total_up"].filter((name) => name in answer.errors).map((name) =>
    answer.median.map((median, i) => (median === null || answer.errors[name][i] === null
      ? null : median * (1 + answer.errors[name][i]))));
}

function nearest(all, value) {
  const distances = all.map((other) => Math.abs(other - value));
  return distances.indexOf(Math.min(...distances));
}

function read(number) {
  point = number;
  mark(at("plot"), drawn, point);
  const [lowest, low, high, highest] = answer.quantiles.map((all) => all[point]);
  const along = surrogate.inputs[answer.inputs.indexOf(answer.along)];
  const x = drawn.curve.x[point];
  at("reading").replaceChildren(...entries({
    [label(answer.along)]: written(x) + withUnit(along.unit),
    median: inUnit([answer.median[point]], ""),
    "68 % interval": inUnit([low, high], " to "),
    "95 % interval": inUnit([lowest, highest], " to "),
    "mean ± sd": inUnit([answer.mean[point], answer.total_sd[point]], " ± "),
    ...errors(),
    "training data": [answer.domain[point], answer.domain[point] === "near edge" && NEAR, answer.reasons[point]].filter(Boolean).join(": "),
  }));
  const box = at(`number-${along.name}`);
  if (box !== document.activeElement) fill([box], x);
}

// Returns the errors of the point by source, down and up.
function errors() {
  const sources = Object.keys(SOURCES).filter((source) => `${source}_down` in answer.errors);
  return Object.fromEntries(sources.map((source) => [
    `${SOURCES[source]} error`,
    ["down", "up"].map((side) => signed(answer.errors[`${source}_${side}`][point])).join(" / "),
  ]));
}

function signed(share) {
  if (share === null) return "–";
  return `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
}

// Makes the entries of a definition list from terms and their texts.
function entries(definitions) {
  return Object.entries(definitions).map(([term, text]) => {
    const entry = document.createElement("div");
    entry.append(
      Object.assign(document.createElement("dt"), { textContent: term }),
      Object.assign(document.createElement("dd"), { textContent: text }),
    );
    return entry;
  });
}

function inUnit(numbers, between) {
  const { texts, factor } = together(numbers, digitsOf(answer.median[point], answer.total_sd[point]));
  const joined = texts.join(between);
  return (factor && texts.length > 1 ? `(${joined})` : joined) + factor + withUnit(answer.unit);
}

function follow({ clientX }) {
  if (!drawn) return;
  const pixel = clientX - at("plot").getBoundingClientRect().left;
  chosen = nearest(drawn.curve.x.map(drawn.horizontal.place), pixel);
  read(chosen);
}

function step(event) {
  if (!drawn || !(event.key in KEYS)) return;
  event.preventDefault();
  chosen = Math.max(0, Math.min(drawn.curve.x.length - 1, point + KEYS[event.key]));
  read(chosen);
}

// Downloads the columns that `nlobayes predict` writes.
function download() {
  const { target, unit, probabilities } = answer;
  const summaries = ["mean", "median", "posterior_sd", "total_sd"];
  const named = (name, its) => name + (unitOf(its) && `:${its}`);
  const header = [
    ...surrogate.inputs.map(({ name, unit: its }) => named(name, its)),
    ...summaries.map((what) => named(`${target}_${what}`, unit)),
    ...probabilities.map((p) => named(`${target}_q${Number((100 * p).toPrecision(9))}`, unit)),
    ...Object.keys(answer.errors).map((name) => `${name}_rel`),
    "domain",
  ];
  const rows = answer.points.map((row, i) => [
    ...row, ...summaries.map((what) => answer[what][i]),
    ...[...answer.quantiles, ...Object.values(answer.errors)].map((all) => all[i]), answer.domain[i],
  ]);
  const text = [header, ...rows].map((cells) => cells.map((cell) => cell ?? "nan").join(",")).join("\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" }));
  link.download = `${target}_along_${answer.along}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(surrogate.bibtex);
    at("copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(at("bibtex"));
    at("copied").textContent = "Selected; copy it with the keyboard.";
  }
}

function label(name) {
  return /^[mn]\d+$/.test(name)
    ? name.replace("n", "N").replace(/\d/g, (digit) => SUBSCRIPTS[digit]) : name;
}

function targetLabel() {
  const { target, unit } = answer;
  const name = target.endsWith(`_${unit}`) ? target.slice(0, -unit.length - 1) : target;
  return name + (unitOf(unit) && ` in ${unit}`);
}

function unitOf(unit) {
  return unit === "1" ? "" : unit;
}

function withUnit(unit) {
  return unitOf(unit) && `\u00a0${unit}`;
}

function percent(share, digits = 2) {
  return `${Number((100 * share).toPrecision(digits))} %`;
}
