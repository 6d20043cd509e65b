/**
 * Defences of packages/oauth-core/src/protocol: PKCE, state, redirect URIs, parameters, JSON,
 * secrets. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const PROTOCOL_DEFENCES: DefencesByFile = {
  "packages/oauth-core/src/protocol/pkce.ts": {
    "A code_challenge has 43 characters of base64url": {
      rows: ["ST-3"],
      find: "if (!CHALLENGE.test(codeChallenge)) {",
      replace: "if (CHALLENGE.test(codeChallenge) && false) {",
    },
    "The derived verifier differs for each flow": {
      rows: ["VR-1"],
      find: "hmacSha256(key, `pkce\\0${flowId}`)",
      replace: "hmacSha256(key, `pkce\\0${typeof flowId}`)",
    },
  },
  "packages/oauth-core/src/protocol/state.ts": {
    "The header of a state is compared with the canonical bytes": {
      rows: ["CB-1"],
      find: "if (kid === undefined || header !== encodeHeader(typ, kid)) throw",
      replace: "if (kid === undefined) throw",
    },
    "A state for another audience is refused": {
      rows: ["CB-1", "CB-5"],
      find: '  if (aud !== audience) throw invalid("another audience");\n  if (typeof jti !== "string"',
      replace:
        '  if (typeof aud !== "string") throw invalid("another audience");\n  audience = aud;\n  if (typeof jti !== "string"',
    },
    "A state has one spelling: its payload is canonical": {
      rows: ["CB-1", "CB-3"],
      find: 'if (encodePayload(claims, audience) !== payload) throw invalid("payload is not canonical");',
      replace: "void payload;",
    },
  },
  "packages/oauth-core/src/protocol/redirect-uri.ts": {
    "A redirect URI is on the client's list character for character": {
      rows: ["ST-2"],
      find: "if (!registered.includes(requested)) throw notRegistered();",
      replace: "if (!registered.some((uri) => requested.startsWith(uri))) throw notRegistered();",
    },
    "A native client's redirect URI differs in its loopback port only": {
      rows: ["AS-1"],
      find: "return hostA !== undefined && hostA === hostB && restA === restB && Number(portB ?? 80) <= 65_535;",
      replace:
        "return hostA !== undefined && hostA === hostB && restA !== restB + '\\0' && Number(portB ?? 80) <= 65_535;",
    },
    "A registered redirect URI is https, or http on loopback": {
      rows: ["AS-11"],
      find: 'if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK_HOSTS.has(url.hostname))) {',
      replace: 'if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK_HOSTS.size > 0)) {',
      tests: ["packages/oauth-core/src/protocol/redirect-uri.registration.test.ts"],
    },
    "A redirect goes only to a URI that was checked": {
      rows: ["ST-2", "AS-1"],
      find: "const uri = to[checked];",
      replace: "const { uri } = to;",
    },
  },
  "packages/oauth-core/src/protocol/parameters.ts": {
    "A parameter has no line breaks and no NUL": {
      rows: ["HT-4"],
      find: "if (LINE_OR_NUL.test(decoded)) throw",
      replace: "if (LINE_OR_NUL.test(decoded) && false) throw",
    },
    "A caller's further parameters contain no reserved name, however it is spelled": {
      rows: ["ST-4"],
      find: 'folded.startsWith("code_challenge") || RESERVED_AUTHORIZATION_PARAMETERS.has(folded)',
      replace: 'folded.startsWith("code_challenge") || RESERVED_AUTHORIZATION_PARAMETERS.has(name)',
      tests: ["packages/oauth-core/src/protocol/parameters.values.test.ts"],
    },
  },
  "packages/oauth-core/src/protocol/strict-json.ts": {
    "JSON has each member once": {
      rows: ["VR-7"],
      find: 'if (names.has(name)) throw new SyntaxError("JSON has a member twice");',
      replace: "",
      tests: [
        "packages/oauth-core/src/protocol/strict-json.test.ts",
        "packages/oauth-core/src/vendor-client/token/response.test.ts",
      ],
    },
    "JSON is nested 32 levels deep at most": {
      rows: ["EG-8"],
      find: "if (open.length === MAX_DEPTH) throw",
      replace: "if (open.length === -MAX_DEPTH) throw",
    },
  },
  "packages/oauth-core/src/protocol/secret.ts": {
    "A secret is hidden when it is serialised": {
      rows: ["TS-17", "OB-2"],
      find: '  toJSON(): string {\n    return "[secret]";',
      replace: "  toJSON(): string {\n    return this.#value;",
    },
    "A secret is hidden when it is inspected": {
      rows: ["TS-17", "OB-2"],
      find: '  [inspect.custom](): string {\n    return "[secret]";',
      replace: "  [inspect.custom](): string {\n    return this.#value;",
    },
  },
  "packages/oauth-core/src/protocol/placeholders.ts": {
    "A host stays below the ends that its vendor's entry pins": {
      rows: ["XA-2"],
      find: "if (suffix === undefined || suffix.some(",
      replace: "if (suffix === undefined || suffix.length > 0 || suffix.some(",
    },
    "An end below which anyone can register a name pins no host": {
      rows: ["XA-2"],
      find: 'suffix.every((end) => end.startsWith(".") && !isPublicSuffix(end.slice(1)))',
      replace: 'suffix.some((end) => end.startsWith(".") && !isPublicSuffix(end.slice(1)))',
    },
    "A caller gives no value that follows from another": {
      rows: ["XA-2"],
      find: "if (follows === undefined) return",
      replace: "if (follows === undefined || Object.hasOwn(values, name)) return",
    },
    "A URL template is no longer than a URL": {
      find: "  requireTemplateLength(template.length);\n",
      replace: "",
      tests: ["packages/oauth-core/src/protocol/placeholders.attacks.test.ts"],
    },
    "A URL template stops being filled where it becomes longer than a URL": {
      find: "      requireTemplateLength(length);\n",
      replace: "",
      tests: ["packages/oauth-core/src/protocol/placeholders.attacks.test.ts"],
    },
  },
  "apps/broker/src/config/vendors/placeholders.ts": {
    "An operator's placeholder does not leave what the registry pins": {
      find: "if (isMoved(parsed)) return { ...known, ...own };",
      replace: "if (isMoved(parsed) || Object.keys(known).length > 0) return { ...known, ...own };",
      tests: ["apps/broker/src/config/vendors/pinned.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/templates.ts": {
    "A fixed parameter stops being filled where it becomes longer than a URL": {
      find: "    requireTemplateLength(length);\n",
      replace: "",
    },
  },
};
