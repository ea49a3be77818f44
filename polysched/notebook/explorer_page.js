// The explorer without a kernel: every state was made beforehand, and buttons lead from one to another.
"use strict";
const show = number => {
  const now = data.states[number];
  state.pinned = false;
  byId("steps").textContent = now.said.length ? now.said.join("; ") : "no step yet";
  document.querySelector(".drawing").innerHTML = now.svg;
  data.names = now.names;
  data.turns = now.turns;
  data.hint = now.hint;
  byId("cost").innerHTML = now.cost;
  byId("c").innerHTML = now.c;
  const nexts = byId("nexts"), before = nexts.options[nexts.selectedIndex];
  const wanted = before ? before.textContent : "";
  nexts.replaceChildren(...now.next.map(([label, to]) => {
    const option = new Option(label, to, false, label === wanted);
    option.disabled = to < 0;
    return option;
  }));
  if (nexts.selectedOptions.length && nexts.selectedOptions[0].disabled || nexts.selectedIndex < 0)
    nexts.selectedIndex = [...nexts.options].findIndex(option => !option.disabled);
  byId("apply").disabled = nexts.selectedIndex < 0;
  byId("back").disabled = now.back < 0;
  byId("back").onclick = () => show(now.back);
  byId("sizes").replaceChildren(...now.sizes.map(([label, own, targets]) => {
    const line = document.createElement("label"), slider = document.createElement("input");
    Object.assign(slider, {type: "range", min: 0, max: targets.length - 1,
      value: targets.findIndex(([edge]) => edge === own)});
    slider.addEventListener("change", () => show(targets[slider.value][1]));
    line.append(`${label}: ${own} `, slider);
    return line;
  }));
  prepared();
  drop();
};
byId("apply").addEventListener("click", () => show(Number(byId("nexts").value)));
begin();
show(0);
