/* Formulas, marked by pymdownx.arithmatex, are set by KaTeX of `vendor`. */
for (const marked of document.querySelectorAll(".arithmatex")) {
  const formula = marked.textContent.slice(2, -2); // between \( \) or \[ \]
  katex.render(formula, marked, { displayMode: marked.tagName === "DIV" });
}
