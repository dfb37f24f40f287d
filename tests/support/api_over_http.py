"""A small Kubernetes API server on 127.0.0.1: discovery, and lists of the objects it is given."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import yaml

from volcano_lab.api.objects import KINDS, ConfigMap
from volcano_lab.manifests.live import _plural
from volcano_lab.manifests.writer import to_dict

UNREAD = {("v1", "Secret", "secrets", True), ("v1", "Event", "events", True)}


@contextmanager
def api_server(objects, without=(), events=()):
    """Yield an address and the paths asked for; `without` are kinds that the server has not."""
    kinds = {(version, cls.kind, _plural(cls.kind), cls.namespaced)
             for cls in {*KINDS.values()} for version in cls.api_versions[:1]
             if cls.kind not in without} | UNREAD
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0].strip("/").split("/")
            asked.append(self.path)
            found = answer(path, kinds, objects, events)
            body = json.dumps(found or {"kind": "Status", "code": 404}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def answer(path, kinds, objects, events=()):
    versions = sorted({version for version, *_ in kinds})
    if path == ["api"]:
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == ["apis"]:
        groups = {version.partition("/")[0]: version for version in versions if "/" in version}
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": group, "versions": [{"groupVersion": version,
                                          "version": version.partition("/")[2]}]}
            for group, version in groups.items()]}
    version = "/".join(path[1:3] if path[0] == "apis" else path[1:2])
    rest = path[3:] if path[0] == "apis" else path[2:]
    if version not in versions:
        return None
    if not rest:
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
                "resources": [{"name": plural, "kind": kind, "namespaced": namespaced,
                               "singularName": kind.lower(), "verbs": ["get", "list"]}
                              for each, kind, plural, namespaced in kinds if each == version]}
    if rest[0] == "namespaces" and len(rest) > 3:
        return next((to_dict(obj) for obj in objects if isinstance(obj, ConfigMap)
                     and [obj.namespace, obj.name] == [rest[1], rest[3]]), None)
    kind = next(kind for each, kind, plural, _ in kinds if (each, plural) == (version, rest[0]))
    items = [to_dict(obj) for obj in objects if obj.kind == kind
             and obj.api_versions[0] == version]
    return {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "1"},
            "items": [*events] if kind == "Event" else items}


def kubeconfig(path, contexts):
    """Write a configuration of kubectl with a context (the first is the current) per address."""
    path.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": next(iter(contexts)),
        "clusters": [{"name": name, "cluster": {"server": url}} for name, url in contexts.items()],
        "users": [{"name": "reader", "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "reader"}}
                     for name in contexts]}))
    return path
