"""What differs between the versions of the Python SDK, for the programs that use it."""

from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlparse

from mcp.client import streamable_http


def answer_in(url):
    """The authorization response in a redirect, as a callback_handler returns it."""
    answer = {name: values[0] for name, values in parse_qs(urlparse(url).query).items()}
    try:
        from mcp.shared.auth import AuthorizationCodeResult
    except ImportError:
        return answer["code"], answer.get("state")
    return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


@asynccontextmanager
async def connected(server, auth):
    if hasattr(streamable_http, "streamablehttp_client"):
        async with streamable_http.streamablehttp_client(server, auth=auth) as streams:
            yield streams
        return
    import httpx2

    async with httpx2.AsyncClient(auth=auth) as http:
        async with streamable_http.streamable_http_client(server, http_client=http) as streams:
            yield streams
