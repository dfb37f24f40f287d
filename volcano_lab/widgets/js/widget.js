// What a notebook loads: a lab, a stepper, or a single picture.
import {cycleSteps} from "./cycle_steps.js";
import {lab} from "./lab.js";
import {add, followTheme, ownKeys} from "./page.js";
import {panel} from "./panel.js";
import {statementSteps} from "./statement_steps.js";
import {touchable} from "./touch.js";

function picture(model, el) {
  const root = add(el, "div", {class: "vp", style: `max-width: min(${model.get("fixed").width}px, 46rem)`}), unfollow = followTheme(root);
  ownKeys(root);
  const host = {act: (what) => what.pick !== undefined && shown.pick(what.pick), pull: () => false, hint: () => {}};
  const shown = panel(root, model.get("fixed"), host), update = () => shown.update(model.get("shown").data, null);
  touchable(root, host);
  model.on("change:shown", update);
  update();
  return () => { model.off("change:shown", update); unfollow(); shown.stop(); };
}

const KINDS = {lab, picture, cycleSteps, statementSteps};

export default {render: ({model, el}) => KINDS[model.get("fixed").widget](model, el)};
