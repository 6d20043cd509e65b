"""A client of the official Python SDK, as its documentation has one: it knows the server's address alone.

Usage: client.py URL REDIRECT_URI. Prints `OPEN <url>` for its user's browser, reads the URL that the browser came
back to, calls `whoami` and `tools/list`, and prints `DONE` with one line of JSON.
"""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientMetadata
from sdk import answer_in, connected

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
    return answer_in((await asyncio.to_thread(sys.stdin.readline)).strip())


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
    async with connected(SERVER, auth) as streams, ClientSession(streams[0], streams[1]) as session:
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
