"""A backend with FastAPI and Authlib: its users connect GitHub through the broker. README.md says how to start it."""

import os
import secrets
import socket
import time
from functools import partial
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import uvicorn
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from fastapi import FastAPI, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse

NEEDED = ["BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET"]
if missing := [name for name in NEEDED if not os.environ.get(name)]:
    raise SystemExit(f"Set {', '.join(missing)}: README.md says where they come from")
BROKER_URL, CLIENT_ID, CLIENT_SECRET = (os.environ[name] for name in NEEDED)
PORT = int(os.environ.get("PORT", "3000"))
APP_URL = os.environ.get("APP_URL", f"http://127.0.0.1:{PORT}")
GITHUB_API_URL = os.environ.get("GITHUB_API_URL", "https://api.github.com")
SHARED = {"redirect_uri": f"{APP_URL}/oauth/callback", "code_challenge_method": "S256", "timeout": 15}
broker = partial(AsyncOAuth2Client, CLIENT_ID, CLIENT_SECRET, **SHARED)  # One for each call: it keeps what it fetched.
http = httpx.AsyncClient(timeout=15)
app = FastAPI(openapi_url=None, default_response_class=HTMLResponse)
tokens_of = {}  # Your own store goes here. It encrypts: these are the users' real tokens.
# On the server, by a random id: Starlette's own session is signed but not encrypted, and would show the PKCE verifier.
sessions = {}
form = '<form method="post" action="/{0}">{1}<button>{0}</button></form>'.format

@app.middleware("http")
async def guard(request: Request, call_next):
    if request.method == "POST" and request.headers.get("origin") != APP_URL:
        return HTMLResponse(f"This form is not from {APP_URL}.", 403)
    request.state.session = session = sessions.get(request.cookies.get("session", ""))
    if session is None and request.url.path != "/sign-in":
        return HTMLResponse(form("sign-in", '<input name="user" value="user">'))
    if request.url.path in ("/refresh", "/disconnect") and session["user"] not in tokens_of:
        return RedirectResponse("/", 303)
    return await call_next(request)

# Your own login goes here. It begins a new session: nothing planted in the old one stays.
@app.post("/sign-in")
async def sign_in(request: Request, user: str = Form("")):
    sessions.pop(request.cookies.get("session", ""), None)
    sessions[id := secrets.token_urlsafe(32)] = {"user": user, "flows": []}
    answer = RedirectResponse("/", 303)
    answer.set_cookie("session", id, httponly=True, samesite="lax", secure=APP_URL.startswith("https:"))
    return answer

@app.get("/")
async def home(request: Request):
    user = request.state.session["user"]
    page = f"<p>Signed in as {escape(user)}.<p>"
    if (tokens := tokens_of.get(user)) is None:
        return page + form("connect", "")
    answer = await http.get(f"{GITHUB_API_URL}/user", headers={"Authorization": f"Bearer {tokens['access_token']}"})
    about = f"Connected to GitHub as {answer.json()['login']}." if answer.is_success else f"GitHub: {answer.reason_phrase}"
    return page + escape(about) + form("refresh", "") + form("disconnect", "")

@app.post("/connect")
async def connect(request: Request):
    wanted = {"code_verifier": secrets.token_hex(32), "vendor": "github", "scope": "read:user"}
    url, state = broker().create_authorization_url(f"{BROKER_URL}/v1/authorize", **wanted)
    # The parameters go straight to the broker (RFC 9126); the browser gets a reference to them.
    data = dict(parse_qsl(urlsplit(url).query))
    pushed = (await http.post(f"{BROKER_URL}/v1/par", data=data, auth=(CLIENT_ID, CLIENT_SECRET))).raise_for_status()
    flow = {"state": state, "verifier": wanted["code_verifier"], "until": time.time() + 960}
    request.state.session["flows"] = [*request.state.session["flows"], flow][-5:]
    query = urlencode({"client_id": CLIENT_ID, "request_uri": pushed.json()["request_uri"]})
    return RedirectResponse(f"{BROKER_URL}/v1/authorize?{query}", 303)

@app.get("/oauth/callback")
async def callback(request: Request, state: str = "", iss: str = "", code: str = "", error: str = ""):
    session = request.state.session
    flow = next((one for one in session["flows"] if one["state"] == state), None)
    session["flows"] = [one for one in session["flows"] if one is not flow]
    if flow is None or flow["until"] < time.time() or iss != BROKER_URL:
        raise HTTPException(400, "You did not begin this connection here, or it took too long. Connect again.")
    if error == "access_denied":
        raise HTTPException(403, "You cancelled at GitHub, so nothing was connected.")
    async with broker() as client:
        sent = {"code": code, "code_verifier": flow["verifier"]}
        tokens_of[session["user"]] = await client.fetch_token(f"{BROKER_URL}/v1/token", **sent)
    return RedirectResponse("/", 303)

@app.post("/refresh")
async def refresh(request: Request):
    user = request.state.session["user"]
    old = {name: tokens_of[user].get(name) for name in ("refresh_token", "connection")}
    try:
        async with broker() as client:
            tokens_of[user] = await client.refresh_token(f"{BROKER_URL}/v1/token", **old)
    except OAuthError as error:
        if error.error != "invalid_grant":
            raise
        del tokens_of[user]  # The grant has ended: the user connects again.
    return RedirectResponse("/", 303)

@app.post("/disconnect")
async def disconnect(request: Request):
    tokens = tokens_of[request.state.session["user"]]
    data = {"token": tokens["access_token"], "connection": tokens["connection"]}
    answer = await http.post(f"{BROKER_URL}/v1/revoke", data=data, auth=(CLIENT_ID, CLIENT_SECRET))
    if "help" not in answer.json():
        answer.raise_for_status()
    del tokens_of[request.state.session["user"]]
    return answer.json().get("help", "Disconnected.")

@app.exception_handler(httpx.RequestError)
async def unreachable(*_):
    return HTMLResponse("GitHub cannot be reached. Try again in a minute.", 503)

listener = socket.create_server(("127.0.0.1", PORT))
print(f"Open {APP_URL}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
