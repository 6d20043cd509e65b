"""Refreshes twice and revokes with Authlib, which sends the refresh token and nothing else. README.md says how to start it."""

import json
import os

from authlib.integrations.requests_client import OAuth2Session

BROKER_URL, CLIENT_ID, CLIENT_SECRET, REFRESH_TOKEN = (
    os.environ[name] for name in ("BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET", "REFRESH_TOKEN")
)
CALL = {"timeout": 15, "allow_redirects": False}

broker = OAuth2Session(CLIENT_ID, CLIENT_SECRET)
tokens = broker.refresh_token(f"{BROKER_URL}/v1/token", REFRESH_TOKEN, **CALL)
again = broker.refresh_token(f"{BROKER_URL}/v1/token", tokens["refresh_token"], **CALL)
revoked = broker.revoke_token(f"{BROKER_URL}/v1/revoke", again["refresh_token"], token_type_hint="refresh_token", **CALL)

shown = {"accessTokens": [tokens["access_token"], again["access_token"]]}
print(json.dumps({**shown, "refreshToken": again["refresh_token"], "revoked": revoked.status_code}))
