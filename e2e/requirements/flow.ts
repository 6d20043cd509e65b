/** Start, callback and what must not cross between apps, clients and users. Part of list.ts. */
import {
  attack,
  FLOWS,
  HOSTED,
  notOurs,
  PROTOCOL,
  type Requirement,
  row,
  SCENARIOS,
  SERVER,
  STORE,
  twin,
  VENDOR,
} from "./requirement.ts";

export const START: readonly Requirement[] = [
  row(
    "ST-1",
    "A backend calls without credentials, or with wrong, foreign or unknown ones. The answer is 401 `invalid_client` with a challenge, and an unknown client looks like a wrong secret.",
    `${SERVER}/client-authentication.test.ts`,
  ),
  twin(
    "ST-2",
    "A flow is started with a redirect URI that is nearly one of the client's: another port, suffix, query, case, escape or look-alike host. It is refused unless it is on the client's list character for character.",
    attack("redirect"),
    `${PROTOCOL}/redirect-uri.test.ts`,
  ),
  twin(
    "ST-3",
    "The client's PKCE challenge is missing, of method `plain`, or not 43 characters of base64url. The flow does not start.",
    attack("parameters"),
    `${PROTOCOL}/pkce.test.ts`,
  ),
  twin(
    "ST-4",
    "A caller adds authorization parameters that only the broker sets, or spells one so that a vendor reads it as the broker's. The request is refused, and each parameter reaches the vendor once.",
    attack("parameters"),
    `${PROTOCOL}/parameters.values.test.ts`,
  ),
  row(
    "ST-5",
    "A scope holds control characters, quotes or backslashes, or is more than the client may ask. `invalid_scope`.",
    `${PROTOCOL}/scope.test.ts`,
    `${FLOWS}/start-legs.test.ts`,
  ),
  notOurs(
    "ST-6",
    "A caller starts a flow for another user's connection. The answer is the same as for one that does not exist.",
    "The broker stores no connections. A `connection` value of another client is refused: RF-7",
  ),
  row(
    "ST-7",
    "A pushed request is kept and used after its time, while its row is still in the store. The clock ends it, not the store's housekeeping.",
    `${FLOWS}/start-legs.test.ts`,
  ),
  row(
    "ST-8",
    "One client starts flows without end. It gets 429 with `Retry-After`, and other clients are not affected.",
    `${FLOWS}/start-legs.test.ts`,
  ),
  notOurs(
    "ST-9",
    "The same idempotency key comes twice, with the same or another body. There is one flow.",
    "There are no idempotency keys: a pushed request is cheap and expires",
  ),
  row(
    "ST-10",
    "An attacker guesses ids of flows, codes or cookies. They are random, 128 bits or more, evenly distributed, and reveal nothing.",
    attack("session-fixation"),
  ),
];

export const CALLBACK: readonly Requirement[] = [
  twin(
    "CB-1",
    "The vendor's redirect brings no state, two, a forged, foreign or expired one, or one of another spelling. It ends at a 400 page, and nothing is sent or stored.",
    attack("state"),
    `${PROTOCOL}/state.test.ts`,
  ),
  row(
    "CB-2",
    "A state of an older or unsigned form is brought for a flow under way. No other form is accepted, for any flow.",
    attack("state"),
  ),
  twin(
    "CB-3",
    "One state is used again: in sequence, many at once, from two processes, or spelled differently. One use wins.",
    attack("single-use"),
    `${SCENARIOS}/broker-processes/races.test.ts`,
  ),
  twin(
    "CB-4",
    "The store's answer to a write is lost and we write again. The store recognises its own write, and the user succeeds.",
    `${STORE}/storage/dynamodb/lost-answers.twin.test.ts`,
    `${STORE}/storage/dynamodb/lost-answers.test.ts`,
    `${SCENARIOS}/broker-processes/lost-answers-dynamodb.test.ts`,
  ),
  row(
    "CB-5",
    "A value made for one purpose is presented for another: a code as state, a state as code, a cookie as either. Each purpose has its own key, type and audience, and refuses the rest.",
    attack("token-kinds"),
    `${PROTOCOL}/state.test.ts`,
  ),
  row(
    "CB-6",
    "An attacker who sees the URL decodes the state. It holds the flow's id, the hash of its context, audience and times, and nothing else.",
    `${PROTOCOL}/state.test.ts`,
  ),
  row(
    "CB-7",
    "Another browser brings the vendor's answer than the one that left for the vendor. It is refused by a cookie per flow, and cannot end the flow.",
    attack("login-csrf"),
    `${FLOWS}/callback.test.ts`,
  ),
  row(
    "CB-8",
    "The callback is proxied through a platform's own domain, so no cookie arrives. Only a client configured to bind the browser itself can continue without one.",
    `${FLOWS}/callback.test.ts`,
  ),
  row(
    "CB-9",
    "An error is sent with a forged state, or by another issuer. It is neither shown nor relayed.",
    attack("cross-context"),
    `${FLOWS}/callback.test.ts`,
  ),
  row(
    "CB-10",
    "A vendor's `error_description` holds line breaks, markup, megabytes or broken bytes. The redirect is well formed and holds none of it.",
    attack("callback-parameters"),
  ),
  row(
    "CB-11",
    "An answer has two codes, an endless one, code and error at once, or tokens and profile data in the query. It is one code or one error, and only declared parameters are read. One with neither is an error of the vendor, which the client hears of.",
    attack("callback-parameters"),
  ),
  row(
    "CB-12",
    "The callback is called with another method. It takes GET, and a `form_post` that becomes a GET by 303, so that cookies come along.",
    `${FLOWS}/callback.test.ts`,
  ),
  row(
    "CB-13",
    "A code leaks by Referer, cache, frame or third-party content of a page. The answers forbid each of them.",
    `${FLOWS}/callback.test.ts`,
  ),
  twin(
    "CB-14",
    "A redirect could repeat the browser's POST elsewhere. Every redirect is 303 and leads to the vendor, the client or our callback.",
    attack("redirect"),
  ),
  notOurs(
    "CB-15",
    "A popup posts its result to whatever opened it. It names the one origin it may reach.",
    "There is no popup mode",
  ),
  row(
    "CB-16",
    "`iss` is missing though the vendor sends it, empty, another's, or nearly the vendor's. It is the right one byte for byte, or the flow ends.",
    `${FLOWS}/callback.test.ts`,
    `${VENDOR}/issuer.test.ts`,
  ),
  row(
    "CB-17",
    "The process dies between callback and redemption. The state is spent before the vendor's code is sent, so the flow is lost and nothing is used twice.",
    `${FLOWS}/token.test.ts`,
  ),
];

export const ACROSS: readonly Requirement[] = [
  row(
    "XA-1",
    "A hostile vendor bounces the browser to an honest one, whose code comes back in the hostile vendor's flow. The path or `iss` reveals that, and the code is sent to no token endpoint.",
    attack("cross-app"),
    attack("lax-redirect-uri"),
    attack("platform-mix-up"),
    `${FLOWS}/callback.test.ts`,
  ),
  row(
    "XA-2",
    "A caller names a token endpoint of its own beside credentials that are shared. Those only ever go to the endpoints of the entry.",
    attack("cross-app"),
    attack("custom-vendor"),
    attack("placeholders"),
    `${FLOWS}/manual-mode.test.ts`,
  ),
  row(
    "XA-3",
    "A caller names an honest issuer with a token endpoint of its own. An issuer's endpoints are those of its metadata.",
    attack("cross-app"),
    attack("custom-vendor"),
  ),
  row(
    "XA-4",
    "A caller uses another's client id with a token endpoint of its own. The flow has a redirect URI that the honest vendor does not know for that client.",
    attack("custom-vendor"),
    attack("lax-redirect-uri"),
  ),
  row(
    "XA-5",
    "A state or cookie of one vendor, client or configuration is used with another. Every leg compares a hash over all of them.",
    attack("cross-context"),
    `${VENDOR}/kept.test.ts`,
  ),
  row(
    "XA-6",
    "An attacker pushes the answer of an own flow into a victim's browser. It is refused, and the victim's own flow continues.",
    attack("login-csrf"),
  ),
  row(
    "XA-7",
    "An attacker starts a flow and has a victim finish it. Tokens need the verifier, which is in the session of the user who started the flow.",
    attack("session-fixation"),
    `${FLOWS}/token.test.ts`,
    // This part belongs to the platform.
    "packages/broker-client/src/session.test.ts",
  ),
  twin(
    "XA-8",
    "A broker's code is replayed, late, or used by another client or many at once. It gives tokens once, in time, to its own client.",
    attack("single-use"),
    `${FLOWS}/token.test.ts`,
  ),
  twin(
    "XA-9",
    "A client lures a user through credentials that other owners share, at a vendor that no longer asks. The broker's page names the client before the browser leaves, and only that browser can approve and come back. A client that vouches for browsers itself is refused.",
    attack("owner-page"),
    "apps/broker/src/vendor-choice/registrations.test.ts",
    `${FLOWS}/owner-page.test.ts`,
    `${SCENARIOS}/broker/owner-page.test.ts`,
  ),
  row(
    "XA-10",
    "A vendor names no subject, or another one than before. An absent or empty subject is an error, and another subject is another user. Nothing is matched by e-mail.",
    `${VENDOR}/userinfo/userinfo.test.ts`,
    `${HOSTED}/platform-callback/vendors.test.ts`,
  ),
  row(
    "XA-11",
    "A user's second attempt to connect is cancelled or fails. The connection there is stays as it was until the new one is complete.",
    "apps/platform/src/oauth/connect.test.ts",
  ),
  notOurs(
    "XA-12",
    "A caller of a vendor API proxy names a URL on another host. The token never leaves the vendor's hosts.",
    "No API of a vendor is proxied: tools call the vendor themselves, and the ingress forwards to the deployed server alone",
  ),
];

/** The scripted attacks; each test has the name given here. */
export const SCRIPTS: readonly Requirement[] = [
  twin("X-1", "An honest vendor's code comes back in a flow of the hostile one.", attack("cross-app")),
  twin(
    "X-2",
    "The attacker's token endpoint is combined with shared credentials.",
    attack("custom-vendor"),
    attack("placeholders"),
    attack("cross-app"),
  ),
  twin(
    "X-3",
    "An honest issuer is named with a token endpoint of the attacker's.",
    attack("custom-vendor"),
    attack("cross-app"),
  ),
  twin("X-4", "Another's client id is named with a token endpoint of the attacker's.", attack("custom-vendor")),
  twin("X-5", "Values of one flow, client or vendor are used on another.", attack("cross-context")),
  twin("X-6", "The attacker's answer is opened in the victim's browser.", attack("login-csrf")),
  twin("X-7", "The victim finishes what the attacker started.", attack("session-fixation")),
  twin("X-8", "The attacker has the verifier and not the code.", attack("session-fixation")),
  twin("X-9", "The hostile vendor's error comes back in a flow of the honest one.", attack("cross-context")),
  twin("X-10", "Two tabs at two vendors get crossed answers, in a thousand orders.", attack("crossed-tabs")),
  twin("X-11", "A sibling subdomain plants a cookie.", attack("login-csrf")),
  twin("X-12", "A vendor's metadata changes between start and callback.", attack("cross-context")),
  twin("X-13", "The victim's request at the honest vendor carries the attacker's challenge.", attack("cross-app")),
];
