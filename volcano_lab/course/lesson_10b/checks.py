"""The check of lesson 10b: a pattern for members of a HyperNode."""

from volcano_lab.course.kit.checking import check
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_10.scene import hyper_tree, loose_cluster
from volcano_lab.messages import gettext, paragraph

WANTED = {"gpu-3", "gpu-4", "gpu-10"}


@check(takes=str, wanted='a pattern, such as "gpu-[12]"')
def pattern(answer: str) -> Verdict:
    """Write a pattern that takes gpu-3, gpu-4 and gpu-10, and no other of the five nodes."""
    found = set(hyper_tree(loose_cluster(answer)).loc["loose", "nodes"].split(", ")) - {""}
    if found == WANTED:
        return well_done("The scheduler finds just these three. A node that is added later is "
                         "taken, too, if the pattern fits its name.")
    told = gettext("It takes {nodes:,}.", nodes=sorted(found) or gettext("no node"))
    if found - WANTED:
        return try_again(paragraph([told, gettext(
            "{node} should not be in it. `[…]` is one of its characters; `^` and `$` are the ends "
            "of the name.", node=min(found - WANTED))]))
    return try_again(paragraph([told, gettext(
        "{node} is missing. `(a|b)` is a or b, of any length.", node=min(WANTED - found))]))
