// SPDX-License-Identifier: GPL-2.0-only
"use strict";
(() => {
const specs = JSON.parse(document.getElementById("charts").textContent);
const tip = document.getElementById("tip");
const scheme = window.matchMedia("(prefers-color-scheme: dark)");
const views = new Map();

// What the specifications leave open: the colours of axes and legends.
const config = dark => {
  const ink = dark ? "#e6e9ec" : "#1b2127", soft = dark ? "#a7b0b9" : "#56606b";
  const line = dark ? "#2d353d" : "#dde2e7";
  const font = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
  return {
    events: {defaults: {prevent: false}}, // a finger that scrolls the page, or asks for a tooltip
    background: null, title: {color: ink, font}, text: {font},
    axis: {labelColor: soft, titleColor: soft, domainColor: line, tickColor: line, gridColor: line,
           labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12,
           titleFontWeight: 500},
    legend: {labelColor: ink, labelFont: font, labelFontSize: 12, symbolSize: 110, rowPadding: 4},
  };
};

const hide = () => { tip.hidden = true; };
const show = (handler, event, item, value) => {
  if (!value) {
    hide();
    return;
  }
  const {title, ...rows} = value;
  const head = document.createElement("strong");
  head.textContent = title ?? "";
  tip.replaceChildren(head, ...Object.entries(rows).map(([name, text]) => {
    const row = document.createElement("div");
    const what = row.appendChild(document.createElement("span"));
    const said = row.appendChild(document.createElement("b"));
    what.textContent = name;
    said.textContent = text;
    return row;
  }));
  tip.hidden = false;
  const at = event.changedTouches ? event.changedTouches[0] : event;
  const {width, height} = tip.getBoundingClientRect();
  const x = Math.min(at.clientX + 14, window.innerWidth - width - 8);
  const y = at.clientY + 16 + height > window.innerHeight ? at.clientY - height - 12 : at.clientY + 16;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${Math.max(8, y)}px`;
};

const draw = place => {
  const dark = scheme.matches, width = place.clientWidth;
  if (width === 0) return;
  const spec = structuredClone(specs[place.dataset.chart]);
  spec.width = width;
  spec.signals = [{name: "dark", value: dark}, {name: "narrow", value: width < 560}];
  views.get(place)?.finalize();
  place.replaceChildren();
  hide();
  const view = new vega.View(vega.parse(spec, config(dark)),
                             {renderer: "svg", container: place, hover: true});
  view.tooltip(show);
  view.addEventListener("touchstart", (event, item) => show(view, event, item, item?.tooltip));
  views.set(place, view);
  view.runAsync().then(() => { place.dataset.drawn = `${dark ? "dark" : "light"} ${width}`; });
};

// Nothing of a table is cut off: one that is wider than its place is set tighter where the screen is
// wide, and has its rows as cards where that does not do.
const fit = box => {
  if (box.clientWidth === 0) return; // folded up
  box.classList.remove("cards", "tight");
  const over = () => box.scrollWidth > box.clientWidth;
  box.classList.toggle("tight", over() && window.innerWidth >= 1200);
  if (over()) {
    box.classList.remove("tight");
    box.classList.add("cards");
  }
};

const places = [...document.querySelectorAll(".chart")];
scheme.addEventListener("change", () => places.forEach(draw));
const widths = new Map();
const watch = new ResizeObserver(entries => {
  for (const {target} of entries) {
    if (widths.get(target) !== target.clientWidth) {
      widths.set(target, target.clientWidth);
      (target.classList.contains("chart") ? draw : fit)(target);
    }
  }
});
[...places, ...document.querySelectorAll(".table")].forEach(place => watch.observe(place));
document.addEventListener("touchstart", event => {
  if (!event.target.closest(".chart")) hide();
}, {passive: true});
window.addEventListener("scroll", hide, {passive: true});
})();
