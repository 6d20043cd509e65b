/**
 * What the broker, the token store and the MCP server owe of the security bar: one line per row in our own words, and where it is tested. coverage.test.ts holds
 * this against the tests: each row that is ours stands in a test title of each file it names, as `bar#ID`, as the name of its
 * attack (`X-1`), or, for the lab of misbehaving vendors, by its numbers there (`V-1`). Rows that are not theirs say why.
 */

import { elsewhere, type Requirement, row, twin } from "./requirement.ts";
import { BYOC } from "./requirements-byoc.ts";
import { MCP_SERVER } from "./requirements-mcp.ts";
import { REGISTRATION } from "./requirements-registration.ts";
import { TOKEN_STORE } from "./requirements-token-store.ts";

const ATTACKS = "e2e/attacks";
const SCENARIOS = "e2e/scenarios";
const FLOWS = "apps/broker/src/flows";
const PROTOCOL = "packages/oauth-core/src/protocol";
const SERVER = "packages/oauth-core/src/authorization-server";
const VENDOR = "packages/oauth-core/src/vendor-client";

const attack = (family: string): string => `${ATTACKS}/${family}.attack.test.ts`;

const START: readonly Requirement[] = [
  row("ST-1", "Without good credentials: 401, and unknown looks like wrong", `${SERVER}/client-authentication.test.ts`),
  twin(
    "ST-2",
    "A redirect URI is on the client's list character for character",
    attack("redirect"),
    `${PROTOCOL}/redirect-uri.test.ts`,
  ),
  twin("ST-3", "PKCE #1 is there and S256", attack("parameters"), `${PROTOCOL}/pkce.test.ts`),
  twin(
    "ST-4",
    "Our parameters are nobody else's, and each reaches the vendor once",
    attack("parameters"),
    `${PROTOCOL}/parameters.values.test.ts`,
  ),
  row("ST-5", "A scope has the characters of a scope", `${PROTOCOL}/scope.test.ts`, `${FLOWS}/start-legs.test.ts`),
  elsewhere("ST-6", "A foreign connection looks like none", "The broker stores no connections"),
  row("ST-7", "A pushed request ends by the clock, not by housekeeping", `${FLOWS}/start-legs.test.ts`),
  row("ST-8", "Starts are limited per client, and say when to come back", `${FLOWS}/start-legs.test.ts`),
  elsewhere(
    "ST-9",
    "One idempotency key, one flow",
    "There are no idempotency keys: a pushed request is cheap and expires",
  ),
  row("ST-10", "Ids are random, evenly spread, and tell nothing", attack("session-fixation")),
];

const CALLBACK: readonly Requirement[] = [
  twin(
    "CB-1",
    "Only a state we signed, in its one spelling, is believed",
    attack("state"),
    `${PROTOCOL}/state.test.ts`,
  ),
  row("CB-2", "No other form of state is accepted, for any flow", attack("state")),
  twin(
    "CB-3",
    "A state is taken once, of any number at the same time",
    attack("single-use"),
    `${SCENARIOS}/races.test.ts`,
  ),
  twin(
    "CB-4",
    "A store recognises its own repeated write",
    "packages/token-store/src/records/dynamodb-lost-answers.twin.test.ts",
    "packages/token-store/src/records/dynamodb-lost-answers.test.ts",
    `${SCENARIOS}/lost-answers-dynamodb.test.ts`,
  ),
  row("CB-5", "A value of one kind is worth nothing as another", attack("token-kinds"), `${PROTOCOL}/state.test.ts`),
  row("CB-6", "State holds the flow's id, its context and times, and nothing else", `${PROTOCOL}/state.test.ts`),
  row(
    "CB-7",
    "Only the browser that left for the vendor may come back",
    attack("login-csrf"),
    `${FLOWS}/finish-legs.test.ts`,
  ),
  row("CB-8", "Only a client that says so binds the browser itself", `${FLOWS}/finish-legs.test.ts`),
  row(
    "CB-9",
    "An error that is not this flow's is neither shown nor passed on",
    attack("cross-context"),
    `${FLOWS}/finish-legs.test.ts`,
  ),
  row(
    "CB-10",
    "Whatever a vendor says, the redirect is well-formed and holds none of it",
    attack("callback-parameters"),
  ),
  row("CB-11", "An answer is one code or one error, and nothing else of it is read", attack("callback-parameters")),
  row("CB-12", "Callbacks are GET, or a form_post that becomes one", `${FLOWS}/finish-legs.test.ts`),
  row("CB-13", "A code leaks by no header, cache or frame", `${FLOWS}/finish-legs.test.ts`),
  twin("CB-14", "Redirects are 303, to the vendor, the client or our callback", attack("redirect")),
  elsewhere("CB-15", "A popup posts to its own opener only", "There is no popup mode"),
  row(
    "CB-16",
    "Where an issuer is due or given, it is the right one byte for byte",
    `${FLOWS}/finish-legs.test.ts`,
    `${VENDOR}/receive-callback.test.ts`,
  ),
  row("CB-17", "A state is spent before its code leaves us", `${FLOWS}/finish-legs.test.ts`),
];

const ACROSS: readonly Requirement[] = [
  row(
    "XA-1",
    "A code that came back in another vendor's flow goes nowhere",
    attack("cross-app"),
    `${FLOWS}/finish-legs.test.ts`,
  ),
  row(
    "XA-2",
    "Shared credentials never go to an endpoint of the caller's",
    attack("cross-app"),
    attack("custom-vendor"),
    attack("placeholders"),
    `${FLOWS}/manual-mode.test.ts`,
  ),
  row("XA-3", "An issuer's endpoints are those of its metadata", attack("cross-app"), attack("custom-vendor")),
  row("XA-4", "Another's client id does not come with an endpoint of one's own", attack("custom-vendor")),
  row(
    "XA-5",
    "What began with one client, vendor or set of endpoints cannot go on with another",
    attack("cross-context"),
    `${VENDOR}/connection-context.test.ts`,
  ),
  row("XA-6", "A foreign answer in the victim's browser is refused, and her own flow goes on", attack("login-csrf")),
  row(
    "XA-7",
    "Tokens need the verifier of the session that started",
    attack("session-fixation"),
    `${FLOWS}/finish-legs.test.ts`,
    // The platform's part: the verifier lies in the session of the user who started.
    "packages/broker-client/src/session.test.ts",
  ),
  twin(
    "XA-8",
    "A broker's code gives tokens once, in time, to its own client",
    attack("single-use"),
    `${FLOWS}/finish-legs.test.ts`,
  ),
];

const VENDOR_LEG: readonly Requirement[] = [
  row(
    "VR-1",
    "Every flow has a fresh verifier, and S256 where the vendor has PKCE",
    `${VENDOR}/authorization-url.test.ts`,
    `${FLOWS}/start-legs.test.ts`,
  ),
  row("VR-2", "Metadata without our PKCE method ends the flow", `${VENDOR}/discover.test.ts`),
  row("VR-3", "Every OpenID flow has a fresh nonce", `${FLOWS}/start-legs.test.ts`),
  row(
    "VR-4",
    "Our secret is in the Basic header or the body, rightly encoded, and nowhere else",
    `${VENDOR}/vendor-binding.test.ts`,
  ),
  row(
    "VR-5",
    "A code is never sent twice; unsent it stays good",
    `${VENDOR}/vendor-lab-faults.test.ts`,
    `${FLOWS}/finish-legs.test.ts`,
  ),
  row(
    "VR-6",
    "An assertion is for one audience, lives a minute and works once",
    `${SERVER}/client-authentication.test.ts`,
  ),
  row("VR-7", "A token answer is what the standard says, or it is refused", `${VENDOR}/token-response.test.ts`),
  row("VR-8", "A vendor may say nothing of caches; we always do", attack("http-surface")),
  row("VR-9", "A vendor's error becomes one of ours, and its text goes nowhere", `${VENDOR}/vendor-lab-faults.test.ts`),
  row("VR-10", "A resource is an absolute URI and reaches the vendor as given", attack("parameters")),
];

const ID_TOKENS: readonly Requirement[] = [
  row(
    "ID-1",
    "The lab of misbehaving vendors ends as its table says",
    `${VENDOR}/vendor-lab.test.ts`,
    `${VENDOR}/vendor-lab-faults.test.ts`,
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
  row("ID-2", "The signature is checked, TLS or not", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-3", "The right key id does not excuse the wrong key", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-4", "The entry, not the token, says which algorithms count", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-5", "No encryption, no compression, no critical extensions", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-6", "Times are there, are numbers, and are now", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-7", "We are its only audience", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-8", "The subject is a proper text", `${VENDOR}/vendor-lab.test.ts`),
  row("ID-9", "at_hash is right where it is given", `${VENDOR}/vendor-lab.test.ts`),
  row("JW-1", "A key that is new is fetched once", `${VENDOR}/vendor-lab-keys.test.ts`),
  row("JW-2", "Unknown key ids do not make us a nuisance", `${VENDOR}/vendor-lab-keys.test.ts`),
  row("JW-3", "Unfit keys are left out, and endless sets refused", `${VENDOR}/jwks-keys.test.ts`),
  row(
    "JW-4",
    "Known keys serve an hour while the vendor is down, and no check is skipped",
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
  row("DI-1", "Metadata is that of the issuer it was asked for, byte for byte", `${VENDOR}/discover.test.ts`),
  twin(
    "DI-2",
    "Metadata never leads behind the broker, and no browser to a script",
    attack("egress"),
    `${VENDOR}/discover.test.ts`,
  ),
  row(
    "DI-3",
    "Endpoints that change end the flows that began with others",
    attack("cross-context"),
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
];

const SURFACE: readonly Requirement[] = [
  row("HT-1", "A body is refused before it is too much", `${SCENARIOS}/http.test.ts`),
  row("HT-2", "Another content type is refused", `${SCENARIOS}/errors-par.test.ts`),
  twin(
    "HT-3",
    "A parameter has one value, and no name is special to us",
    attack("parameters"),
    `${PROTOCOL}/parameters.test.ts`,
  ),
  row(
    "HT-4",
    "Bytes that are no text are refused, never a fault",
    `${SCENARIOS}/http.test.ts`,
    `${PROTOCOL}/parameters.test.ts`,
  ),
  row("HT-5", "Slow clients lose their connection, and others do not notice", `${SCENARIOS}/http-slow.test.ts`),
  row("HT-6", "Headers of proxies change no URL", attack("http-surface"), attack("callback-parameters")),
  row("HT-7", "Only what is public is open, however it is spelt and whoever asks", attack("http-surface")),
  row("HT-8", "No other site may read our answers", attack("http-surface")),
  row("HT-9", "Secrets are compared in constant time", `${PROTOCOL}/mac.test.ts`),
  row("HT-10", "Every answer has the headers that keep it private", attack("http-surface")),
];

/** The scripted attacks, each a test under the name it has here. */
const SCRIPTS: readonly Requirement[] = [
  twin("X-1", "An honest vendor's code in a flow of the evil one", attack("cross-app")),
  twin(
    "X-2",
    "A token endpoint of the attacker's beside shared credentials",
    attack("custom-vendor"),
    attack("placeholders"),
    attack("cross-app"),
  ),
  twin("X-3", "An honest issuer with a token endpoint of the attacker's", attack("custom-vendor"), attack("cross-app")),
  twin("X-4", "Another's client id with a token endpoint of the attacker's", attack("custom-vendor")),
  twin("X-5", "Values of one flow, client or vendor on another", attack("cross-context")),
  twin("X-6", "The attacker's answer in the victim's browser", attack("login-csrf")),
  twin("X-7", "The victim finishes what the attacker started", attack("session-fixation")),
  twin("X-8", "The attacker has the verifier and not the code", attack("session-fixation")),
  twin("X-9", "The evil vendor's error in a flow of the honest one", attack("cross-context")),
  twin("X-10", "Two tabs, two vendors, crossed answers, in a thousand orders", attack("crossed-tabs")),
  twin("X-11", "A cookie planted from a sibling subdomain", attack("login-csrf")),
  twin("X-12", "Metadata that changes between start and callback", attack("cross-context")),
  twin("X-13", "The attacker's challenge in the victim's request", attack("cross-app")),
];

export const REQUIREMENTS: readonly Requirement[] = [
  ...START,
  ...CALLBACK,
  ...ACROSS,
  ...VENDOR_LEG,
  ...ID_TOKENS,
  ...SURFACE,
  ...SCRIPTS,
  ...BYOC,
  ...REGISTRATION,
  ...TOKEN_STORE,
  ...MCP_SERVER,
];
