/** Unguessable values: how they are made, compared, and kept out of logs. */
import { randomFillSync, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

/**
 * A value that prints as `[secret]` wherever it is logged, inspected or serialised. `reveal()` is
 * greppable.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** A secret that may be absent. */
  static of(value: string | undefined): Secret | undefined {
    return value === undefined ? undefined : new Secret(value);
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

/** Members of private and symmetric keys (rfc7518#6). A private key that is published is compromised. */
export const SECRET_MEMBERS: readonly string[] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/**
 * Bytes come from the system's generator, many at a time: a system call per value is a large part
 * of what a flow costs.
 */
const pool = Buffer.alloc(4096);
let used = pool.length;

/** @param byteLength 16 to 64 @returns base64url of that many random bytes */
//= rfc6749#10.10
export function randomToken(byteLength: number): string {
  if (used + byteLength > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const end = used + byteLength;
  const token = pool.toString("base64url", used, end);
  pool.fill(0, used, end);
  used = end;
  return token;
}

/**
 * Whether two texts have the same UTF-8 bytes, in a time that depends only on their lengths. How
 * texts that are secret, or derived from a secret, are compared; bytes are compared with
 * timingSafeEqual, and tooling/src/code/secret-comparisons.ts refuses `===` and `.equals()`. An
 * absent text equals no text, not even another absent one.
 */
//= bar#HT-9
export function isSameText(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  // UTF-8, not latin1: latin1 folds U+0141 onto "A", which would accept a second spelling of a
  // signature.
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
