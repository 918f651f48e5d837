// The page of a bundle: curves of all processes of an energy, and the cross sections of a spectrum.

import { drawCurves } from "./curves.js";
import { digitsOf, together } from "./plot.js";

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const KINDS = { higgsino: "higgsinos", wino: "winos", slepton: "sleptons", sneutrino: "sneutrinos", strong: "gluinos and squarks", other: "other" };
const at = (id) => document.getElementById(id);

let bundle;
let curves = [];

start().catch(showError);

async function start() {
  bundle = await request("api/bundle");
  const { name, entries, energies, orders, failed } = bundle;
  document.title = `${name} – nlobayes`;
  at("about").textContent = `${entries.length} surrogates of published or computed tables, with errors and whether to trust them`;
  at("verdict").append(badge(!failed.length, "all chains converged, all error bars calibrated",
    `checks of ${failed.length} of ${entries.length} surrogates failed; below they are named`));
  at("failed").textContent = failed.length ? `Checks failed of ${failed.join(", ")}.` : "";
  at("energy").append(...energies.map((energy) => new Option(`${energy / 1000} TeV`, energy)));
  at("energy").value = energies.at(-1);
  at("order").append(new Option("highest", ""), ...orders.map((order) => new Option(order, order)));
  for (const id of ["energy", "order"]) at(id).addEventListener("change", () => show().catch(showError));
  at("process").addEventListener("change", plot);
  at("predict").addEventListener("click", () => predict().catch(showError));
  at("file").addEventListener("change", async () => { at("slha").value = await at("file").files[0].text(); });
  at("plot").addEventListener("pointerover", ({ target }) => { if (target.dataset?.name) choose(target.dataset.name); });
  at("plot").addEventListener("pointerleave", () => choose(""));
  new ResizeObserver(() => curves.length && plot()).observe(at("plot"));
  await show();
}

async function request(path, options) {
  const response = await fetch(path, options).catch(() => { throw new Error("the service does not answer; is it still running?"); });
  const content = await response.json().catch(() => ({ detail: response.statusText }));
  if (!response.ok) throw new Error(content.detail);
  at("problem").hidden = true;
  return content;
}

function showError(error) {
  at("state").textContent = "";
  at("problem").textContent = `${error.message}`;
  at("problem").hidden = false;
}

async function show() {
  const query = new URLSearchParams({ energy: at("energy").value });
  if (at("order").value) query.set("order", at("order").value);
  const answer = await request(`api/curves?${query}`);
  curves = answer.curves.map((curve) => ({
    ...curve, title: title(curve),
    low: curve.middle.map((value, i) => moved(value, curve.down[i])), high: curve.middle.map((value, i) => moved(value, curve.up[i])),
  }));
  at("process").replaceChildren(new Option("all", ""), ...curves.map(({ name, title: text }) => new Option(text, name)));
  const used = Object.keys(KINDS).filter((kind) => curves.some((curve) => curve.kind === kind));
  at("legend").replaceChildren(...used.map((kind) => {
    const entry = item(` ${KINDS[kind]}`);
    entry.prepend(Object.assign(document.createElement("span"), { className: `key process ${kind}` }));
    return entry;
  }));
  at("sources").replaceChildren(...[...new Set(curves.map(({ source }) => source))].map((source) => item(source)));
  plot();
}

function moved(value, share) {
  return value === null || share === null ? value : value * (1 + share);
}

function choose(name) {
  at("process").value = name;
  plot();
}

function plot() {
  drawCurves(at("plot"), curves, { x: "mean mass of the pair in GeV", y: "cross section in pb" }, at("process").value);
  at("plot").setAttribute("aria-label", `Cross sections at ${at("energy").value / 1000} TeV against mass`);
}

function title({ outgoing, inclusive, kind, at: held }) {
  const pair = physical(outgoing);
  const fixed = Object.entries(held).map(([name, value]) => `, ${physical(name.replace("mass_", ""))} ${Number(value.toPrecision(3))}`).join("");
  const state = ["wino", "higgsino"].includes(kind) ? ` ${kind}` : "";
  return `${pair}${inclusive ? " …" : ""}${state}${fixed}`;
}

// Writes particles as their symbols.
function physical(words) {
  return words.replace(/(-?)([12])00000([1-6])\b/g, (_, minus, side, flavour) => `${flavour < 5 ? "q" : "bt"[flavour - 5]}\u0303${flavour < 5 ? "" : SUBSCRIPTS[side]}${minus ? "*" : ""}`)
    .replaceAll("1000021", "g\u0303").replace(/~(\w)/g, "$1\u0303").replace(/chi([0+-])_(\d)/g, (_, charge, digit) => `χ${{ 0: "⁰", "+": "⁺", "-": "⁻" }[charge]}${SUBSCRIPTS[digit]}`);
}

async function predict() {
  at("state").textContent = "Predicting …";
  const body = { slha: at("slha").value, energy: Number(at("energy").value), order: at("order").value || null };
  const { rows } = await request("api/spectrum", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  at("state").textContent = "";
  const head = ["process", "cross section", "surrogate", "scale", "PDF", "total", "grid", "order", "trust"];
  const table = at("answer");
  table.replaceChildren(line(head, "th"), ...rows.map((row) => line(cells(row), "td", row.domain.replace(" ", "-"))));
  table.hidden = false;
}

function cells(row) {
  const spread = row.median === null ? 0 : row.median * Math.max(Math.abs(row.errors.regression_up ?? 0), 1e-6);
  const { texts, factor } = together([row.median], digitsOf(row.median, spread));
  const sides = (source) => ((row.errors[`${source}_up`] ?? null) !== null
    ? ["up", "down"].map((side) => signed(row.errors[`${source}_${side}`])).join(" ") : "");
  return [physical(row.process), row.median === null ? "–" : `${texts[0]}${factor} pb`, sides("regression"), sides("scale"), sides("pdf"),
    sides("total"), row.entry, row.order, [row.domain, row.reason].filter(Boolean).join(": ")];
}

function signed(share) {
  if (share === null) return "–";
  return `${share < 0 ? "−" : "+"}${Number((100 * Math.abs(share)).toPrecision(2))} %`;
}

function line(texts, kind, state = "") {
  const row = Object.assign(document.createElement("tr"), { className: state });
  row.append(...texts.map((text) => Object.assign(document.createElement(kind), { textContent: text })));
  return row;
}

function item(text) {
  return Object.assign(document.createElement("li"), { textContent: text });
}

function badge(passed, good, bad) {
  return Object.assign(item(passed ? `✓ ${good}` : `✗ ${bad}`), { className: passed ? "passed" : "failed" });
}
