// What a notebook loads: a lab, a stepper, or a single picture.
import {cycleSteps} from "./cycle_steps.js";
import {lab} from "./lab.js";
import {add, followTheme, ownKeys} from "./page.js";
import {panel} from "./panel.js";
import {questions} from "./questions.js";
import {statementSteps} from "./statement_steps.js";
import {touchable} from "./touch.js";

function picture(model, el) {
  const root = add(el, "div", {class: "vp", style: "max-width: 46rem"}), unfollow = followTheme(root);
  ownKeys(root);
  const host = {role: "none", act: (what) => what.pick !== undefined && shown.pick(what.pick), pull: () => false, hint: () => {}};
  const shown = panel(root, model.get("fixed"), host), update = () => shown.update(model.get("shown").data, null);
  touchable(root, host);
  model.on("change:shown", update);
  update();
  return () => { model.off("change:shown", update); unfollow(); shown.stop(); };
}

// The kernel answers each question of the panel about a cluster by a message.
function cluster(model, el) {
  const root = add(el, "div"), unfollow = followTheme(root), waiting = new Map(), {files, name} = model.get("fixed");
  let count = 0;
  const take = ({id, answer}) => { waiting.get(id)?.(JSON.parse(answer)); waiting.delete(id); };
  const ask = (question) => new Promise((resolve) => {
    waiting.set(++count, resolve);
    model.send({id: count, question: JSON.stringify(question)});
  });
  ownKeys(root);
  model.on("msg:custom", take);
  questions(root, ask, name).open(files).then(({error}) => error && add(root, "p", {}, error));
  return () => { model.off("msg:custom", take); unfollow(); };
}

const KINDS = {lab, picture, cycleSteps, statementSteps, questions: cluster};

export default {render: ({model, el}) => KINDS[model.get("fixed").widget](model, el)};
