// What a reader can do with a picture: run its tiles step by step, colour them, lift one dependence.
"use strict";
const byId = name => document.getElementById(name);
const state = {step: null, colouring: data.colouring, pinned: false, timer: null};

function tilesShown() {
  const last = data.last, step = state.step === null ? last : state.step;
  for (const part of document.querySelectorAll("svg [data-tile]")) {
    const turn = data.turns[part.dataset.tile];
    if (!turn) continue;
    part.classList.toggle("later", turn[0] > step);
    if (part.classList.contains("tile"))
      part.classList.toggle("now", state.step !== null && turn[0] === step);
    const colour = data.colours[state.colouring];
    if (colour && part.classList.contains("tile")) part.setAttribute("fill", colour[part.dataset.tile]);
  }
  for (const meanings of document.querySelectorAll("svg .meanings"))
    meanings.style.display = state.colouring === data.colouring ? "" : "none";
  if (!byId("step")) return;
  byId("step").value = step;
  const running = Object.values(data.turns).filter(turn => turn[0] === step);
  const threads = new Set(running.map(turn => turn[1]).filter(thread => thread !== null));
  byId("stepsaid").textContent = state.step === null ? `all ${last + 1} steps` :
    `step ${step} of ${last}: ${running.length} tile${running.length === 1 ? "" : "s"}` +
    (threads.size ? ` on ${threads.size} thread${threads.size === 1 ? "" : "s"}` : "");
}

function toStep(step) { state.step = step; tilesShown(); }

function play() {
  if (state.timer) { stop(); return; }
  if (state.step === null || state.step >= data.last) toStep(0);
  byId("play").textContent = "pause";
  state.timer = setInterval(() => state.step >= data.last ? stop() : toStep(state.step + 1), 700);
}

function stop() {
  clearInterval(state.timer);
  state.timer = null;
  byId("play").textContent = "play";
}

function prepared() {
  // a wide drawing scrolls on a phone, where it would be too small to read
  for (const svg of document.querySelectorAll(".drawing svg"))
    svg.style.setProperty("--natural", `${svg.getAttribute("width")}px`);
  // a thin line is hard to hit with a finger
  for (const arrow of document.querySelectorAll("svg [data-from]:not(.hit)")) {
    const hit = arrow.cloneNode(false);
    hit.classList.add("hit");
    arrow.after(hit);
  }
}

function drop() {
  for (const svg of document.querySelectorAll("svg.lifting")) svg.classList.remove("lifting");
  for (const part of document.querySelectorAll("svg .lifted")) part.classList.remove("lifted");
  for (const part of document.querySelectorAll("svg .end")) part.classList.remove("end");
  if (byId("said")) byId("said").textContent = data.hint;
}

function lift(part) {
  drop();
  const svg = part.closest("svg"), arrows = [...svg.querySelectorAll("[data-from]:not(.hit)")];
  const name = part.dataset.name, {from, to} = part.dataset;
  const found = name === undefined ? arrows.filter(a => a.dataset.from === from && a.dataset.to === to)
    : arrows.filter(a => a.dataset.from === name || a.dataset.to === name);
  svg.classList.add("lifting");
  const ends = new Set(name === undefined ? [] : [name]);
  for (const arrow of found) {
    arrow.classList.add("lifted");
    ends.add(arrow.dataset.from).add(arrow.dataset.to);
  }
  for (const dot of svg.querySelectorAll("[data-name]"))
    if (ends.has(dot.dataset.name)) dot.classList.add("end");
  byId("said").textContent = name === undefined ? `${data.names[from] || from} must run before ${data.names[to] || to}`
    : `${data.names[name] || name} waits for ${found.filter(a => a.dataset.to === name).length}, ` +
      `is waited for by ${found.filter(a => a.dataset.from === name).length}`;
}

function pointed(event) {
  const part = event.target.closest ? event.target.closest("svg [data-from], svg [data-name]") : null;
  if (event.type === "click") {
    state.pinned = Boolean(part);
    if (part) lift(part); else drop();
  } else if (!state.pinned) {
    if (part) lift(part); else drop();
  }
}

function begin() {
  prepared();
  tilesShown();
  const drawing = document.querySelector(".drawing");
  if (drawing) for (const kind of ["pointerover", "click"]) drawing.addEventListener(kind, pointed);
  if (byId("step")) {
    byId("step").addEventListener("input", event => { stop(); toStep(Number(event.target.value)); });
    byId("play").addEventListener("click", play);
    byId("all").addEventListener("click", () => { stop(); toStep(null); });
  }
  if (byId("colouring"))
    byId("colouring").addEventListener("change", event => { state.colouring = event.target.value; tilesShown(); });
  if (byId("said")) byId("said").textContent = data.hint;
}
