"""The panel about a user's own cluster: what waits and why, changes that were run, its queues."""

from pathlib import Path
from typing import Any

from volcano_lab.widgets import live, questions


class Panel(live.OnPage):
    """A panel about the cluster of some files; it answers each question of its page."""

    def __init__(self, files: list[str]):
        super().__init__(fixed={"widget": "questions", "files": files, "name": Path(files[0]).name})
        self.questions = questions.Questions()
        self.on_msg(self._answer)

    def _answer(self, _widget: Any, message: dict[str, Any], _buffers: Any) -> None:
        self.send({"id": message["id"], "answer": self.questions.answer(message["question"])})


def open(*files: str) -> Panel:
    """Return the panel about what `kubectl get` exported, to be shown in JupyterLab.

    >>> open("cluster.yaml").fixed["name"]
    'cluster.yaml'
    """
    return Panel([str(file) for file in files])
