"""Results show themselves as text, Markdown and HTML; `dir` shows what there is."""

import pytest

import volcano_lab
from volcano_lab import Cluster, Explainer, Stepper, tables, traced
from volcano_lab.trace.shown import Shown


def cluster():
    return Cluster().node("n1", cpu=4).queue("a").job("fits", queue="a", cpu=1).job("big", cpu=9)


def trace():
    return traced(cluster().objects())[0]


RESULTS = {
    "a cluster": (cluster, ["2 Pod", "n1", "cpu 4", "big"]),
    "a cycle": (lambda: cluster().run(), ["1 allocate", "fits", "Inqueue", "not admitted"]),
    "a trace": (trace, ["records over 1 nodes", "deserved_round"]),
    "a stepper": (lambda: Stepper(trace()).goto(12), ["Record 12 of", "fits"]),
    "a difference": (lambda: cluster().diff(cluster().job("fits", cpu=5)),
                     ["1 fewer pod is placed", "fits", "n1"]),
    "an explainer": (lambda: Explainer(cluster().objects()), ["1 of 2 jobs wait", "big"]),
    "an explanation": (lambda: Explainer(cluster().objects()).why("big"), ["cpu"]),
}


@pytest.mark.parametrize(("make", "words"), RESULTS.values(), ids=RESULTS)
def test_a_result_shows_itself_in_each_form(make, words):
    bundle = make()._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    for form, text in bundle.items():
        for word in words:
            assert word in text, form
    assert bundle["text/html"].startswith("<p>") and "object at 0x" not in str(bundle)


@pytest.mark.parametrize("form", ["text/html", "text/markdown"])
def test_names_cannot_be_markup(form):
    named = "<b>[x](y)`z`|&lt;"  # a manifest with that name would be refused
    class Named(Shown):
        def _shown(self):
            yield f"Node {named} is full."
            yield [{"node": named}]
    text = Named()._repr_mimebundle_()[form]
    assert "<b>" not in text and "&amp;lt;" in text and text.count("&lt;b>") + text.count(
        "&lt;b&gt;") == 2
    if form == "text/markdown":
        assert text.count(r"\[x\](y)\`z\`\|") == 2


def test_dir_shows_what_there_is_and_each_of_it_loads():
    listed = dir(volcano_lab)
    assert {"tables", "charts", "symptoms", "breakpoints", "stepper", "log"} <= set(listed)
    assert "import_module" not in listed and all(hasattr(volcano_lab, name) for name in listed)
    with pytest.raises(AttributeError, match="did you mean tables"):
        volcano_lab.table  # noqa: B018


def test_a_table_has_one_row_of_headings_and_words_at_the_left():
    html = tables.queues(cluster().run())[["weight", "overused"]]._repr_html_()
    head, body = html.split("</thead>")
    assert head.count("<tr>") == 1 and 'left">queue<' in head and 'right">weight<' in head
    assert 'left">no<' in body and "default/" not in html and isinstance(
        tables.jobs(cluster().run())[["queue"]], volcano_lab.Table)
