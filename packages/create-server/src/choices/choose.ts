/**
 * Turns the command line into valid choices: wrong values are reported at once, missing ones are
 * asked for on a terminal, and reported without one.
 */
import { basename, resolve } from "node:path";
import type { Given } from "../arguments.ts";
import {
  type Callback,
  CALLBACKS,
  checkName,
  checkScopes,
  checkVendors,
  checkWord,
  type Choices,
  idsIn,
  type Mode,
  MODES,
  scopesByVendor,
  usualScopes,
} from "./choices.ts";

/** Asks the user. Each returns undefined when the user cancels. */
export interface Prompts {
  folder(): Promise<string | undefined>;
  name(suggestion: string): Promise<string | undefined>;
  mode(): Promise<string | undefined>;
  vendor(): Promise<string | undefined>;
  /** @param vendor the one whose scopes they are, or several */
  scopes(suggestion: string, vendor: string): Promise<string | undefined>;
}

export type Chosen =
  | { readonly kind: "chosen"; readonly folder: string; readonly choices: Choices }
  | { readonly kind: "refused"; readonly problems: readonly string[] }
  | { readonly kind: "cancelled" };

type Filled = Readonly<Record<Exclude<keyof Given, "callback">, string>>;

/**
 * @param deps.prompts undefined without a terminal
 * @param deps.checkFolder the end of a sentence about a folder that cannot be used
 */
export async function choose(
  given: Given,
  {
    prompts,
    checkFolder,
  }: { readonly prompts: Prompts | undefined; readonly checkFolder: (folder: string) => string | undefined },
): Promise<Chosen> {
  const folderProblem = given.folder === undefined ? undefined : checkFolder(given.folder);
  const problems = [
    ...(folderProblem === undefined ? [] : [`${given.folder ?? ""} ${folderProblem}`]),
    ...wrong(given),
    ...(prompts === undefined ? missing(given) : []),
  ];
  if (problems.length > 0) return { kind: "refused", problems };
  const filled = await fill(given, prompts);
  if (filled === undefined) return { kind: "cancelled" };
  const { folder, name, mode, vendor, scopes } = filled;
  return {
    kind: "chosen",
    folder,
    choices: {
      name,
      mode: mode as Mode,
      callback: (given.callback ?? (isSeveral(vendor) ? "server" : "platform")) as Callback,
      vendors: scopesByVendor(vendor, scopes),
    },
  };
}

function wrong({ name, mode, callback, vendor, scopes }: Given): string[] {
  const problem = (option: string, value: string | undefined, check: (value: string) => string | undefined) => {
    const found = value === undefined ? undefined : check(value);
    return found === undefined ? [] : [`--${option} ${JSON.stringify(value)}: ${found}`];
  };
  return [
    ...problem("name", name, checkName),
    ...problem("mode", mode, (word) => checkWord(word, MODES)),
    ...problem("vendor", vendor, checkVendors),
    ...problem("scopes", scopes, (value) => checkScopes(value, vendor)),
    ...problem("callback", callback, (word) => checkWord(word, CALLBACKS)),
    ...(mode === "pre-registered" && callback !== undefined ? ["--callback is for --mode hosted"] : []),
    ...wrongOfSeveral({ mode, callback, vendor }),
  ];
}

const isSeveral = (vendor: string | undefined): boolean => vendor !== undefined && idsIn(vendor).length > 1;

/** Who the user is and which accounts they link are two things, which only our own callback can part. */
function wrongOfSeveral({ mode, callback, vendor }: Pick<Given, "mode" | "callback" | "vendor">) {
  if (!isSeveral(vendor)) return [];
  return [
    ...(mode === "pre-registered" ? ["--vendor with several ids is for --mode hosted"] : []),
    ...(callback === "platform" ? ["--callback platform is for one vendor"] : []),
  ];
}

function missing({ folder, name, mode, vendor }: Given): string[] {
  const isUnnamed = name === undefined && folder !== undefined && checkName(nameOf(folder)) !== undefined;
  return [
    ...(folder === undefined ? ["FOLDER is missing"] : []),
    ...(isUnnamed ? ["--name is missing, and the folder's name is not valid for a server"] : []),
    ...(mode === undefined ? ["--mode is missing: hosted or pre-registered"] : []),
    ...(vendor === undefined ? ["--vendor is missing: github, slack, notion, …"] : []),
  ];
}

/** One question after the other. */
async function fill(given: Given, prompts: Prompts | undefined): Promise<Filled | undefined> {
  const folder = given.folder ?? (await prompts?.folder());
  if (folder === undefined) return undefined;
  const ownName = nameOf(folder);
  const isNamed = given.name !== undefined || checkName(ownName) === undefined;
  const name = isNamed ? (given.name ?? ownName) : await prompts?.name(ownName);
  if (name === undefined) return undefined;
  // Only a hosted server has several vendors, or a callback.
  const isHosted = isSeveral(given.vendor) || given.callback !== undefined;
  const mode = given.mode ?? (isHosted && prompts !== undefined ? "hosted" : await prompts?.mode());
  if (mode === undefined) return undefined;
  const vendor = given.vendor ?? (await prompts?.vendor());
  if (vendor === undefined) return undefined;
  const usual = usualScopes(vendor);
  const scopes = given.scopes ?? (prompts === undefined ? usual : await prompts.scopes(usual, vendor));
  return scopes === undefined ? undefined : { folder, name, mode, vendor, scopes };
}

/** `.` has a name too. */
const nameOf = (folder: string): string => basename(resolve(folder));
