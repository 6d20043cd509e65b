/** The cryptography of floor.ts, spelled out in node:crypto. */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";

export function seal(key: Buffer, text: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

export function open(key: Buffer, sealed: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return decipher.update(sealed.subarray(12, -16)).toString() + decipher.final().toString();
}

/** The code has 256 random bits, so one HMAC derives a key from it. */
export function keyFrom(code: string): Buffer {
  return createHmac("sha256", code).update("parked code").digest();
}

export function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

export function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}

export function random(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}
