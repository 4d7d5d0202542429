"""The app in a browser: what the server admits and refuses, and what each window runs."""

import asyncio
import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.commands import serve
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.web.server import page
from longsearch.engine.errors import LongsearchError

aiohttp = pytest.importorskip("aiohttp", reason="needs longsearch[serve]")
pytest.importorskip("textual_serve", reason="needs longsearch[serve]")

from aiohttp.test_utils import TestClient, TestServer  # noqa: E402

from longsearch.app.web.server import MAX_CELLS, MAX_TYPED, GuardedServer, is_sound  # noqa: E402

SAYS_HELLO = """
import sys
def write(kind, data):
    sys.stdout.buffer.write(kind + len(data).to_bytes(4, "big") + data)
    sys.stdout.flush()
sys.stdout.buffer.write(b"__GANGLION__\\n")
write(b"D", b"hello")
write(b"D", sys.stdin.buffer.read(5 + 2)[5:])
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[GuardedServer]:
    """A server whose windows say hello and repeat two letters, in place of the app."""
    program = tmp_path / "hello.py"
    program.write_text(SAYS_HELLO)
    server = GuardedServer("")
    server.command = f"{sys.executable} {program}"
    yield server
    server.socket.close()


@pytest.fixture
async def client(server: GuardedServer) -> "AsyncIterator[TestClient]":
    async with TestClient(
        TestServer(await server._make_app(), port=server.port, socket_factory=lambda *_: server.socket)
    ) as client:
        yield client


def headers(server: GuardedServer, **more: str) -> dict[str, str]:
    return {"Host": f"127.0.0.1:{server.port}", **{name.replace("_", "-"): value for name, value in more.items()}}


def test_it_listens_on_the_loopback_address_only_and_each_server_has_a_token_of_its_own() -> None:
    one, other = GuardedServer(""), GuardedServer("")
    try:
        assert one.socket.getsockname()[0] == "127.0.0.1"
        assert len(one.token) >= 43 and one.token != other.token
        assert one.address == f"http://127.0.0.1:{one.port}/{one.token}/"
    finally:
        one.socket.close()
        other.socket.close()


async def test_without_the_token_nothing_is_there(server: GuardedServer, client: TestClient) -> None:
    wrong = f"{server.token[:-1]}{'A' if server.token[-1] != 'A' else 'B'}"
    for path in ("", "ws", "static/js/textual.js", f"{wrong}/", f"{wrong}/ws", f"x/{server.token}/", "download/1"):
        answer = await client.get(f"/{path}", headers=headers(server))
        assert answer.status == 404, path
        assert server.token not in await answer.text()


async def test_the_page_and_its_files_need_no_other_machine(server: GuardedServer, client: TestClient) -> None:
    answer = await client.get(f"/{server.token}/", headers=headers(server))
    text = await answer.text()
    assert answer.status == 200 and f"ws://127.0.0.1:{server.port}/{server.token}/ws" in text
    assert "https:" not in text and "http:" not in text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer", "the address holds the token"
    files = (
        "static/css/xterm.css",
        "static/js/textual.js",
        "static/fonts/RobotoMono-VariableFont_wght.ttf",
        "focus.js",
    )
    for file in files:
        assert f'"{file}"' in text
        answer = await client.get(f"/{server.token}/{file}", headers=headers(server))
        assert answer.status == 200, file
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "foreign",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
async def test_other_hosts_and_other_sites_are_refused(
    server: GuardedServer, client: TestClient, foreign: dict[str, str]
) -> None:
    for path in ("", "static/js/textual.js", "ws"):
        answer = await client.get(f"/{server.token}/{path}", headers=headers(server, **foreign))
        assert answer.status == 403, path


async def test_a_websocket_needs_the_token_and_the_origin_of_the_page(
    server: GuardedServer, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, start = [], asyncio.create_subprocess_shell

    async def note(*given: Any, **more: Any) -> asyncio.subprocess.Process:
        started.append(await start(*given, **more))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_shell", note)
    origin = f"http://127.0.0.1:{server.port}"
    for token, more in (("wrong", {"Origin": origin}), (server.token, {}), (server.token, {"Origin": "http://evil"})):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(f"/{token}/ws", headers=headers(server, **more))
    async with client.ws_connect(f"/{server.token}/ws", headers=headers(server, Origin=origin)) as socket:
        assert await socket.receive_bytes() == b"hello"
        await socket.send_str(json.dumps(["stdin", "ab"]))
        assert await socket.receive_bytes() == b"ab"
    (window,) = started
    assert await window.wait() == 0
    window._transport.close()  # textual-serve leaves that to the end of the loop


async def test_a_window_of_no_screen_is_refused(server: GuardedServer, client: TestClient) -> None:
    origin = f"http://127.0.0.1:{server.port}"
    for size in ("width=80&height=99999999", "width=-1&height=24", "width=x", "width=" + "9" * 5_000):
        answer = await client.get(f"/{server.token}/ws?{size}", headers=headers(server, Origin=origin))
        assert answer.status == 400, size


@pytest.mark.parametrize(
    "text",
    [
        '["resize",{"width":-1,"height":99999999}]',
        '["resize",{"width":80}]',
        '["resize",{"width":true,"height":24}]',
        '["resize",{"width":80.5,"height":24}]',
        '["stdin",7]',
        '["stdin","\\ud800"]',
        json.dumps(["stdin", "a" * (MAX_TYPED + 1)]),
        json.dumps(["ping", "a" * MAX_TYPED]),
        '["exit"]',
        "{}",
        "[]",
        "no JSON",
        "[" * 100_000,
    ],
)
def test_a_message_that_no_page_sends_is_left_out(text: str) -> None:
    assert not is_sound(text)


def test_what_the_page_sends_comes_through() -> None:
    for message in (
        ["resize", {"width": MAX_CELLS, "height": 1}],
        ["stdin", "ü" * 9],
        ["ping", 17.5],
        ["blur"],
        ["focus"],
    ):
        assert is_sound(json.dumps(message)), message


def test_a_window_ends_with_its_server(daemon: Daemon, home: Path) -> None:
    (folder := home / "no documents").mkdir()
    environment = os.environ | {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver", "COLUMNS": "80", "ROWS": "24"}
    command = [sys.executable, "-m", "longsearch.app.commands.serve", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as window:
        assert window.stdin is not None and window.stdout is not None
        assert window.stdout.readline() == b"__GANGLION__\n"
        window.stdin.close()  # as when the server is killed
        window.stdout.read()
        assert window.wait(60) is not None


def test_a_window_runs_the_app_until_it_is_closed(daemon: Daemon, home: Path) -> None:
    (folder := home / "no documents").mkdir()  # so that no model is loaded
    environment = os.environ | {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver", "COLUMNS": "80", "ROWS": "24"}
    command = [sys.executable, "-m", "longsearch.app.commands.serve", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as window:
        assert window.stdin is not None and window.stdout is not None
        output = window.stdout.readline()
        assert output == b"__GANGLION__\n"
        while b"no documents" not in output:
            more = window.stdout.read1(1 << 16)
            assert more, output[-500:]
            output += more
        window.stdin.write(b"D\0\0\0\1\x11")  # Ctrl+Q
        window.stdin.flush()
        while b'{"type": "exit"}' not in output:
            output += window.stdout.read1(1 << 16)
        assert window.wait(60) == 0


def test_the_address_of_the_websocket_cannot_leave_its_attribute() -> None:
    assert '"><script' not in page('ws://x"><script>')


def test_a_port_that_is_taken_is_named(home: Path, samples: Path) -> None:
    other = GuardedServer("")
    try:
        with pytest.raises(LongsearchError, match=str(other.port)):
            serve.run(Namespace(folder=str(samples), port=other.port, think=None))
        with pytest.raises(LongsearchError, match="cannot be used"):
            serve.run(Namespace(folder=str(samples), port=1_000_000, think=None))
    finally:
        other.socket.close()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LongsearchError) as raised:
        serve.run(Namespace(folder="", port=0, think=None))
    assert "longsearch[serve]" in raised.value.hint
