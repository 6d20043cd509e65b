"""A client of the official Python SDK, as its documentation has one: it knows the server's address alone.

Usage: client.py URL REDIRECT_URI. Prints `OPEN <url>` for its user's browser, reads the URL that the browser came
back to, calls `whoami` and `tools/list`, and prints `DONE` with one line of JSON.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlparse

from mcp import ClientSession
from mcp.client import streamable_http
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientMetadata

SERVER, REDIRECT_URI = sys.argv[1:3]


class Storage(TokenStorage):
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def show(url):
    print(f"OPEN {url}", flush=True)


async def came_back():
    line = await asyncio.to_thread(sys.stdin.readline)
    answer = {name: values[0] for name, values in parse_qs(urlparse(line.strip()).query).items()}
    try:
        from mcp.shared.auth import AuthorizationCodeResult
    except ImportError:
        return answer["code"], answer.get("state")
    return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


@asynccontextmanager
async def connected(auth):
    if hasattr(streamable_http, "streamablehttp_client"):
        async with streamable_http.streamablehttp_client(SERVER, auth=auth) as streams:
            yield streams
        return
    import httpx2

    async with httpx2.AsyncClient(auth=auth) as http:
        async with streamable_http.streamable_http_client(SERVER, http_client=http) as streams:
            yield streams


async def main():
    storage = Storage()
    given = {"client_name": "Python SDK", "redirect_uris": [REDIRECT_URI]}
    auth = OAuthClientProvider(
        server_url=SERVER,
        client_metadata=OAuthClientMetadata(**given),
        storage=storage,
        redirect_handler=show,
        callback_handler=came_back,
    )
    async with connected(auth) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        listed = await session.list_tools()
        called = await session.call_tool("whoami", {})
    said = {
        "tools": [tool.name for tool in listed.tools],
        "answer": called.content[0].text,
        "asked": OAuthClientMetadata(**given).token_endpoint_auth_method,
        "registered": storage.client.token_endpoint_auth_method,
    }
    print(f"DONE {json.dumps(said)}", flush=True)


asyncio.run(main())
