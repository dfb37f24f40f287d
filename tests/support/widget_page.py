"""Widgets on a plain page with a real Python behind them, and no Jupyter: quick to open, and all
that a lab does can be tried on it.
"""

import json

from volcano_lab.widgets.scripts import live_css

PAGE = """<!doctype html><html lang="en"><head><title>Widgets</title><style>
body { margin: 0; padding: 12px; font-family: system-ui, sans-serif; }
body.light { background: #fff; color: #111; } body.dark { background: #111; color: #eee; }
h1 { font-size: 16px; margin: 0 0 8px; }
CSS</style></head><body class="THEME"><main><h1>Widgets</h1></main></body></html>"""

SHOW = """([index, esm, traits, width]) => new Promise((ready) => {
  const place = document.createElement('div'), listeners = {}, values = traits;
  place.style.width = width + 'px';
  place.className = 'place';
  document.querySelector('main').append(place);
  const tell = (name) => (listeners['change:' + name] ?? []).forEach((act) => act());
  const model = {
    get: (name) => values[name], set: (name, value) => { values[name] = value; },
    on: (name, act) => (listeners[name] ??= []).push(act), off: () => {},
    send: async (message) => JSON.parse(await window.sendPython(index, JSON.stringify(message)))
      .forEach((answer) => (listeners['msg:custom'] ?? []).forEach((act) => act(answer))),
    save_changes: async () => {
      if (!Object.keys(values.ask ?? {}).length) return ['at', 'scene'].forEach(tell);
      values.shown = JSON.parse(await window.askPython(index, JSON.stringify(values.ask)));
      tell('shown');
    },
  };
  const address = URL.createObjectURL(new Blob([esm], {type: 'text/javascript'}));
  import(address).then(({default: {render}}) => {
    render({model, el: place});
    requestAnimationFrame(() => requestAnimationFrame(() => ready()));
  });
})"""


class WidgetPage:
    """A page that shows widgets; `asked` counts the messages of each."""

    def __init__(self, page, theme="light"):
        self.page, self.widgets, self.asked, self.errors = page, [], [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.expose_function("askPython", self._ask)
        page.expose_function("sendPython", self._send)
        # An address, so that there is a clipboard and a fragment; nothing is fetched from it.
        text = PAGE.replace("CSS", live_css()).replace("THEME", theme)
        page.route("http://127.0.0.1:9/**",
                   lambda route: route.fulfill(body=text, content_type="text/html"))

    def open(self, fragment=""):
        """Open the page; a fragment is what a copied link ends with."""
        self.page.goto(f"http://127.0.0.1:9/{fragment}")
        return self

    def show(self, widget, width=900):
        """Show a widget below the others."""
        self.widgets.append(widget)
        self.asked.append([])
        names = "fixed", "shown", "ask", "scene", "at"
        traits = widget.get_state([name for name in names if hasattr(widget, name)])
        self.page.evaluate(SHOW, [len(self.widgets) - 1, widget._esm, traits, width])
        return self.page.locator(".place").nth(len(self.widgets) - 1)

    def until(self, check, seconds=60):
        """Wait until `check()` holds, which a busy machine makes late, and give what it gave."""
        for _ in range(seconds * 20):
            if found := check():
                return found
            self.page.wait_for_timeout(50)
        return check()

    def at_rest(self, locator):
        """Wait until an element no longer moves, and give its box."""
        seen = [locator.bounding_box()]
        self.page.wait_for_timeout(200)

        def still():
            seen.append(locator.bounding_box())
            if seen[-1] == seen[-2]:
                return seen[-1]
            self.page.wait_for_timeout(200)

        return self.until(still)

    def _ask(self, index, asked):
        widget = self.widgets[index]
        self.asked[index].append(json.loads(asked))
        widget.ask = json.loads(asked)
        return json.dumps(widget.get_state(["shown"])["shown"])

    def _send(self, index, message):
        """What a widget sends back to a message."""
        widget, answers = self.widgets[index], []
        widget.send = answers.append
        widget._handle_custom_msg(json.loads(message), [])
        return json.dumps(answers)
