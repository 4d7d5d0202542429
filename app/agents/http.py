"""The MCP server over HTTP, for clients that cannot start a program: on the loopback address, behind a token.

Needs the extra `mcp`, which brings uvicorn. The SDK refuses hosts and origins other than this machine's.
"""

import secrets
import socket
from typing import Any

import uvicorn

HOST = "127.0.0.1"
PATH = "/mcp"
_TOKEN_BYTES = 32
_REFUSAL = [
    {"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]},
    {"type": "http.response.body", "body": b""},
]


class TokenGuard:
    """An ASGI application that passes on only requests with the token."""

    def __init__(self, inner: Any, token: str) -> None:
        self._inner, self._expected = inner, f"Bearer {token}".encode()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "lifespan" or secrets.compare_digest(given, self._expected):
            await self._inner(scope, receive, send)
            return
        for message in _REFUSAL:
            await send(message)


def serve(server: Any, port: int) -> None:
    """Serve until Ctrl+C, and say first where and with which token. Raises OSError if the port cannot be had."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    app = TokenGuard(server.streamable_http_app(streamable_http_path=PATH, stateless_http=True, host=HOST), token)
    with socket.create_server((HOST, port)) as listening:
        print(f"http://{HOST}:{listening.getsockname()[1]}{PATH}", flush=True)
        print(f"Authorization: Bearer {token}", flush=True)
        config = uvicorn.Config(app, log_level="warning", access_log=False)  # no log of requests
        uvicorn.Server(config).run(sockets=[listening])
