"""The server of `longsearch serve`: textual-serve's, behind a guard. Listens on the loopback address only.

textual-serve starts one process of the app for each window and passes on keys and output; it admits everybody. The
guard admits a request only if its path begins with the secret token, if it names this machine as its host (so that no
other site's name can lead here, as DNS rebinding does), and if no other site sent it. A websocket must say its origin.
"""

import json
import secrets
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from html import escape

from aiohttp import WSMessage, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

FONT_SIZE = 16
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>longsearch</title>
<link rel="stylesheet" href="static/css/xterm.css">
<style>
@font-face {{ font-family: "Roboto Mono"; font-weight: 100 700;
  src: url("static/fonts/RobotoMono-VariableFont_wght.ttf"); }}
@font-face {{ font-family: "Roboto Mono"; font-style: italic; font-weight: 100 700;
  src: url("static/fonts/RobotoMono-Italic-VariableFont_wght.ttf"); }}
html, body {{ margin: 0; background: #121212; color: #ddd; font: 16px "Roboto Mono", monospace; }}
.textual-terminal {{ width: 100vw; height: 100vh; }}
#ended {{ display: none; position: fixed; inset: 0; z-index: 10; background: #121212; padding: 2em; }}
body.-closed #ended {{ display: block; }}
</style>
<script src="static/js/textual.js"></script>
<script src="focus.js" defer></script>
</head>
<body>
<div id="ended">The app has ended. Reload the page to open it again; indexing goes on.</div>
<div id="terminal" class="textual-terminal" data-session-websocket-url="{socket}" data-font-size="{font_size}"></div>
</body>
</html>
"""


_FOCUS = """\
new MutationObserver((_, observer) => {
  const line = document.querySelector(".xterm-helper-textarea");
  if (line) { observer.disconnect(); line.focus(); }
}).observe(document.body, { childList: true, subtree: true });
"""
"""The script that gives the keys to the terminal as soon as it is there: else a person would have to click on it."""


def page(socket: str) -> str:
    """Return the page; `socket` is the address of the websocket."""
    return _PAGE.format(socket=escape(socket), font_size=FONT_SIZE)


HOST = "127.0.0.1"
CLOSE_WITHIN_S = 2.0
_NAMES = (HOST, "localhost")
_TOKEN_BYTES = 32
MAX_CELLS = 1_000
"""Columns, and rows, of a window. Each cell takes memory: a window of 99,999,999 rows held 3 GB."""
MAX_TYPED = 65_536
"""Characters of one message of keys; a pasted text beyond is left out."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:;"
    " connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere. xterm.js writes styles of its own."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class GuardedServer(Server):  # type: ignore[misc]
    """Serves the app over a folder, or over all (""), at `address`."""

    def __init__(self, root: str, port: int = 0, think: int | None = None) -> None:
        """`port`: 0 takes a free one. `think`: the soft tokens of queries. Raises OSError if the port cannot be had."""
        if port not in range(2**16):
            raise OSError("ports are numbers up to 65535")
        self.socket = socket.create_server((HOST, port))
        arguments = [root, *([] if think is None else [str(think)])]
        command = shlex.join([sys.executable, "-P", "-m", "longsearch.app.commands.serve", *arguments])
        super().__init__(command, host=HOST, port=self.socket.getsockname()[1], title="longsearch")
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)

    @property
    def address(self) -> str:
        """Where a browser finds the app. Whoever knows it can read the index."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def serve(self, debug: bool = False) -> None:
        """Serve until Ctrl+C or SIGTERM; then end the app of each window."""
        web.run_app(
            self._make_app(), sock=self.socket, print=None, access_log=None, shutdown_timeout=CLOSE_WITHIN_S
        )  # no log of requests: it would hold the token

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the command has said where to look."""

    async def _make_app(self) -> web.Application:
        guarded = web.Application(middlewares=[self._guard])
        inner = await super()._make_app()
        inner.router.add_get("/focus.js", _focus)
        guarded.add_subapp(f"/{self.token}/", inner)
        return guarded

    @web.middleware  # type: ignore[untyped-decorator]
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request that may come in; refuse others without saying what is here."""
        given = request.path.split("/", 2)[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPNotFound
        hosts = [f"{name}:{self.port}" for name in _NAMES]
        origin = request.headers.get("Origin", "" if "Upgrade" in request.headers else None)
        is_foreign = origin is not None and origin not in [f"http://{host}" for host in hosts]
        if request.host not in hosts or is_foreign or request.headers.get("Sec-Fetch-Site") == "cross-site":
            raise web.HTTPForbidden
        if not all(_is_size(request.query.get(side, "1")) for side in ("width", "height")):
            raise web.HTTPBadRequest
        response = await handler(request)
        if not response.prepared:
            response.headers.update({**_HEADERS, "Content-Security-Policy": _POLICY.format(host=request.host)})
        return response

    async def handle_index(self, request: web.Request) -> web.Response:
        """Answer with the page. It loads nothing from other machines, as textual-serve's own page does."""
        return web.Response(text=page(f"ws://{request.host}/{self.token}/ws"), content_type="text/html")

    async def _process_messages(self, websocket: web.WebSocketResponse, app_service: AppService) -> None:
        await super()._process_messages(_Sound(websocket), app_service)


async def _focus(_: web.Request) -> web.Response:
    return web.Response(text=_FOCUS, content_type="text/javascript")


class _Sound:
    """A websocket without the messages that no page sends: other shapes, sizes of no window, texts of no end."""

    def __init__(self, websocket: web.WebSocketResponse) -> None:
        self._websocket = websocket
        self.send_json = websocket.send_json

    async def __aiter__(self) -> AsyncIterator[WSMessage]:
        async for message in self._websocket:
            if message.type is WSMsgType.TEXT and is_sound(message.data):
                yield message


def is_sound(text: str) -> bool:
    """Return whether a message is one that the page sends."""
    try:
        match json.loads(text):
            case ["stdin", str(typed)]:
                return len(typed.encode()) <= MAX_TYPED
            case ["resize", {"width": width, "height": height}]:
                return _is_size(str(width)) and _is_size(str(height))
            case ["ping" | "blur" | "focus", *_]:
                return len(text) <= MAX_TYPED
    except (ValueError, RecursionError):  # no JSON, half of a surrogate pair, endless brackets
        pass
    return False


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MAX_CELLS
