/**
 * Defences of packages/oauth-core/src/protocol: PKCE, state, redirect URIs, parameters, JSON,
 * secrets. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const PROTOCOL = "packages/oauth-core/src/protocol";

export const PROTOCOL_DEFENCES: readonly Mutation[] = [
  {
    defence: "A code_challenge has 43 characters of base64url",
    rows: ["ST-3"],
    file: `${PROTOCOL}/pkce.ts`,
    find: "if (!CHALLENGE.test(codeChallenge)) {",
    replace: "if (CHALLENGE.test(codeChallenge) && false) {",
    tests: [`${PROTOCOL}/pkce.test.ts`],
  },
  {
    defence: "The derived verifier differs for each flow",
    rows: ["VR-1"],
    file: `${PROTOCOL}/pkce.ts`,
    find: "hmacSha256(key, `pkce\\0${flowId}`)",
    replace: "hmacSha256(key, `pkce\\0${typeof flowId}`)",
    tests: [`${PROTOCOL}/pkce.test.ts`],
  },
  {
    defence: "The header of a state is compared with the canonical bytes",
    rows: ["CB-1"],
    file: `${PROTOCOL}/state.ts`,
    find: "if (kid === undefined || header !== encodeHeader(typ, kid)) throw",
    replace: "if (kid === undefined) throw",
    tests: [`${PROTOCOL}/state.test.ts`],
  },
  {
    defence: "A state for another audience is refused",
    rows: ["CB-1", "CB-5"],
    file: `${PROTOCOL}/state.ts`,
    find: `  if (aud !== audience) throw invalid("another audience");
  if (typeof jti !== "string"`,
    replace: `  if (typeof aud !== "string") throw invalid("another audience");
  audience = aud;
  if (typeof jti !== "string"`,
    tests: [`${PROTOCOL}/state.test.ts`],
  },
  {
    defence: "A state has one spelling: its payload is canonical",
    rows: ["CB-1", "CB-3"],
    file: `${PROTOCOL}/state.ts`,
    find: 'if (encodePayload(claims, audience) !== payload) throw invalid("payload is not canonical");',
    replace: "void payload;",
    tests: [`${PROTOCOL}/state.test.ts`],
  },
  {
    defence: "A redirect URI is on the client's list character for character",
    rows: ["ST-2"],
    file: `${PROTOCOL}/redirect-uri.ts`,
    find: "if (!registered.includes(requested)) throw notRegistered();",
    replace: "if (!registered.some((uri) => requested.startsWith(uri))) throw notRegistered();",
    tests: [`${PROTOCOL}/redirect-uri.test.ts`],
  },
  {
    defence: "A native client's redirect URI differs in its loopback port only",
    rows: ["AS-1"],
    file: `${PROTOCOL}/redirect-uri.ts`,
    find: "return hostA !== undefined && hostA === hostB && restA === restB && Number(portB ?? 80) <= 65_535;",
    replace:
      "return hostA !== undefined && hostA === hostB && restA !== restB + '\\0' && Number(portB ?? 80) <= 65_535;",
    tests: [`${PROTOCOL}/redirect-uri.test.ts`],
  },
  {
    defence: "A registered redirect URI is https, or http on loopback",
    rows: ["AS-11"],
    file: `${PROTOCOL}/redirect-uri.ts`,
    find: `if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK_HOSTS.has(url.hostname))) {`,
    replace: `if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK_HOSTS.size > 0)) {`,
    tests: [`${PROTOCOL}/redirect-uri.registration.test.ts`],
  },
  {
    defence: "A registered redirect URI has no fragment",
    rows: ["AS-11"],
    file: `${PROTOCOL}/redirect-uri.ts`,
    find: 'if (uri.includes("#")) return "must not have a fragment";',
    replace: "",
    tests: [`${PROTOCOL}/redirect-uri.registration.test.ts`],
  },
  {
    defence: "A redirect goes only to a URI that was checked",
    rows: ["ST-2", "AS-1"],
    file: `${PROTOCOL}/redirect-uri.ts`,
    find: "const uri = to[checked];",
    replace: "const { uri } = to;",
    tests: [`${PROTOCOL}/redirect-uri.test.ts`],
  },
  {
    defence: "A parameter has no line breaks and no NUL",
    rows: ["HT-4"],
    file: `${PROTOCOL}/parameters.ts`,
    find: "if (LINE_OR_NUL.test(decoded)) throw",
    replace: "if (LINE_OR_NUL.test(decoded) && false) throw",
    tests: [`${PROTOCOL}/parameters.test.ts`],
  },
  {
    defence: "A caller's further parameters contain no reserved name, however it is spelled",
    rows: ["ST-4"],
    file: `${PROTOCOL}/parameters.ts`,
    find: 'folded.startsWith("code_challenge") || RESERVED_AUTHORIZATION_PARAMETERS.has(folded)',
    replace: 'folded.startsWith("code_challenge") || RESERVED_AUTHORIZATION_PARAMETERS.has(name)',
    tests: [`${PROTOCOL}/parameters.values.test.ts`],
  },
  {
    defence: "JSON has each member once",
    rows: ["VR-7"],
    file: `${PROTOCOL}/strict-json.ts`,
    find: 'if (names.has(name)) throw new SyntaxError("JSON has a member twice");',
    replace: "",
    tests: [`${PROTOCOL}/strict-json.test.ts`, "packages/oauth-core/src/vendor-client/token/response.test.ts"],
  },
  {
    defence: "JSON is nested 32 levels deep at most",
    rows: ["EG-8"],
    file: `${PROTOCOL}/strict-json.ts`,
    find: "if (open.length === MAX_DEPTH) throw",
    replace: "if (open.length === -MAX_DEPTH) throw",
    tests: [`${PROTOCOL}/strict-json.test.ts`],
  },
  {
    defence: "A secret is hidden when it is serialised",
    rows: ["TS-17", "OB-2"],
    file: `${PROTOCOL}/secret.ts`,
    find: `  toJSON(): string {
    return "[secret]";`,
    replace: `  toJSON(): string {
    return this.#value;`,
    tests: [`${PROTOCOL}/secret.test.ts`],
  },
  {
    defence: "A secret is hidden when it is inspected",
    rows: ["TS-17", "OB-2"],
    file: `${PROTOCOL}/secret.ts`,
    find: `  [inspect.custom](): string {
    return "[secret]";`,
    replace: `  [inspect.custom](): string {
    return this.#value;`,
    tests: [`${PROTOCOL}/secret.test.ts`],
  },
  {
    defence: "A host stays below the ends that its vendor's entry pins",
    rows: ["XA-2"],
    file: `${PROTOCOL}/placeholders.ts`,
    find: "if (suffix === undefined || suffix.some(",
    replace: "if (suffix === undefined || suffix.length > 0 || suffix.some(",
    tests: [`${PROTOCOL}/placeholders.test.ts`],
  },
  {
    defence: "An end below which anyone can register a name pins no host",
    rows: ["XA-2"],
    file: `${PROTOCOL}/placeholders.ts`,
    find: 'suffix.every((end) => end.startsWith(".") && !isPublicSuffix(end.slice(1)))',
    replace: 'suffix.some((end) => end.startsWith(".") && !isPublicSuffix(end.slice(1)))',
    tests: [`${PROTOCOL}/placeholders.test.ts`],
  },
  {
    defence: "A caller gives no value that follows from another",
    rows: ["XA-2"],
    file: `${PROTOCOL}/placeholders.ts`,
    find: "if (follows === undefined) return",
    replace: "if (follows === undefined || Object.hasOwn(values, name)) return",
    tests: [`${PROTOCOL}/placeholders.test.ts`],
  },
  {
    defence: "An operator's placeholder does not leave what the registry pins",
    file: "apps/broker/src/config/vendors/placeholders.ts",
    find: "if (isMoved(parsed)) return { ...known, ...own };",
    replace: "if (isMoved(parsed) || Object.keys(known).length > 0) return { ...known, ...own };",
    tests: ["apps/broker/src/config/vendors/pinned.test.ts"],
  },
  {
    defence: "A URL template is no longer than a URL",
    file: `${PROTOCOL}/placeholders.ts`,
    find: "  requireTemplateLength(template.length);\n",
    replace: "",
    tests: [`${PROTOCOL}/placeholders.attacks.test.ts`],
  },
  {
    defence: "A URL template stops being filled where it becomes longer than a URL",
    file: `${PROTOCOL}/placeholders.ts`,
    find: "      requireTemplateLength(length);\n",
    replace: "",
    tests: [`${PROTOCOL}/placeholders.attacks.test.ts`],
  },
  {
    defence: "A fixed parameter stops being filled where it becomes longer than a URL",
    file: "packages/oauth-core/src/vendor-client/templates.ts",
    find: "    requireTemplateLength(length);\n",
    replace: "",
    tests: ["packages/oauth-core/src/vendor-client/templates.test.ts"],
  },
];
