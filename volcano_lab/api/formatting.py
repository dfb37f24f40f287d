"""Amounts in the usual units: CPUs instead of millicores, whole GPUs, memory in bytes (in texts:
2Gi).
"""

from volcano_lab.api.resource import MEMORY, PODS, Resource

UNLIMITED = 1e300
"""Amounts above this mean "no limit"."""


def plain(resource: Resource) -> dict[str, float | int | None]:
    """Return a resource in the usual units: CPUs, bytes, whole GPUs and pods; None means "no
    limit".

    >>> plain(Resource(2500.0, 1024.0, {"nvidia.com/gpu": 2000.0, "pods": 3.0}))
    {'cpu': 2.5, 'memory': 1024, 'nvidia.com/gpu': 2, 'pods': 3}
    """
    return {name: in_units(name, amount) for name, amount in resource}


def in_units(name: str, amount: float) -> float | int | None:
    """Return one dimension of a resource in the usual unit.

    >>> in_units("cpu", 1500.0)
    1.5
    """
    if amount > UNLIMITED:
        return None
    whole = name in (MEMORY, PODS) or name.startswith("attachable-volumes-")
    amount = amount if whole else amount / 1000
    return int(amount) if amount == int(amount) else amount


def quantity_text(name: str, value: float | None) -> str:
    """Return an amount in the usual unit, as text; bytes with a binary suffix.

    >>> quantity_text("memory", 1.5 * 2**30), quantity_text("cpu", 0.25), quantity_text("cpu", None)
    ('1.5Gi', '0.25', 'no limit')
    >>> quantity_text("ephemeral-storage", 2**34)
    '16Gi'
    """
    if value is None:
        return "no limit"
    if value and (name in (MEMORY, "ephemeral-storage") or name.startswith("hugepages-")):
        power = next((power for power in (4, 3, 2, 1) if abs(value) >= 1024**power), 0)
        return f"{value / 1024**power:.6g}{('', 'Ki', 'Mi', 'Gi', 'Ti')[power]}"
    return f"{value:.6g}"


def amount_text(name: str, amount: float) -> str:
    """Return one dimension of a resource as text.

    >>> amount_text("memory", 2.0**31), amount_text("cpu", 250.0)
    ('2Gi', '0.25')
    """
    return quantity_text(name, in_units(name, amount))
