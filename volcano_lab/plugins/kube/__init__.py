"""Kubernetes' own placement rules, as the plugins `predicates` and `nodeorder` use them.

Each module is one rule of `k8s.io/kubernetes/pkg/scheduler/framework/plugins` at v1.34.1;
`node_pods` is what they look at.
"""
