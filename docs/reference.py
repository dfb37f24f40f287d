"""The reference, from the modules' own text: how a thing is made, its fields and their units, what
it raises, and its source.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from urllib.parse import quote

SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Units|Yields):$")
Described = ast.ClassDef | ast.FunctionDef


def described_module(name: str, path: Path) -> str:
    """One module: its docstring, and all that is public in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = ["", f"## `{name}`", "", source_link(path), "", text_of(ast.get_docstring(tree))]
    for node in tree.body:
        if isinstance(node, Described) and not node.name.startswith("_"):
            parts += with_methods(node, "###", path)
    return "\n".join(parts) + "\n"


def described_class(name: str, path: Path) -> str:
    """One class of a module, with its methods."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name)
    return "\n".join(with_methods(node, "##", path)) + "\n"


def with_methods(node: Described, level: str, path: Path) -> list[str]:
    """A function, or a class with its public methods."""
    parts = described(node, level, path)
    for inner in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(inner, ast.FunctionDef) and not inner.name.startswith(
                "_") and ast.get_docstring(inner):
            parts += described(inner, level + "#", path)
    return parts


def described(node: Described, level: str, path: Path) -> list[str]:
    """A class or a function: signature, source, description, and fields."""
    return ["", f"{level} `{node.name}`", "", "```python", signature(node), "```", "",
            source_link(path, node), "", text_of(ast.get_docstring(node) or ""),
            *(fields_table(node) if isinstance(node, ast.ClassDef) else ())]


def signature(node: Described) -> str:
    """How it is called: of a class its constructor."""
    if isinstance(node, ast.FunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{node.name}({ast.unparse(node.args)})" + returns
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    own = next((each for each in node.body
                if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if own is not None:
        words = re.sub(r"^self(, )?", "", ast.unparse(own.args))
    elif any("define" in ast.unparse(each) or "dataclass" in ast.unparse(each)
             for each in node.decorator_list):
        words = ", ".join(f"{name}: {kind}" + (f" = {start}" if start else "")
                          for name, kind, start, _ in fields(node)
                          if not name.startswith("_") and "init=False" not in start)
    else:
        return f"class {node.name}{bases}"
    return f"class {node.name}{bases}\n{node.name}({words})"


def fields(node: ast.ClassDef) -> list[tuple[str, str, str, str]]:
    """(name, kind, what it starts with, what it is) of the fields that a class body declares."""
    found = []
    for at, each in enumerate(node.body):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            after = node.body[at + 1] if at + 1 < len(node.body) else None
            about = (after.value.value if isinstance(after, ast.Expr)
                     and isinstance(after.value, ast.Constant) else "")
            found.append((each.target.id, ast.unparse(each.annotation),
                          ast.unparse(each.value) if each.value else "",
                          " ".join(str(about).split())))
    return found


def fields_table(node: ast.ClassDef) -> list[str]:
    """The fields as a table; nothing where there are none."""
    rows = [row for row in fields(node) if not row[0].startswith("_")]
    if not rows:
        return []
    about = any(row[3] for row in rows)
    head = ["field", "kind", "starts as", *(["what it is"] if about else [])]
    lines = [head, ["---"] * len(head),
             *([f"`{name}`", code(kind), code(start), *([what] if about else [])]
               for name, kind, start, what in rows)]
    return ["", *("| " + " | ".join(cells) + " |" for cells in lines), ""]


def code(text: str) -> str:
    """A cell with code; a bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def source_link(path: Path, node: Described | None = None) -> str:
    """A link to the module's text; browsers that can, go to the line."""
    place = path.relative_to(Path(__file__).parents[1]).with_suffix(".txt").as_posix()
    kind = "class" if isinstance(node, ast.ClassDef) else "def"
    line = f"#:~:text={quote(f'{kind} {node.name}')}" if node else ""
    return f'<a class="source" href="../../source/{place}{line}">[source]</a>'


def write_sources(modules: list[tuple[str, Path]], folder: Path) -> None:
    """Lay the text of the modules where the links lead."""
    for _, path in modules:
        place = folder / path.relative_to(Path(__file__).parents[1]).with_suffix(".txt")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def text_of(text: str | None) -> str:
    """A docstring as Markdown: examples become code blocks, sections lists."""
    out: list[str] = []
    inside = section = False
    for line in (text or "").splitlines():
        example = line.lstrip().startswith((">>>", "...")) or (inside and line.strip() != "")
        if example != inside:
            out += ["", "```pycon"] if example else ["```", ""]
            inside = example
        if SECTION.match(line):
            section = True
            out += ["", f"**{line[:-1]}**", ""]
        elif section and line.startswith("    ") and not inside:
            out.append(item(line[4:]))
        else:
            section = section and not line.strip()
            out.append(line)
    return "\n".join(out + ["```"] * inside)


def item(line: str) -> str:
    """A line of a section: a name with what it is begins an item."""
    name, colon, rest = line.partition(":")
    if colon and re.fullmatch(r"[\w.*, ]+", name):
        return f"- `{name}`:{rest}"
    return line if not line.startswith(" ") else f"  {line.strip()}"
