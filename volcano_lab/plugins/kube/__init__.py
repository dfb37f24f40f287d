"""Kubernetes' own placement rules, for the plugins `predicates` and `nodeorder`.

Each module is one rule of `k8s.io/kubernetes/pkg/scheduler/framework/plugins` at v1.34.1;
`node_pods` is their view of the nodes.
"""
