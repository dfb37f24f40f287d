// Python for the page "Ask about your cluster": a question comes as JSON, with it the files it is about.
import { begun, progress } from "./python.mjs";

let language = "en", last = Promise.resolve();
const answers = begun.then((python) => {
  python.globals.set("language", language);
  const answer = python.runPython(`
from volcano_lab.widgets.questions import Questions
from volcano_lab.messages import speak

speak(language)
Questions().answer`);
  progress(100);
  python.FS.mkdirTree("/files");
  python.FS.chdir("/files");
  return async ({ question, files = [] }) => {
    for (const file of files)
      python.FS.writeFile(file.name.replaceAll("/", "-"), new Uint8Array(await file.arrayBuffer()));
    return JSON.parse(answer(JSON.stringify(question)));
  };
});
answers.catch((error) => setTimeout(() => { throw error; })); // the page is told

self.onmessage = ({ data }) => {
  if (data.language) language = data.language;
  else last = last.then(async () => {
    const answer = await (await answers)(data).catch((error) => ({ error: String(error.message).trim().split("\n").pop() }));
    self.postMessage({ id: data.id, answer });
  });
};
