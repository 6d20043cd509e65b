/**
 * The questions on a terminal, as in other create commands. Loaded only if there is a terminal.
 */
import type { Readable, Writable } from "node:stream";
import { autocomplete, select, text } from "@clack/prompts";
import { checkName, checkScopes, suggestName, vendorChoices } from "./choices.ts";
import type { Prompts } from "./choose.ts";

/** The terminal; the process's own by default. */
export interface Streams {
  readonly input?: Readable;
  readonly output?: Writable;
}

/**
 * @param checkFolder returns a problem with the folder, so that it is reported before the other
 *   questions
 */
export function createPrompts(checkFolder: (folder: string) => string | undefined, streams: Streams = {}): Prompts {
  return {
    folder: () =>
      text({
        ...streams,
        message: "Where should it go?",
        placeholder: "../my-server",
        validate: (value) => (value === undefined || value === "" ? "A folder, please" : checkFolder(value)),
      }).then(answered),
    name: (folder) =>
      text({
        ...streams,
        message: "What is the server called?",
        initialValue: suggestName(folder) ?? "my-server",
        validate: (value) => checkName(value ?? ""),
      }).then(answered),
    mode: () =>
      select({
        ...streams,
        message: "Who runs the vendor's OAuth flow?",
        options: [
          { value: "hosted", label: "This server", hint: "hosted: it keeps its users' tokens, encrypted" },
          {
            value: "pre-registered",
            label: "The platform",
            hint: "pre-registered: it sends each user's vendor token",
          },
        ],
      }).then(answered),
    vendor: () =>
      autocomplete<string>({
        ...streams,
        message: "Whose accounts does it work with?",
        placeholder: "Type to search",
        maxItems: 8,
        options() {
          return vendorChoices(this.userInput).map(({ id, name }) => ({ value: id, label: name, hint: id }));
        },
      }).then(answered),
    scopes: (usual, vendor) =>
      text({
        ...streams,
        message: "Which scopes?",
        placeholder: "none: what the vendor gives without",
        initialValue: usual,
        defaultValue: "",
        validate: (value) => (value === undefined || value === "" ? undefined : checkScopes(value, vendor)),
      }).then(answered),
  };
}

/** @returns undefined for the symbol that says that the user cancelled */
function answered(answer: string | symbol): string | undefined {
  return typeof answer === "string" ? answer : undefined;
}
