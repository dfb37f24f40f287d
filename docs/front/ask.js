// The page for a cluster of one's own: files go to Python in a worker, which inherits this page's content security policy
// because it begins as a blob of this page.
import {add, followTheme} from "../../volcano_lab/widgets/js/page.js";
import {keepPages} from "./offline.js";
import {questions} from "../../volcano_lab/widgets/js/questions.js";
import {t} from "../../volcano_lab/widgets/js/words.js";

const find = (id) => document.getElementById(id), {python, language} = document.body.dataset;
const waiting = new Map();
let worker = null, count = 0;

function started() {
  if (worker) return worker;
  const address = new URL(python, location.href).href;
  worker = new Worker(URL.createObjectURL(new Blob(["import " + JSON.stringify(address)], {type: "text/javascript"})), {type: "module", name: "questions"});
  worker.onmessage = ({data}) => {
    if (data.percent !== undefined) return progress(data.percent);
    waiting.get(data.id)?.(data.answer);
    waiting.delete(data.id);
  };
  worker.onerror = () => { for (const answer of waiting.values()) answer({error: t("Python could not be loaded: the page is not all there, or the network is off at the first visit.")}); worker = null; };
  worker.postMessage({language});
  return worker;
}

function progress(percent) {
  find("bar").hidden = percent >= 100;
  find("bar").firstElementChild.style.width = `${percent}%`;
  find("busy").textContent = percent < 100 ? t("Python is loading: {0} %", percent) : "";
}

const ask = (question, files) => new Promise((resolve) => {
  started().postMessage({id: ++count, question, files});
  waiting.set(count, resolve);
});

async function open(files, job) {
  const name = files[0].name, panel = questions(find("after"), (question) => ask(question, question.ask === "open" ? files : undefined), name, (head) => {
    add(head, "a", {href: "#"}, t("another file")).addEventListener("click", () => show(false));
  });
  find("fault").hidden = true;
  find("busy").textContent ||= t("Reading the file and running a cycle …");
  const found = await panel.open(files.map((file) => file.name), job);
  find("busy").textContent = "";
  if (found.error) {
    find("fault").textContent = found.error;
    find("fault").hidden = false;
  }
}

// The page behind the drop stays until there is something to show.
function show(after) {
  find("before").hidden = after;
  find("after").hidden = !after;
  if (after) scrollTo(0, 0);
}
new MutationObserver(() => { if (find("after").querySelector(".vq-head h2")) show(true); }).observe(find("after"), {childList: true, subtree: true});

followTheme(find("after"));
for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, (event) => {
  event.preventDefault();
  find("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop" && event.dataTransfer.files.length) open([...event.dataTransfer.files]);
});
document.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  if (text.includes(":")) open([new File([text], "pasted.yaml")]);
});
find("file").addEventListener("change", ({target}) => target.files.length && open([...target.files]));
// #file=NAME&job=JOB opens a file of the site.
async function followAddress() {
  const given = new URLSearchParams(location.hash.slice(1)), file = given.get("file"), answer = file && await fetch(file);
  if (answer?.ok) open([new File([await answer.blob()], file.split("/").pop())], given.get("job"));
}
addEventListener("hashchange", followAddress);
followAddress();
document.addEventListener("click", ({target}) => {
  const name = target.dataset?.copy;
  if (name) navigator.clipboard?.writeText(find(name).textContent).then(() => { target.textContent = t("copied"); }, () => { target.textContent = t("select and copy"); });
});
// Python loads while the reader looks for the file.
requestIdleCallback?.(started) ?? setTimeout(started, 500);
keepPages();
