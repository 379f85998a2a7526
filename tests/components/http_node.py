"""A search node, real or not, as a test speaks to it: over HTTP."""

import http.client
import json


def action(operation, document=None, **parameters):
    """One action of a bulk body; `_index` and the like without the underscore: index, id."""
    named = {"_" + name if name in ("index", "id") else name: value for name, value in parameters.items()}
    lines = [json.dumps({operation: named})]
    if document is not None:
        lines.append(document if isinstance(document, str) else json.dumps(document))
    return "\n".join(lines) + "\n"


class HttpNode:
    """One request after the other, each over a connection of its own, so that threads may share it."""

    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=None, headers=None):
        """Status, headers and body; http.client.HTTPException or OSError when there is no whole answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            if body is not None and not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            given = {"content-type": "application/json"} if headers is None else headers
            connection.request(method, path, body.encode() if isinstance(body, str) else body, given)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None):
        """The answer, which has to be 200."""
        status, _, text = self.ask(method, path, body)
        assert status in (200, 201), f"{method} {path}: {status} {text!r}"
        return json.loads(text)

    def bulk(self, *actions, path="/_bulk"):
        """The items' members, in order, of a request that has to be answered with 200."""
        answer = self.json("POST", path, "".join(actions))
        return [next(iter(item.values())) for item in answer["items"]]
