// What our pages add to the notebook: links for this lesson, the heading that a link names, how far Python is, the first
// cells' run, a word to narrow screens, and the order to keep the site for times without a network.
const found = (look) => new Promise((resolve) => {
  const again = () => { const value = look(); if (value) resolve(value); else setTimeout(again, 200); };
  again();
});
const slug = (text) => decodeURIComponent(text).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-")
  .replace(/^-|-$/g, "");
// A hash with an equals sign is the state of a lab, which the lab itself takes up.
const wanted = location.hash.includes("=") ? "" : slug(location.hash.slice(1));

const panel = await found(() => window.jupyterapp?.shell.currentWidget?.context?.isReady
  && window.jupyterapp.shell.currentWidget);
const app = window.jupyterapp, path = panel.context.path;

const style = document.createElement("style");
style.textContent = `
  .lesson-links { position: fixed; right: 16px; bottom: 8px; z-index: 50; display: flex; gap: 12px;
    padding: 4px 12px; border: 1px solid var(--jp-border-color1); border-radius: 8px;
    background: var(--jp-layout-color1); color: var(--jp-content-font-color1);
    font: 13px system-ui, sans-serif; }
  .lesson-links :is(a, button) { all: unset; cursor: pointer; text-decoration: underline; padding: 2px; }
  .lesson-links :is(a, button):focus-visible { outline: 2px solid currentColor; }`;
const links = document.createElement("nav");
links.className = "lesson-links";
const add = (tag, text, title = "", act = null) => {
  const one = Object.assign(document.createElement(tag), { textContent: text, title });
  if (act) one.addEventListener("click", act);
  links.append(one);
  return one;
};

const chinese = path.startsWith("zh/"), name = path.split("/").pop();
const words = (english, inChinese) => chinese ? inChinese : english;
links.setAttribute("aria-label", words("This lesson", "本课"));
// Below `try` is the documentation; a site of notebooks alone has none.
const page = `../../${chinese ? "zh/" : ""}lessons/${name.replace(/\.ipynb$/, ".html")}`;
fetch(page, { method: "HEAD" }).then((answer) => {
  if (answer.ok) add("a", words("Read it", "阅读页面"), words("This lesson as a page", "本课的网页")).href = page;
}).catch(() => {});
const other = `${chinese ? "" : "zh/"}${name}`;
app.serviceManager.contents.get(other, { content: false }).then(() => {
  add("a", words("中文", "English")).href = `?path=${other}`;
}).catch(() => {});
add("button", words("Download", "下载"), words("Save this notebook, with your work, as a file", "把本 notebook 连同你的改动保存为文件"),
  () => app.commands.execute("docmanager:download"));
add("button", words("Reset this lesson", "重置本课"), words("Forget your changes of this notebook", "放弃你对本 notebook 的改动"), async () => {
  if (!confirm(words("Forget your changes of this lesson, and begin it anew?", "放弃你对本课的改动，重新开始？"))) return;
  await panel.context.save().catch(() => {});
  await app.serviceManager.contents.delete(path); // of what the browser keeps; the site's own stays
  location.reload();
});
if (innerWidth < 700) {
  const word = add("button", words("This lesson wants a wider screen; it runs here, too.",
    "本课在更宽的屏幕上效果更好；在这里也能运行。"), words("Close", "关闭"), () => word.remove());
}
document.head.append(style);
document.body.append(links);

if (wanted) {
  const heading = await found(() => [...panel.node.querySelectorAll(
    ".jp-RenderedMarkdown :is(h1, h2, h3, h4)")].find((each) =>
    slug(each.id) === wanted || slug(each.textContent.replace(/¶$/, "")) === wanted));
  heading.scrollIntoView();
}

// Python answers: the lesson's first cells run by themselves, up to its first lab where that is near.
const idle = () => panel.context.sessionContext.kernelDisplayStatus === "idle";
const busy = add("span", "");
new BroadcastChannel("volcano-lab-python").onmessage = ({ data }) => {
  busy.textContent = data < 100 ? `Python: ${data} %` : "";
};
await found(idle);
busy.remove();
await runFirst();

async function runFirst() {
  const { content } = panel, { cells } = content.model, code = [];
  for (let at = 0; at < cells.length; at++) if (cells.get(at).type === "code") code.push(at);
  const lab = code.findIndex((at) => at < 10 && /\blab\(|_lab\(/.test(cells.get(at).sharedModel.getSource()));
  const before = content.activeCellIndex;
  for (const at of code.slice(0, lab < 0 ? 2 : lab + 1)) {
    if (cells.get(at).executionCount !== null && cells.get(at).executionState === "running") return; // the reader is at work
    content.activeCellIndex = at;
    await app.commands.execute("notebook:run-cell");
  }
  content.activeCellIndex = before;
}

// When they have run there is time to fetch what a visit without a network wants.
setTimeout(async () => {
  await found(idle);
  (await navigator.serviceWorker?.ready)?.active?.postMessage("keep");
}, 20000);
