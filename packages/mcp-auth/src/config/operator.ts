/** What the pages say of who runs the server: `SERVER_NAME` and its like. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Parsed } from "@oauth-broker/service/configuration";
import { hasUnseen, LONGEST_SHOWN } from "../presentation/shown-text.ts";
import type { Icon, OperatorSettings } from "../settings.ts";
import { type Reader, readChoice } from "./reader.ts";
import { ROWS } from "./variables/rows.ts";

function checkOperatorName(value: string): string | undefined {
  if (value.trim() !== "" && Array.from(value).length <= LONGEST_SHOWN && !hasUnseen(value)) return undefined;
  return "must have at most 80 characters, none of them a control character or one that changes the direction of text";
}

export function readOperator(read: Reader): OperatorSettings {
  return {
    name: read.text("SERVER_NAME", checkOperatorName),
    website: read.text("SERVER_WEBSITE", checkLink),
    privacy: read.text("SERVER_PRIVACY", checkLink),
    terms: read.text("SERVER_TERMS", checkLink),
    icon: readIcon(read),
    language: readChoice(read, "SERVER_LANGUAGE") ?? ROWS.SERVER_LANGUAGE.default,
  };
}

const LONGEST_LINK = 2_048;

function checkLink(value: string): string | undefined {
  const url = URL.parse(value);
  if (url?.protocol !== "https:" || value.length > LONGEST_LINK)
    return `must be an https URL of at most ${LONGEST_LINK} characters`;
  return url.username === "" && url.password === "" ? undefined : "must not have user information";
}

function readIcon(read: Reader): Icon | undefined {
  const path = read.value("SERVER_ICON");
  if (path === undefined) return undefined;
  const icon = loadIcon(path);
  if ("value" in icon) return icon.value;
  read.refuse("SERVER_ICON", icon.problem);
  return undefined;
}

const MAX_ICON_BYTES = 65_536;

/** The types by the first bytes of the file, not by its name. Not SVG, which can hold scripts. */
const SIGNATURES: readonly (readonly [contentType: string, signature: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/x-icon", /^00000100/],
  // RIFF, a length, WEBP
  ["image/webp", /^52494646.{8}57454250/],
];

function loadIcon(path: string): Parsed<Icon> {
  const bytes = readSmallFile(path);
  if ("problem" in bytes) return bytes;
  const start = bytes.value.toString("hex", 0, 16);
  const [contentType] = SIGNATURES.find(([, signature]) => signature.test(start)) ?? [];
  if (contentType === undefined) return { problem: "must be a PNG, ICO or WebP file by its first bytes" };
  return { value: { contentType, bytes: new Uint8Array(bytes.value) } };
}

/** Reads one byte beyond the limit and no more, even if the file says that it is smaller. */
function readSmallFile(path: string): Parsed<Buffer> {
  let file: number;
  try {
    // A named pipe would hold the start until another program writes to it.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return { problem: "names a file that cannot be read" };
  }
  try {
    if (!fstatSync(file).isFile()) return { problem: "must be a file" };
    const room = Buffer.alloc(MAX_ICON_BYTES + 1);
    const length = readSync(file, room, 0, room.length, 0);
    if (length > MAX_ICON_BYTES) return { problem: `must have at most ${MAX_ICON_BYTES} bytes` };
    return { value: room.subarray(0, length) };
  } catch {
    return { problem: "names a file that cannot be read" };
  } finally {
    closeSync(file);
  }
}
