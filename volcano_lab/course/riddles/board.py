"""All riddles, each opened by its number, and the picture of what they have earned."""

from functools import cache

from volcano_lab.course.riddles.game import FOLDER, Riddle
from volcano_lab.messages import gettext
from volcano_lab.widgets import pictures


@cache
def riddles() -> dict[int, Riddle]:
    """All riddles by number."""
    return {int(path.stem): Riddle.read(path) for path in sorted(FOLDER.glob("*.yaml"))}


def riddle(number: int) -> Riddle:
    """Open a riddle, as far as it was solved before. Raises `LookupError` for one there is not."""
    if number not in riddles():
        raise LookupError(gettext("there is no riddle {number}; allowed are 1 to {count}",
                                  number=number, count=len(riddles())))
    return riddles()[number]


def score() -> pictures.Picture:
    """Show a node for each riddle: its title and points, and its job at work, when it is solved."""
    nodes = [{"name": f"{each.number} {gettext(each.title)}" if each.solved else str(each.number),
              "note": str(each.points) if each.solved else "", "size": 1,
              "pods": [{"name": each.asks, "size": 1, "color": "#009E73"}] * each.solved}
             for each in riddles().values()]
    done = [each.points for each in riddles().values() if each.solved]
    text = gettext("{solved} of {all} jobs are at work.", solved=len(done), all=len(nodes)) if (
        len(done) < len(nodes)) else gettext("All jobs are at work: the cluster is yours.")
    title = gettext("{points} of {most} points", points=sum(done), most=100 * len(nodes))
    return pictures.cluster(title, {"nodes": nodes, "text": text}, cell=1, width=740)
