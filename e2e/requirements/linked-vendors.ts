/**
 * A server with several vendors: the pages on which users link them, and the tools that ask for it.
 * Part of list.ts.
 */
import { attack, HOSTED, type Requirement, SCENARIOS, twin } from "./requirement.ts";

const ELICITATION = "packages/mcp-auth/src/mcp/elicitation";

const PAGES = `${HOSTED}/pages`;
const CHROMIUM = `${SCENARIOS}/several-vendors/chromium.test.ts`;
const WHOLE = attack("several-vendors");

export const LINKED_VENDORS: readonly Requirement[] = [
  twin(
    "LK-1",
    "A malicious client opens a victim's ticket in its own user's browser, or a malicious user sends theirs to a victim. The page names nothing of the ticket, and nothing is linked.",
    `${PAGES}/pages.twin.test.ts`,
    `${PAGES}/attacks.test.ts`,
    CHROMIUM,
  ),
  twin(
    "LK-2",
    "An attacker begins a link and has the victim finish it at the vendor. Only the browser that began it, signed in as its user, stores an account.",
    `${PAGES}/pages.twin.test.ts`,
    `${PAGES}/attacks.test.ts`,
  ),
  twin(
    "LK-3",
    "Two vendors are linked at once, and one's answer comes to the other's path, or with the other's state or `iss`. It is refused.",
    `${PAGES}/pages.twin.test.ts`,
    `${PAGES}/attacks.test.ts`,
  ),
  twin(
    "LK-4",
    "A `requestState` is forged, expired, or presented by another user or client, for another tool or other arguments. The answer is an error, and neither a tool nor a ticket comes of it.",
    `${ELICITATION}/attacks.twin.test.ts`,
    `${ELICITATION}/attacks.test.ts`,
    WHOLE,
  ),
  twin(
    "LK-5",
    "An attacker signs the victim's browser in as the attacker, or plants a cookie and waits for the victim to sign in. A sign-in counts in the browser that began it, under a value no browser had before.",
    `${PAGES}/pages.twin.test.ts`,
    `${PAGES}/attacks.test.ts`,
    CHROMIUM,
    WHOLE,
  ),
  twin(
    "LK-6",
    "The operator makes another vendor the sign-in vendor, where another user has the same identity. Links, sessions, tickets and cookies made under the one before count for no user of it, and the last three stay ended after a return.",
    `${PAGES}/changed-links.twin.test.ts`,
    `${HOSTED}/tickets/caller-links.test.ts`,
    WHOLE,
  ),
  twin(
    "LK-7",
    "Another site frames the pages, or posts their forms. No page is framed, and no form of another site is accepted.",
    CHROMIUM,
    `${PAGES}/connect.test.ts`,
  ),
  twin(
    "LK-8",
    "A call, a retry or a vendor's refusal names scopes beyond those of the deployment, the session and the tool. The user is never asked for them.",
    `${ELICITATION}/attacks.twin.test.ts`,
    `${ELICITATION}/attacks.test.ts`,
    `${ELICITATION}/lacking-scopes.test.ts`,
  ),
  twin(
    "LK-9",
    "A user disconnects while a refresh runs, a browser is at the vendor, or they sign in at a client. What comes of these is stored nowhere, and revoked.",
    `${PAGES}/changed-links.twin.test.ts`,
    `${PAGES}/connections.test.ts`,
    `${HOSTED}/links/link-at-sign-in.test.ts`,
  ),
  twin(
    "LK-10",
    "A tool sends one vendor's token to another vendor. Each token is sent to its own vendor's hosts alone.",
    `${ELICITATION}/attacks.twin.test.ts`,
    `${ELICITATION}/vendors-apart.test.ts`,
  ),
];
