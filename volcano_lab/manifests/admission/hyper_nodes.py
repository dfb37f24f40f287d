"""Rules for HyperNodes.

Volcano: pkg/webhooks/admission/hypernodes/validate, config/crd (topology.volcano.sh_hypernodes)
"""

from volcano_lab.api.go_pattern import compile_pattern
from volcano_lab.api.objects import HyperNode
from volcano_lab.manifests.admission.rules import Broken, Queues
from volcano_lab.manifests.names import is_subdomain


def broken(hyper_node: HyperNode, queues: Queues) -> Broken:
    """Yield the rules that a HyperNode breaks."""
    if not hyper_node.spec.members:
        yield "hypernode-members", {}
    for i, member in enumerate(hyper_node.spec.members):
        exact, regex = member.selector.exact_match, member.selector.regex_match
        given = sum(kind is not None for kind in (exact, regex, member.selector.label_match))
        if given != 1:
            yield "hypernode-selectors" if given else "hypernode-selector", {"i": i}
        if exact is not None and not is_subdomain(exact.name):
            yield "hypernode-exact-match", {"i": i}
        try:
            compile_pattern("" if regex is None else regex.pattern)
        except ValueError as error:
            yield "hypernode-pattern", {"i": i, "error": error}
