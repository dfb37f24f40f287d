"""The English sentences, by code: one TOML table per subject. Two forms are singular and plural."""

import tomllib
from pathlib import Path

Text = str | list[str]
SUBJECTS: dict[str, dict[str, Text]] = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).parent.glob("*.toml"))}
TEXTS: dict[str, Text] = {code: text for texts in SUBJECTS.values() for code, text in texts.items()}
