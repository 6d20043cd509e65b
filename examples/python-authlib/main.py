"""A backend with Flask and Authlib: its users connect GitHub through the broker. README.md says how to start it."""

import os
import time
from functools import partial
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import requests
from authlib.integrations.requests_client import OAuth2Session, OAuthError
from cachelib import SimpleCache
from flask import Flask, abort, redirect, request, session
from flask_session import Session
from waitress import create_server

NEEDED = ["BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET"]
if missing := [name for name in NEEDED if not os.environ.get(name)]:
    raise SystemExit(f"Set {', '.join(missing)}: README.md says where they come from")
BROKER_URL, CLIENT_ID, CLIENT_SECRET = (os.environ[name] for name in NEEDED)
PORT = os.environ.get("PORT", "3000")
APP_URL = os.environ.get("APP_URL", f"http://127.0.0.1:{PORT}")
GITHUB_API_URL = os.environ.get("GITHUB_API_URL", "https://api.github.com")

BACK = f"{APP_URL}/oauth/callback"
broker = partial(OAuth2Session, CLIENT_ID, CLIENT_SECRET, redirect_uri=BACK, code_challenge_method="S256")
CALL = {"timeout": 15, "allow_redirects": False}
tokens_of = {}  # Your own store goes here. It encrypts: these are the users' real tokens.
app = Flask(__name__)
# On the server: Flask's own session is signed but not encrypted, and would show the PKCE verifier.
app.config.update(SESSION_TYPE="cachelib", SESSION_CACHELIB=SimpleCache(), SESSION_PERMANENT=False)
app.config.update(SESSION_COOKIE_SAMESITE="Lax", SESSION_COOKIE_SECURE=APP_URL.startswith("https:"))
Session(app)
form = '<form method="post" action="/{0}">{1}<button>{0}</button></form>'.format


@app.before_request
def guard():
    if request.method == "POST" and request.headers.get("Origin") != APP_URL:
        abort(403, f"This form is not from {APP_URL}.")
    if request.path != "/sign-in" and not session.get("user"):
        return form("sign-in", '<input name="user" value="user">')
    if request.path in ("/refresh", "/disconnect") and session["user"] not in tokens_of:
        return redirect("/", 303)


# Your own login goes here. It begins a new session: nothing planted in the old one stays.
@app.post("/sign-in")
def sign_in():
    session.clear()
    session["user"] = request.form.get("user", "")
    app.session_interface.regenerate(session)
    return redirect("/", 303)


@app.get("/")
def home():
    page = f"<p>Signed in as {escape(session['user'])}.<p>"
    if (tokens := tokens_of.get(session["user"])) is None:
        return page + form("connect", "")
    answer = requests.get(f"{GITHUB_API_URL}/user", headers={"Authorization": f"Bearer {tokens['access_token']}"}, **CALL)
    about = f"Connected to GitHub as {answer.json()['login']}." if answer.ok else f"GitHub: {answer.reason}"
    return page + escape(about) + form("refresh", "") + form("disconnect", "")


@app.post("/connect")
def connect():
    wanted = {"code_verifier": os.urandom(32).hex(), "vendor": "github", "scope": "read:user"}
    url, state = broker().create_authorization_url(f"{BROKER_URL}/v1/authorize", **wanted)
    # The parameters go straight to the broker (RFC 9126); the browser gets a reference to them.
    data = dict(parse_qsl(urlsplit(url).query))
    pushed = requests.post(f"{BROKER_URL}/v1/par", data, auth=(CLIENT_ID, CLIENT_SECRET), **CALL)
    pushed.raise_for_status()
    flow = {"state": state, "verifier": wanted["code_verifier"], "until": time.time() + 960}
    session["flows"] = [*session.get("flows", []), flow][-5:]
    query = urlencode({"client_id": CLIENT_ID, "request_uri": pushed.json()["request_uri"]})
    return redirect(f"{BROKER_URL}/v1/authorize?{query}", 303)


@app.get("/oauth/callback")
def callback():
    sent, flows = request.args.to_dict(), session.get("flows", [])
    flow = next((one for one in flows if one["state"] == sent.get("state")), None)
    session["flows"] = [one for one in flows if one is not flow]
    if flow is None or flow["until"] < time.time() or sent.get("iss") != BROKER_URL:
        abort(400, "You did not begin this connection here, or it took too long. Connect again.")
    if sent.get("error") == "access_denied":
        abort(403, "You cancelled at GitHub, so nothing was connected.")
    code = {"code": sent.get("code", ""), "code_verifier": flow["verifier"]}
    tokens_of[session["user"]] = broker().fetch_token(f"{BROKER_URL}/v1/token", **code, **CALL)
    return redirect("/", 303)


@app.post("/refresh")
def refresh():
    old = {name: tokens_of[session["user"]].get(name) for name in ("refresh_token", "connection")}
    try:
        tokens_of[session["user"]] = broker().refresh_token(f"{BROKER_URL}/v1/token", **old, **CALL)
    except OAuthError as error:
        if error.error != "invalid_grant":
            raise
        del tokens_of[session["user"]]  # The grant has ended: the user connects again.
    return redirect("/", 303)


@app.post("/disconnect")
def disconnect():
    tokens = tokens_of[session["user"]]
    more = {"body": urlencode({"connection": tokens["connection"]}), **CALL}
    answer = broker().revoke_token(f"{BROKER_URL}/v1/revoke", tokens["access_token"], **more)
    if "help" not in answer.json():
        answer.raise_for_status()
    del tokens_of[session["user"]]
    return answer.json().get("help", "Disconnected.")


app.register_error_handler(requests.RequestException, lambda _: ("GitHub cannot be reached. Try again in a minute.", 503))
server = create_server(app, host="127.0.0.1", port=PORT)
print(f"Open {APP_URL}", flush=True)
server.run()
