/**
 * Defences between the steps of a deployed server: what has changed since a page was shown, a call
 * was admitted or a check began. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const SERVER_STEP_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/hosted/pages/flows.ts": {
    "A link of a user who signed out while the code was redeemed is not stored": {
      rows: ["LK-9"],
      find: 'const signedIn = await deps.signIns.read(visit.cookieHeader);\n  const { user = "", listed,',
      replace:
        'const gone = { user: flow.user ?? "", label: "", cookie: { value: "", hash: "" } };\n  const signedIn = (await deps.signIns.read(visit.cookieHeader)) ?? gone;\n  const { user = "", listed,',
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
    "Tokens of a user who signed out meanwhile are revoked": {
      find: "    await discardTokens(tokenSetOf(tokens, deps.now()), dropped, atVendor(listed, deps)).catch(() => undefined);",
      replace: "    void [discardTokens, tokenSetOf, atVendor, dropped];",
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
    "The pages' sign-in asks for no refresh token": {
      find: "vendor: { ...vendor.vendor, offlineScopes: [] } };",
      replace: "vendor: { ...vendor.vendor } };",
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/link-policy/scope.ts": {
    "The default scopes that identify a user ask for no refresh token": {
      find: ".filter((scope) => !offline.includes(scope));",
      replace: ".filter((scope) => scope !== offline.join());",
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/store-link.ts": {
    "A question is asked over the version that the page showed": {
      find: "if (present !== linkVersion) return",
      replace: "if (present < 0) return",
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/connections.ts": {
    "A question is shown to its user alone": {
      find: "waiting?.user === user ? waiting",
      replace: 'waiting?.user !== "" ? waiting',
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
    "A question is answered by its user alone": {
      find: "pending.user !== user)",
      replace: 'pending.user === "")',
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
    "The ticket of *Use another account* is one": {
      find: "/^[A-Za-z0-9_-]{43}$/.exec(form",
      replace: "/^.+$/.exec(form",
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/connect.ts": {
    "After a sign-in a browser goes back to a ticket's path alone": {
      find: ".test(value) ? `${PATHS.connect}",
      replace: '.test(value) || value !== "" ? `${PATHS.connect}',
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/tickets/tickets.ts": {
    "A ticket is of its sign-in vendor, also when it is decided": {
      find: "!isSameSource({ vendor: ticket.signIn, issuer: ticket.issuer }, source)",
      replace: "!isSameSource({ ...source, issuer: source.issuer }, source)",
    },
  },
  "packages/mcp-auth/src/hosted/links/token-source.ts": {
    "A call goes on with tokens of the same account alone": {
      rows: ["LK-10"],
      find: "if (isWithin && isSameAccount) return;",
      replace: "if (isWithin && isSameAccount !== undefined) return;",
      tests: ["packages/mcp-auth/src/hosted/tickets/caller-links.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/policy.ts": {
    "Parked tokens are sealed under a server key besides our code": {
      rows: ["TS-3"],
      find: 'await serverKey.derive("parked-tokens"), Buffer',
      replace: '(await serverKey.derive("parked-tokens")).subarray(0, 0), Buffer',
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/request-state.ts": {
    "A requestState has eight kilobytes at most": {
      find: "|| state.length > MOST_CHARACTERS",
      replace: "|| state.length > 100 * MOST_CHARACTERS",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/metadata-document.ts": {
    "The operator's private networks are closed to client documents": {
      rows: ["AS-13"],
      find: "allowCidrs: [],",
      replace: 'allowCidrs: ["10.0.0.0/8"],',
      tests: ["packages/mcp-auth/src/hosted/clients/metadata-document-network.test.ts"],
    },
  },
  "packages/mcp-auth/src/pre-registered/authenticate.ts": {
    "A refusal by the vendor's API beats a check that began before it": {
      find: "if (asked.get(key) === asking)\n        keep",
      replace: "if (asked.size >= 0)\n        keep",
    },
    "A vendor's verdict is kept for seconds": {
      find: "VALIDATION_SECONDS = 10;",
      replace: "VALIDATION_SECONDS = 3600;",
    },
  },
  "packages/token-store/src/links.ts": {
    "What is forgotten is a link that has ended": {
      rows: ["LK-9"],
      find: 'if (row === undefined || statusOf(row.attributes) !== "revoked") return;\n  const set = { ttl',
      replace: "if (row === undefined) return;\n  const set = { ttl",
    },
    "A link made while another is forgotten stays": {
      rows: ["LK-9"],
      find: '{ set, remove }, expectAsRead(row.attributes, ["version", "status", LINK_VERSION]));\n}\n\n/** All but',
      replace: "{ set, remove }, expectAsRead(row.attributes, []));\n}\n\n/** All but",
    },
  },
  "packages/token-store/src/refresh/journal.ts": {
    "The attempt that a row names is a file in the journal's folder": {
      rows: ["TS-3"],
      find: "if (!NAME.test(name)) return undefined;",
      replace: 'if (!NAME.test(name) && name === "") return undefined;',
    },
  },
};
