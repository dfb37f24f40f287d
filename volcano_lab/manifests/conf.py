"""A scheduler's configuration in any form: a mapping, a text, its file, or a ConfigMap's.

`framework.config` defines the meaning of a configuration.

Volcano: none
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from volcano_lab.api.objects import ConfigMap, KubernetesObject
from volcano_lab.framework.config.conf import SchedulerConfiguration
from volcano_lab.manifests.document import is_conf
from volcano_lab.manifests.files import Reader, Unreadable, values
from volcano_lab.manifests.loader import ManifestError, about, from_dict


def conf_text(given: SchedulerConfiguration | Mapping[str, Any] | str | Path | None) -> str | None:
    """Return the text of a configuration; None for Volcano's default.

    A text without a line end and without ": " is the name of a file, "-" the standard input.
    Raises `ManifestError` for a file that cannot be read.

    >>> conf_text({"actions": "allocate"}), conf_text("actions: allocate")
    ('{"actions": "allocate"}', 'actions: allocate')
    """
    if isinstance(given, SchedulerConfiguration):
        given = given.plain()
    if isinstance(given, Mapping):
        return json.dumps(given)
    if not isinstance(given, str | Path) or (isinstance(given, str)
                                             and re.search(r"\n|: |^$", given)):
        return given
    name = str(given)
    try:
        if name != "-" and Path(name).stat() and Path(name).is_dir():  # a pattern is no file
            raise ManifestError("conf_file.none", name=name)
        text = Reader().text(name)
    except OSError as error:
        raise ManifestError("conf_file.unreadable", name=name, strerror=error.strerror) from None
    except Unreadable as error:
        raise ManifestError([about(name, error.said)]) from None
    return _in_config_map(text, name) if "ConfigMap" in text else text


def scheduler_conf_of(objects: Iterable[KubernetesObject]) -> str | None:
    """Return the scheduler's configuration if a ConfigMap among the objects holds one.

    Raises `ManifestError` where two of them differ.

    >>> from volcano_lab.manifests.loader import loads
    >>> scheduler_conf_of(loads("{apiVersion: v1, kind: ConfigMap,"
    ...                         " metadata: {name: volcano-scheduler-configmap},"
    ...                         " data: {volcano-scheduler.conf: 'actions: allocate'}}"))
    'actions: allocate'
    """
    found = {f"ConfigMap {obj.key}, {name}": text for obj in objects
             if isinstance(obj, ConfigMap) for name, text in obj.data.items() if is_conf(name)}
    if len(set(found.values())) > 1:
        raise ManifestError("manifest.confs", found=[*found])
    return next(iter(found.values()), None)


def _in_config_map(text: str, name: str) -> str:
    """Return the configuration in a ConfigMap; any other text is returned unchanged."""
    try:
        maps = [part for part in values(text)
                if isinstance(part, dict) and part.get("kind") == "ConfigMap"]
    except Unreadable:
        return text
    found = [(key, value) for part in map(from_dict, maps) if isinstance(part, ConfigMap)
             for key, value in part.data.items() if key.endswith(".conf")]
    if maps and len(found) != 1:
        raise ManifestError("conf_file.keys", name=name, len=len(found))
    return found[0][1] if found else text
