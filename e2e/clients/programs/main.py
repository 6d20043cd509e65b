"""The official Python SDK as a program: main.py URL FOLDER. See main.mjs for what it prints and reads."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from sdk import answer_in, connected

real_time = time.time
hours = int(os.environ.get("HOURS_LATER", "0"))
time.time = lambda: real_time() + hours * 3601

SERVER, FOLDER = sys.argv[1], Path(sys.argv[2])


class Storage(TokenStorage):
    """Two files, as the documentation suggests a store of one's own."""

    async def get_tokens(self):
        return self.read("tokens", OAuthToken)

    async def set_tokens(self, tokens):
        (FOLDER / "tokens.json").write_text(tokens.model_dump_json())

    async def get_client_info(self):
        return self.read("client", OAuthClientInformationFull)

    async def set_client_info(self, client_info):
        (FOLDER / "client.json").write_text(client_info.model_dump_json())

    def read(self, name, kind):
        file = FOLDER / f"{name}.json"
        return kind.model_validate_json(file.read_text()) if file.exists() else None


class Callback:
    """A loopback server for one answer, at the port of the first start."""

    def __init__(self):
        self.arrived = asyncio.Queue()

    async def listen(self):
        file = FOLDER / "port"
        port = int(file.read_text()) if file.exists() else 0
        server = await asyncio.start_server(self.answer, "127.0.0.1", port)
        port = server.sockets[0].getsockname()[1]
        file.write_text(str(port))
        self.url = f"http://127.0.0.1:{port}/callback"

    async def answer(self, reader, writer):
        path = (await reader.readline()).decode().split(" ")[1]
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()
        await self.arrived.put(path)

    async def wait(self):
        return answer_in(await asyncio.wait_for(self.arrived.get(), 20))


async def show(url):
    subprocess.Popen(["xdg-open", url])


def say(**line):
    print(json.dumps(line), flush=True)


async def call(session):
    called = await session.call_tool("whoami", {})
    failed = getattr(called, "isError", None) or getattr(called, "is_error", None)
    return {"text": called.content[0].text, "isError": bool(failed)}


async def main():
    global hours
    callback = Callback()
    await callback.listen()
    auth = OAuthClientProvider(
        server_url=SERVER,
        client_metadata=OAuthClientMetadata(client_name="Python SDK", redirect_uris=[callback.url]),
        storage=Storage(),
        redirect_handler=show,
        callback_handler=callback.wait,
    )
    async with connected(SERVER, auth) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        listed = await session.list_tools()
        say(tools=[tool.name for tool in listed.tools], **await call(session))
        while line := await asyncio.to_thread(sys.stdin.readline):
            hours += line.strip() == "later"
            say(**await call(session))


def innermost(error):
    return innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


try:
    asyncio.run(main())
except BaseException as error:
    cause = innermost(error)
    say(failed=f"{type(cause).__name__}: {cause}"[:500])
