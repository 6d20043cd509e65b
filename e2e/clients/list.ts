/** The clients, in the order of the table, and how each is started. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "./programs/package.json" with { type: "json" };

export interface Client {
  /** Chooses it on the command line. */
  readonly id: string;
  readonly title: string;
  readonly version: string;
  readonly language: string;
  /** The program that drives it, in the folder of the installed clients; gets the address and a folder. */
  readonly command: readonly string[];
  /** What it cannot do wherever it connects, by step, with the reason. */
  readonly limits?: Readonly<Partial<Record<Step, string>>>;
}

/** A step of a client's life, in the order of the table. */
export const STEPS = ["login", "restart", "refresh", "an hour later", "revoked"] as const;
export type Step = (typeof STEPS)[number];

/** The locks of the Python SDK, and what the programs that use it share. */
export const PYTHON_SDK: string = join(import.meta.dirname, "..", "support", "mcp", "python-sdk");

/** @returns versions of the Python SDK, each with its lock */
export function pythonVersions(): readonly { readonly version: string; readonly lock: string }[] {
  return readdirSync(PYTHON_SDK).flatMap((name) => {
    const version = /^requirements-(.+)\.txt$/.exec(name)?.[1];
    return version === undefined ? [] : [{ version, lock: join(PYTHON_SDK, name) }];
  });
}

type Package = keyof (typeof manifest)["dependencies"];

/** By the name in programs/connections.mjs: the dependency of programs/package.json, which may be an alias. */
const FROM_NPM: Readonly<Record<string, Package>> = {
  "sdk-1.13": "sdk-1.13",
  "sdk-1.17": "sdk-1.17",
  "sdk-1.20": "sdk-1.20",
  "sdk-1.25": "sdk-1.25",
  "sdk-1.32": "sdk-1.32",
  "sdk-2": "@modelcontextprotocol/client",
  "ai-sdk": "@ai-sdk/mcp",
  langchain: "@langchain/mcp-adapters",
  mastra: "@mastra/mcp",
  "openai-agents": "@openai/agents",
  strands: "@strands-agents/sdk",
  mcporter: "mcporter",
  codex: "@openai/codex",
  "mcp-remote": "mcp-remote",
};
/** Of those that are not in TypeScript, or that have limits. */
const OWN: Readonly<Record<string, Partial<Pick<Client, "language" | "limits">>>> = {
  codex: { language: "Rust" },
  mcporter: {
    limits: {
      refresh: "its call command signs in again",
      "an hour later": "its list command takes the 401 for its answer: one request to /mcp, and none to /token",
    },
  },
};

function fromNpm(): Client[] {
  return Object.entries(FROM_NPM).map(([id, name]) => {
    const [, title = name, version = ""] = /^(?:npm:(.+)@)?(.+)$/.exec(manifest.dependencies[name]) ?? [];
    return { id, title, version, language: "TypeScript", command: [process.execPath, "main.mjs", id], ...OWN[id] };
  });
}

/** By the name in programs/go/main.go: the module, whose version go.mod names. */
const FROM_GO: Readonly<Record<string, string>> = {
  "go-sdk": "github.com/modelcontextprotocol/go-sdk",
  "mcp-go": "github.com/mark3labs/mcp-go",
};

function fromGo(): Client[] {
  const modules = readFileSync(join(import.meta.dirname, "programs", "go", "go.mod"), "utf8");
  return Object.entries(FROM_GO).map(([id, title]) => {
    const [, version = ""] = new RegExp(`${title} v([\\d.]+)`).exec(modules) ?? [];
    return { id, title, version, language: "Go", command: ["./go-client", id] };
  });
}

/** @param pythonOf an interpreter with that version of the SDK */
export function allClients(pythonOf: (version: string) => string): readonly Client[] {
  const python = pythonVersions().map(({ version }) => ({
    id: `python-${version}`,
    title: "mcp (Python SDK)",
    version,
    language: "Python",
    command: [pythonOf(version), "main.py"],
    limits: {
      "an hour later":
        "the SDK keeps no expiry: after a restart it takes the old token for valid, and answers the 401 with a new sign-in instead of a refresh",
    },
  }));
  return [...fromNpm(), ...fromGo(), ...python];
}
