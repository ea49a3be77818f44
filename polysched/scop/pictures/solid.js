// A solid that turns: the same projection as solid.py, drawn again for every angle.
"use strict";
const scene = data.scene, svg = document.querySelector(".drawing svg"), MARGIN = 34;
const view = {azimuth: scene.azimuth, elevation: scene.elevation, drag: null, lifted: null};

function seen(corner) {
  const a = view.azimuth * Math.PI / 180, e = view.elevation * Math.PI / 180, [x, y, z] = corner;
  const right = x * Math.cos(a) + y * Math.sin(a), back = y * Math.cos(a) - x * Math.sin(a);
  return [right, z * Math.cos(e) + back * Math.sin(e), z * Math.sin(e) - back * Math.cos(e)];
}

const centre = [0, 1, 2].map(d => {
  const values = [...scene.points, ...scene.box].map(p => p[d]);
  return (Math.min(...values) + Math.max(...values)) / 2;
});
const reach = Math.max(...[...scene.points, ...scene.box].map(p => Math.hypot(...p.map((x, d) => x - centre[d]))), 1);
const size = 2 * (reach * scene.scale + MARGIN);

function at(corner) {
  const [x, y] = seen(corner.map((value, d) => value - centre[d]));
  return [size / 2 + x * scene.scale, size / 2 - y * scene.scale];
}

const spot = corner => at(corner).map(x => x.toFixed(1)).join(",");
const near = corner => seen(corner)[2];
const nameOf = number => scene.points[number].join(",");
const escaped = text => text.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);

function arrowText([from, to]) {
  return `<path d="M${spot(scene.points[from])} L${spot(scene.points[to])}" data-from="${nameOf(from)}" ` +
    `data-to="${nameOf(to)}"/>`;
}

function edgeAlong(axis) {   // as `frame` of solid.py: the edge of the box at the rim, the lowest or leftmost
  const edges = [[0, 0], [0, 1], [1, 0], [1, 1]].map(others => {
    const sides = [...others.slice(0, axis), 0, ...others.slice(axis)];
    const start = sides.map((side, d) => scene.box[side][d]);
    return [start, start.map((x, d) => d === axis ? scene.box[1][d] : x)];
  });
  const rim = ([start, end]) => {
    const [right, up] = seen(start.map((x, d) => (x + end[d]) / 2)).map(x => Math.round(x * 1e6));
    return axis === 2 ? [right, up] : [up, right];
  };
  return edges.reduce((best, edge) => {
    const [a, b] = [rim(best), rim(edge)];
    return b[0] < a[0] || (b[0] === a[0] && b[1] < a[1]) ? edge : best;
  });
}

function draw() {
  const parts = [scene.heads], names = [], colours = data.colours[state.colouring];
  if (scene.box.length) scene.axes.forEach((name, axis) => {
    const [start, end] = edgeAlong(axis), [x, y] = at(end);
    parts.push(`<path d="M${spot(start)} L${spot(end)}" stroke="#999" ` +
      'marker-end="url(#head)"/>');
    names.push(`<text x="${x + 5}" y="${y - 3}" stroke="#fff" stroke-width="3" paint-order="stroke">${escaped(name)}</text>`);
  });
  const faces = scene.faces.map(([tile, face]) => [face.reduce((sum, c) => sum + near(c), 0) / face.length, tile, face]);
  for (const [, tile, face] of faces.sort((a, b) => a[0] - b[0]))
    parts.push(`<g class="tile" data-tile="${tile}" fill="${colours[tile]}"><path d="M${face.map(spot).join(" L")} z" ` +
      'fill-opacity="0.22" stroke="#444" stroke-opacity="0.6"/></g>');
  parts.push('<g stroke="#555" marker-end="url(#head)">',
    ...scene.arrows.filter(([from, to, shown]) => shown ||
      view.lifted === nameOf(from) || view.lifted === nameOf(to)).map(arrowText), "</g>");
  const order = scene.points.map((point, number) => [near(point), number]).sort((a, b) => a[0] - b[0]);
  for (const [, number] of order) {
    const [x, y] = at(scene.points[number]);
    parts.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${scene.radius}" fill="#222" ` +
      `data-name="${nameOf(number)}"/>`);
  }
  svg.innerHTML = [...parts, ...names].join("");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("width", size);
  svg.setAttribute("height", size);
  prepared();
  tilesShown();
}

function turned() {
  byId("azimuth").value = view.azimuth;
  byId("elevation").value = view.elevation;
  draw();
}

svg.classList.add("turns");
svg.addEventListener("pointerdown", event => { view.drag = [event.clientX, event.clientY]; });
window.addEventListener("pointerup", () => { view.drag = null; });
window.addEventListener("pointermove", event => {
  if (!view.drag) return;
  view.azimuth = ((view.azimuth + (view.drag[0] - event.clientX) * 0.5 + 540) % 360) - 180;
  view.elevation = Math.max(-90, Math.min(90, view.elevation + (event.clientY - view.drag[1]) * 0.5));
  view.drag = [event.clientX, event.clientY];
  turned();
});
for (const angle of ["azimuth", "elevation"])
  byId(angle).addEventListener("input", event => { view[angle] = Number(event.target.value); draw(); });
svg.addEventListener("click", event => {   // of many arrows only some are drawn: those of this dot now, too
  const dot = event.target.closest("[data-name]");
  view.lifted = dot ? dot.dataset.name : null;
  draw();
  if (view.lifted) lift(svg.querySelector(`[data-name="${view.lifted}"]`));
}, true);
draw();
begin();
