/**
 * What the broker sends to vendors, how far it trusts their answers, and what its requests may
 * reach. Part of list.ts.
 */
import { attack, EGRESS, FLOWS, notOurs, type Requirement, row, SERVER, twin, VENDOR } from "./requirement.ts";

export const REQUESTS: readonly Requirement[] = [
  row(
    "VR-1",
    "A vendor's code is intercepted. Every flow has a fresh verifier, and S256 wherever the vendor has PKCE.",
    `${VENDOR}/authorization/url.test.ts`,
    `${FLOWS}/start-legs.test.ts`,
  ),
  row(
    "VR-2",
    "A vendor's metadata offers only `plain`, or drops our method during a flow. The flow ends.",
    `${VENDOR}/discovery/discover.test.ts`,
  ),
  row(
    "VR-3",
    "An ID token of another flow is brought. Every OpenID flow has a fresh nonce.",
    `${FLOWS}/start-legs.test.ts`,
  ),
  row(
    "VR-4",
    "Our client secret could show in a URL or a log, or be encoded wrongly. It is in the Basic header or the body, as the vendor wants it, and nowhere else.",
    `${VENDOR}/binding.test.ts`,
  ),
  row(
    "VR-5",
    "The vendor's answer to a code is lost. The code is not sent again once a byte of it has left; unsent it stays good.",
    `${VENDOR}/vendor-lab-faults.test.ts`,
    `${FLOWS}/token.test.ts`,
  ),
  row(
    "VR-6",
    "A client assertion made for one server is shown to another, again, or for long. Its audience is one string, it lives a minute at most, and works once.",
    `${SERVER}/client-authentication.test.ts`,
  ),
  row(
    "VR-7",
    "A token answer is HTML, has no token, odd types, lifetimes or members twice, or is an error with status 200. It is read as the standard says or refused.",
    `${VENDOR}/token/response.test.ts`,
  ),
  row(
    "VR-8",
    "A vendor's token response does not forbid caching. It is accepted; our own responses always forbid caching.",
    attack("http-surface"),
  ),
  row(
    "VR-9",
    "A vendor answers with an error, also one that is not the standard's. It becomes one of ours, and its body goes to no caller.",
    `${VENDOR}/vendor-lab-faults.test.ts`,
  ),
  row(
    "VR-10",
    "A resource is relative or has a fragment. It is refused; an absolute URI reaches the vendor as given, on both legs.",
    attack("parameters"),
  ),
];

const LAB = `${VENDOR}/vendor-lab.test.ts`;

export const ANSWERS: readonly Requirement[] = [
  row(
    "ID-1",
    "A vendor misbehaves in one of seventy ways (V-1 to V-70: claims, signatures, keys, answers, metadata). Each ends as the table of the lab says.",
    LAB,
    `${VENDOR}/vendor-lab-faults.test.ts`,
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
  row("ID-2", "An ID token came over TLS and could pass unsigned. Its signature is always checked.", LAB),
  row("ID-3", "An ID token has the right key id and claims and is signed by another key. It is refused.", LAB),
  row(
    "ID-4",
    "An ID token chooses its own algorithm. The vendor's entry says which count, and none is symmetric.",
    LAB,
  ),
  row("ID-5", "An ID token is encrypted, compressed or has critical extensions. It is refused.", LAB),
  row("ID-6", "Times of an ID token are missing, no numbers, past, or more than a minute ahead. It is refused.", LAB),
  row(
    "ID-7",
    "An ID token names further audiences, or another authorized party. We are its only audience; where the vendor's entry expects more, `azp` is us.",
    LAB,
  ),
  row("ID-8", "`sub` is missing, empty, no text, too long or holds control characters. The ID token is refused.", LAB),
  row("ID-9", "`at_hash` is there and is of another token. The ID token is refused.", LAB),
  row(
    "JW-1",
    "A vendor signs with a key it has just published. The key set is fetched again, once, and the login succeeds.",
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
  row(
    "JW-2",
    "ID tokens with unknown key ids keep coming. The key set of one vendor is fetched twice a minute at most.",
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
  row(
    "JW-3",
    "A key set has private, symmetric, short or misused keys, or has no end. Unfit keys are left out, and endless sets refused.",
    `${VENDOR}/id-token/jwks.test.ts`,
  ),
  row(
    "JW-4",
    "A vendor's key set cannot be had. Known keys serve for an hour, after that logins fail; no check is skipped.",
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
  row(
    "DI-1",
    "Metadata names another issuer than the requested one, even if only a slash or a letter's case differs. It is refused.",
    `${VENDOR}/discovery/discover.test.ts`,
    `${VENDOR}/discovery/live.test.ts`,
    `${FLOWS}/live-metadata.test.ts`,
  ),
  twin(
    "DI-2",
    "Metadata names endpoints that are scripts, files, plain http, with user information, or inside our network. They are neither called nor given to a browser.",
    attack("egress"),
    `${VENDOR}/discovery/discover.test.ts`,
  ),
  row(
    "DI-3",
    "Metadata names other endpoints than at the start of a flow. The flow ends by its context hash.",
    attack("cross-context"),
    `${VENDOR}/vendor-lab-keys.test.ts`,
  ),
];

const ACCOUNT = `${VENDOR}/userinfo/userinfo.test.ts`;
const ACCOUNT_TWIN = `${VENDOR}/userinfo/userinfo.twin.test.ts`;

export const USERINFO: readonly Requirement[] = [
  twin(
    "UI-1",
    "Userinfo has no `sub`, or another than the ID token that came with the access token. None of it is used.",
    ACCOUNT_TWIN,
    ACCOUNT,
    `${VENDOR}/userinfo/identify.test.ts`,
    "packages/mcp-auth/src/mcp/tools/vendor-api.test.ts",
  ),
  twin(
    "UI-2",
    "Userinfo is a JWT: unsigned, or of another issuer or audience. None is requested, and none is accepted.",
    ACCOUNT_TWIN,
    ACCOUNT,
  ),
];

const FETCH = `${EGRESS}/index.test.ts`;
const CONNECTOR = `${EGRESS}/connector.test.ts`;
const LIMITS = `${EGRESS}/limits.test.ts`;

export const EGRESS_ROWS: readonly Requirement[] = [
  twin(
    "EG-1",
    "A URL names loopback or a private address, in decimal, octal, hexadecimal, full-width digits or plainly. It is refused before any socket is opened.",
    attack("registration-egress"),
    `${EGRESS}/corpus.test.ts`,
    CONNECTOR,
  ),
  row(
    "EG-2",
    "An IPv6 address is local, multicast, or holds an IPv4 address (mapped, NAT64, 6to4, Teredo). It is refused.",
    `${EGRESS}/addresses.test.ts`,
  ),
  row(
    "EG-3",
    "An IPv4 address is of a special-purpose range, the cloud's metadata service among them. It is refused.",
    `${EGRESS}/addresses.test.ts`,
    `${EGRESS}/networks.test.ts`,
  ),
  row(
    "EG-4",
    "A name resolves to a private address, to some public and some private ones, or changes between check and connection. The addresses are checked in the connection's own look-up, all of them, and one that was checked is connected to.",
    CONNECTOR,
    `${EGRESS}/lookup.test.ts`,
  ),
  row(
    "EG-5",
    "A name is local by itself: `localhost`, `*.internal`, a single label. It is refused as a name.",
    `${EGRESS}/addresses.test.ts`,
    CONNECTOR,
  ),
  row(
    "EG-6",
    "A vendor answers with a redirect. It is never followed; from an endpoint it is an error.",
    attack("egress"),
    FETCH,
    `${VENDOR}/discovery/discover.test.ts`,
  ),
  row(
    "EG-7",
    "A URL has another scheme, user information, a fragment, a port, an endless host or control characters. It is refused when it is configured and when it is called.",
    `${EGRESS}/url.test.ts`,
    `${EGRESS}/corpus.test.ts`,
    "apps/broker/src/config/vendors/vendors.test.ts",
  ),
  row(
    "EG-8",
    "An answer is endless, slow, a compression bomb or full of headers. It is cut at limits of size and time, after decoding.",
    LIMITS,
  ),
  row(
    "EG-9",
    "A caller maps our network by our errors. Refused, closed and silent addresses give one code and one sentence.",
    FETCH,
    attack("registration-egress"),
  ),
  row(
    "EG-10",
    "A vendor's certificate is self-signed, expired or for another name. The call fails, and no setting turns the check off.",
    `${EGRESS}/tls.test.ts`,
  ),
  row(
    "EG-11",
    "Proxy variables of the process, cookies or a shared connection carry a call elsewhere. None is used. The operator's own proxy is asked for names that the operator vouches for, and for nothing that a request names.",
    FETCH,
    `${EGRESS}/proxy.test.ts`,
  ),
  twin(
    "EG-12",
    "A token endpoint redirects our POST with its credentials to another host. They stay where they were sent.",
    attack("egress"),
    FETCH,
    `${VENDOR}/vendor-lab-faults.test.ts`,
  ),
];

/** Clients registered at vendors on a caller's behalf, and credentials of a caller. */
const NOT_READ = "The vendor's answer is the caller's, byte for byte: the broker reads and keeps none of it";
const NOT_KEPT = "A caller's secret comes with each call and is kept nowhere that could be named";
const HOSTED_CLIENT = "apps/platform/src/oauth/hosted-server/client.test.ts";

export const CREDENTIALS: readonly Requirement[] = [
  twin(
    "DC-1",
    "A registration is requested with the caller's redirect URIs. Only our callback is registered.",
    attack("registration"),
    `${VENDOR}/registration/register.test.ts`,
  ),
  notOurs("DC-2", "The registration endpoint is on another host or inside our network. It is not called.", NOT_READ),
  row(
    "DC-3",
    "A registered secret ends, or has ended. The platform registers anew when it does, and takes none that has; at the broker the vendor's answer is the caller's.",
    HOSTED_CLIENT,
  ),
  row(
    "DC-4",
    "An attacker who reads the store looks for the secret of a registered client. The platform keeps it sealed, and the broker keeps none.",
    HOSTED_CLIENT,
  ),
  row(
    "DC-5",
    "A server moves to another issuer. The client registered at the first is not used there: the platform registers anew.",
    HOSTED_CLIENT,
  ),
  row(
    "DC-6",
    "A client registers without end at a vendor through us. It is limited per client, with 429.",
    `${FLOWS}/register-callers.test.ts`,
  ),
  row(
    "DC-7",
    "A vendor refuses a registration with an error of its own. Status and body reach the caller as they came.",
    `${VENDOR}/registration/register.test.ts`,
  ),
  notOurs(
    "DC-8",
    "Clients registered in different contexts share a redirect URI. Each has one of its own.",
    "Registration is at vendors of the catalogue, for the broker's one redirect URI: that is what callers need it for",
  ),
  notOurs("DC-9", "A connection ends. Its registration at the vendor ends too.", NOT_READ),
  row(
    "BY-1",
    "A caller's secret is looked for in answers, logs and the store. It is sealed while its flow waits, shown by nothing, then gone.",
    `${FLOWS}/byoc.test.ts`,
  ),
  row(
    "BY-2",
    "A token endpoint, issuer or client id is changed while the secret stays. The secret must be entered again.",
    "apps/platform/src/connectors/settings.test.ts",
  ),
  notOurs("BY-3", "A caller names a secret of another. There is no such name.", NOT_KEPT),
  row(
    "BY-4",
    "A secret or token is about to go to another host or client than it was minted for. It does not leave.",
    `${FLOWS}/grants.test.ts`,
    `${FLOWS}/check.test.ts`,
    `${VENDOR}/access-token/check.test.ts`,
    `${FLOWS}/byoc.test.ts`,
    `${FLOWS}/manual-mode.test.ts`,
    `${FLOWS}/live-metadata.test.ts`,
    `${VENDOR}/discovery/live.test.ts`,
    attack("custom-vendor"),
    attack("check"),
  ),
  row("BY-5", "A vendor is switched off. Refresh and revocation refuse it too.", `${FLOWS}/byoc.test.ts`),
];
