/**
 * Unguessable values: flow ids, codes, cookies. Bytes come from the system's generator, drawn many at a time, because one
 * system call per value is a large part of what a flow costs; each is used once and then wiped.
 */
import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4096);
let used = pool.length;

/** @param byteLength 16 to 64 @returns base64url of that many random bytes */
//= rfc6749#10.10
export function randomToken(byteLength: number): string {
  if (used + byteLength > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + byteLength);
  used += byteLength;
  const token = bytes.toString("base64url");
  bytes.fill(0);
  return token;
}
