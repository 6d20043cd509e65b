/**
 * Values of `state` that must be refused (bar CB-1, CB-3, CB-5), made for one target so that
 * everything but the one fault is right. With the target's real key they also show that a valid
 * signature excuses nothing; against a running service any key can be passed.
 */
import { memberForgeries } from "./state-corpus-members.ts";
import { signatureForgeries } from "./state-corpus-signature.ts";
import { compact, encode, headerOf, mac, payloadOf } from "./state-forge.ts";
import type { StateTarget } from "./state-forge.ts";
import { words } from "./words.ts";

export interface StateForgery {
  readonly name: string;
  readonly state: string;
}

/** A state the target accepts: what the forgeries are made from. */
export function validState(target: StateTarget): string {
  return compact(headerOf(target), payloadOf(target), target.key);
}

/** All forgeries, each with its own name. */
export function stateForgeries(target: StateTarget): StateForgery[] {
  const cases = { ...shapes(target), ...spellings(target), ...signatureForgeries(target), ...memberForgeries(target) };
  return Object.entries(cases).map(([name, state]) => ({ name, state }));
}

function shapes(target: StateTarget): Record<string, string> {
  const valid = validState(target);
  const [header = "", payload = "", signature = ""] = valid.split(".");
  const plain = [...words(`. .. ... a a.b a.b.c a.b.c.d a.b.c.d.e null undefined true 0 {} []`), "", " "];
  return {
    ...Object.fromEntries(plain.map((text) => [`just ${JSON.stringify(text)}`, text])),
    "object to string": "[object Object]",
    "only the header": header,
    "header and payload": `${header}.${payload}`,
    "no signature": `${header}.${payload}.`,
    "no payload": `${header}..${signature}`,
    "no header": `.${payload}.${signature}`,
    "detached payload": mac(`${header}.`, target.key),
    "payload and signature": `${payload}.${signature}`,
    "parts reversed": `${signature}.${payload}.${header}`,
    "dot before": `.${valid}`,
    "dot after": `${valid}.`,
    "double dot": valid.replace(".", ".."),
    "fourth part": `${valid}.AAAA`,
    "five parts, as a JWE": `${header}.AAAA.AAAA.${payload}.${signature}`,
    "two states": `${valid}${valid}`,
    "two states with a comma": `${valid},${valid}`,
    "two states with a space": `${valid} ${valid}`,
    "flattened JSON": JSON.stringify({ protected: header, payload, signature }),
    "general JSON": JSON.stringify({ payload, signatures: [{ protected: header, signature }] }),
    quoted: `"${valid}"`,
    "as a bearer value": `Bearer ${valid}`,
    "dots percent-encoded": valid.replaceAll(".", "%2e"),
    "percent-encoded whole": valid.replaceAll(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`),
    "encoded once more": encode(valid),
    "upper case": valid.toUpperCase(),
    "lower case": valid.toLowerCase(),
    "first character lost": valid.slice(1),
    "last character lost": valid.slice(0, -1),
    "64 KB of A": "A".repeat(65_536),
    "64 KB of dots": ".".repeat(65_536),
    "64 KB of line breaks after it": valid + "\n".repeat(65_536),
    "64 KB of padding": valid + "=".repeat(65_536),
    "64 KB in a signed claim": compact(headerOf(target), { ...payloadOf(target), ctx: "A".repeat(65_536) }, target.key),
    "64 KB in a signed header": compact(
      { ...headerOf(target), kid: "k".repeat(65_536) },
      payloadOf(target),
      target.key,
    ),
    "100,000 nested arrays": compact(headerOf(target), "[".repeat(100_000), target.key),
    "just over the length cap": compact(headerOf(target), { ...payloadOf(target), ctx: "A".repeat(800) }, target.key),
  };
}

/** White space, padding and other spellings of the same bytes (bar CB-3). */
function spellings(target: StateTarget): Record<string, string> {
  const valid = validState(target);
  const [header = "", payload = "", signature = ""] = valid.split(".");
  const added = [
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "=",
    "==",
    "%20",
    "+",
    "\u00a0",
    "\u200b",
    "\u2028",
    "\ufeff",
    "-",
    "!",
  ];
  const places: [string, (text: string) => string][] = [
    ["before the header", (text) => text + valid],
    ["after the header", (text) => `${header}${text}.${payload}.${signature}`],
    ["before the payload", (text) => `${header}.${text}${payload}.${signature}`],
    ["inside the payload", (text) => `${header}.${payload.slice(0, 8)}${text}${payload.slice(8)}.${signature}`],
    ["after the payload", (text) => `${header}.${payload}${text}.${signature}`],
    ["before the signature", (text) => `${header}.${payload}.${text}${signature}`],
    ["inside the signature", (text) => `${header}.${payload}.${signature.slice(0, 8)}${text}${signature.slice(8)}`],
    ["after the signature", (text) => valid + text],
  ];
  const spread = places.flatMap(([place, at]) =>
    added.map((text) => [`${JSON.stringify(text)} ${place}`, at(text)] as const),
  );
  const last = signature.at(-1) ?? "";
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const sibling = (offset: number): string =>
    alphabet[(alphabet.indexOf(last) & ~3) + ((alphabet.indexOf(last) + offset) & 3)] ?? "";
  const bytes = Buffer.from(signature, "base64url");
  return {
    ...Object.fromEntries(spread),
    "unused bits of the signature, 1": valid.slice(0, -1) + sibling(1),
    "unused bits of the signature, 2": valid.slice(0, -1) + sibling(2),
    "unused bits of the signature, 3": valid.slice(0, -1) + sibling(3),
    "a character folded outside latin1": `${header}.${payload}.${String.fromCharCode(signature.charCodeAt(0) + 0x100)}${signature.slice(1)}`,
    "full-width character": `${header}.${payload}.${String.fromCharCode(signature.charCodeAt(0) + 0xfee0)}${signature.slice(1)}`,
    "signature in hex": `${header}.${payload}.${bytes.toString("hex")}`,
    "signature in padded standard base64": `${header}.${payload}.${bytes.toString("base64")}`,
    "signature cut to 16 bytes": `${header}.${payload}.${encode(bytes.subarray(0, 16))}`,
    "signature cut to 31 bytes": `${header}.${payload}.${encode(bytes.subarray(0, 31))}`,
    "signature with a byte more": `${header}.${payload}.${encode(Buffer.concat([bytes, Buffer.alloc(1)]))}`,
    "signature of zeros": `${header}.${payload}.${encode(Buffer.alloc(32))}`,
    "first bit flipped": `${header}.${payload}.${encode(Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 0x80]), bytes.subarray(1)]))}`,
    "last bit flipped": `${header}.${payload}.${encode(Buffer.concat([bytes.subarray(0, 31), Buffer.from([(bytes[31] ?? 0) ^ 1])]))}`,
    "payload padded, then signed": mac(
      `${header}.${Buffer.from(payload, "base64url").toString("base64").replace(/=*$/, "=")}`,
      target.key,
    ),
    "header padded, then signed": mac(`${header}=.${payload}`, target.key),
    "line break in the payload, then signed": mac(`${header}.${payload.slice(0, 8)}\n${payload.slice(8)}`, target.key),
    "another state's payload": `${header}.${encode(JSON.stringify({ ...payloadOf(target), jti: "b3RoZXI" }))}.${signature}`,
    "another state's header": `${encode(JSON.stringify({ ...headerOf(target), kid: "k0" }))}.${payload}.${signature}`,
  };
}
