// What our pages add to the notebook: links for this lesson, the heading that a link names, a word to
// narrow screens, and the order to keep the site for times without a network.
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
links.setAttribute("aria-label", "This lesson");
const add = (tag, text, title, act) => {
  const one = Object.assign(document.createElement(tag), { textContent: text, title });
  if (act) one.addEventListener("click", act);
  links.append(one);
  return one;
};

// Below `try` is the documentation; a site of notebooks alone has none.
const page = `../../lessons/${path.replace(/\.ipynb$/, ".html")}`;
fetch(page, { method: "HEAD" }).then((answer) => {
  if (answer.ok) add("a", "Read it", "This lesson as a page", null).href = page;
}).catch(() => {});
add("button", "Download", "Save this notebook, with your work, as a file",
  () => app.commands.execute("docmanager:download"));
add("button", "Reset this lesson", "Forget your changes of this notebook", async () => {
  if (!confirm("Forget your changes of this lesson, and begin it anew?")) return;
  await panel.context.save().catch(() => {});
  await app.serviceManager.contents.delete(path); // of what the browser keeps; the site's own stays
  location.reload();
});
if (innerWidth < 700) {
  const word = add("button", "This lesson wants a wider screen; it runs here, too.", "Close",
    () => word.remove());
}
document.head.append(style);
document.body.append(links);

if (wanted) {
  const heading = await found(() => [...panel.node.querySelectorAll(
    ".jp-RenderedMarkdown :is(h1, h2, h3, h4)")].find((each) =>
    slug(each.id) === wanted || slug(each.textContent.replace(/¶$/, "")) === wanted));
  heading.scrollIntoView();
}

// Python answers: when the first cells have run there is time to fetch what a visit without a network
// wants.
const idle = () => panel.context.sessionContext.kernelDisplayStatus === "idle";
await found(idle);
setTimeout(async () => {
  await found(idle);
  (await navigator.serviceWorker?.ready)?.active?.postMessage("keep");
}, 20000);
