/**
 * Reads the members of an input under KMS's constraints. Wrong types are a SerializationException,
 * wrong values a ValidationException, as at the service. Unknown members are refused, although the
 * service ignores some: a test must not rely on a member that does nothing here.
 */
import { kmsError } from "./errors.ts";

export type Input = Readonly<Record<string, unknown>>;
export type EncryptionContext = Readonly<Record<string, string>>;

const MAX_KEY_ID = 2048;
/** The limit for all names and values together, in bytes. */
const MAX_CONTEXT = 8192;

/** @throws Error named ValidationException */
export function requireOnly(input: Input, names: readonly string[]): void {
  const unknown = Object.keys(input).find((name) => !names.includes(name));
  if (unknown !== undefined) throw kmsError("ValidationException", `Unknown member '${unknown}'`);
}

export function optionalKeyId(input: Input, name: string): string | undefined {
  const value = input[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw notOfType(name);
  if (value.length < 1 || value.length > MAX_KEY_ID) throw invalid(name, `Member must have length 1 to ${MAX_KEY_ID}`);
  return value;
}

export function requiredKeyId(input: Input, name: string): string {
  const keyId = optionalKeyId(input, name);
  if (keyId === undefined) throw missing(name);
  return keyId;
}

/** @param maxBytes decoded; at least one byte is required */
export function requiredBlob(input: Input, name: string, maxBytes: number): Buffer {
  const value = input[name];
  if (value === undefined) throw missing(name);
  if (typeof value !== "string") throw notOfType(name);
  const bytes = Buffer.from(value, "base64");
  if (bytes.toString("base64") !== value) throw notOfType(name);
  if (bytes.length < 1 || bytes.length > maxBytes) throw invalid(name, `Member must have length 1 to ${maxBytes}`);
  return bytes;
}

/** @returns empty when it is absent: KMS treats both alike */
export function context(input: Input, name: string): EncryptionContext {
  const value = input[name] ?? {};
  if (typeof value !== "object" || Array.isArray(value)) throw notOfType(name);
  const entries = Object.entries(value);
  if (entries.some(([, text]) => typeof text !== "string")) throw notOfType(name);
  const bytes = entries.reduce((sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(text), 0);
  if (bytes > MAX_CONTEXT) throw invalid(name, `Member must have at most ${MAX_CONTEXT} bytes`);
  return Object.fromEntries(entries);
}

export function optionalChoice<T extends string>(input: Input, name: string, choices: readonly T[]): T | undefined {
  const value = input[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw notOfType(name);
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw invalid(name, `Member must satisfy enum value set: [${choices.join(", ")}]`);
  return choice;
}

function missing(name: string): Error {
  return kmsError("ValidationException", validation(`Value null at '${wire(name)}'`, "Member must not be null"));
}

function invalid(name: string, constraint: string): Error {
  return kmsError("ValidationException", validation(`Value at '${wire(name)}'`, constraint));
}

function validation(what: string, constraint: string): string {
  return `1 validation error detected: ${what} failed to satisfy constraint: ${constraint}`;
}

function notOfType(name: string): Error {
  return kmsError("SerializationException", `${name} is of another type`);
}

function wire(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
