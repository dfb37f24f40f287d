"""Where the words of a still stand."""

import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def words_of(svg):
    """[(line, left, right, words)] of a still, by about the widths that pictures reckon with;
    where a group is moved, it is counted.
    """
    found = []

    def walk(node, dx, dy):
        x, y = (float(each) for each in node.get("transform", "translate(0 0)")[10:-1].split()
                ) if node.tag != f"{SVG}pattern" else (0, 0)
        for child in node:
            if child.tag == f"{SVG}text":
                found.append(box(child, dx + x, dy + y))
            elif child.tag == f"{SVG}g":
                walk(child, dx + x, dy + y)

    walk(ET.fromstring(svg), 0, 0)
    return found


def box(text, dx, dy):
    """One text; its anchor says where it begins."""
    words, kind = "".join(text.itertext()), text.get("class") or ""
    size = 11 if "vp-tiny" in kind else 12 if "vp-small" in kind else 14
    wide, anchor, x = 0.56 * size * len(words), text.get("text-anchor"), float(text.get("x")) + dx
    left = x - wide if anchor == "end" else x - wide / 2 if anchor == "middle" else x
    return round(float(text.get("y")) + dy), left, left + wide, words
