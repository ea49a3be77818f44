// The elements and lines of one tile after the other.
"use strict";
const elements = [...document.querySelectorAll("svg [data-element]")];
const counted = [...document.querySelectorAll("svg .counted")];

function touched(frame) {
  const reads = new Set(frame.reads), writes = new Set(frame.writes), lines = new Set(frame.lines);
  for (const part of elements) {
    const read = reads.has(part.dataset.element), written = writes.has(part.dataset.element);
    part.setAttribute("fill", read && written ? "#aa3377" : read ? "#4477aa" : written ? "#ee6677" :
      lines.has(part.dataset.line) ? "#f5e9a0" : "#fff");
  }
  const said = [`tile ${frame.tile}` + (frame.step === null ? "" : `, step ${frame.step}`), ...frame.said];
  counted.forEach((part, number) => { part.textContent = said[number] || ""; });
}

toStep = step => {
  state.step = step === null ? data.last : step;
  touched(data.frames[state.step]);
  if (!byId("step")) return;
  byId("step").value = state.step;
  byId("stepsaid").textContent = `tile ${data.frames[state.step].tile}, ${state.step + 1} of ${data.frames.length}`;
};
begin();
if (byId("all")) byId("all").remove();
toStep(data.shown);
