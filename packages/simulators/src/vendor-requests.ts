/**
 * What tests see of the sandbox's vendor, and how they make it fail: every request to its OAuth
 * endpoints is recorded with its secrets, and the next request to a path can be answered wrongly,
 * late or not at all. Sits in front of oidc-provider as one middleware; without a fault the
 * provider's response is unchanged.
 */
import { text } from "node:stream/consumers";
import type { Provider, ProviderContext } from "oidc-provider/lib/provider.js";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Form members as received, secrets included. */
  readonly body: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of the response; 0 when the connection was cut. */
  readonly status: number;
}

/**
 * - `answer`: this response, and the provider never sees the request.
 * - `drop`: the connection is cut before the provider sees the request.
 * - `hang`: no response until the other side disconnects.
 * - `lose`: the provider does its work (a code is spent, a token rotated), then the connection is
 *   cut.
 * - `rewrite`: the provider's JSON response, changed.
 */
export type Fault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | { readonly kind: "drop" | "hang" | "lose" }
  | { readonly kind: "rewrite"; readonly rewrite: (answer: Record<string, unknown>) => Record<string, unknown> };

export interface VendorFaults {
  /**
   * Queues one fault for the next request to `path`, e.g. `/token`. Faults of one path happen in
   * the order they were queued.
   */
  next(path: string, fault: Fault): void;
  /** Removes the faults that have not happened. */
  clear(): void;
}

export interface FaultQueue extends VendorFaults {
  /** @returns the fault of a request to this path, which it has once */
  take(path: string): Fault | undefined;
}

export function createFaultQueue(): FaultQueue {
  const queued: { readonly path: string; readonly fault: Fault }[] = [];
  return {
    next: (path, fault) => void queued.push({ path, fault }),
    clear: () => void (queued.length = 0),
    take(path) {
      const index = queued.findIndex((entry) => entry.path === path);
      return index === -1 ? undefined : queued.splice(index, 1)[0]?.fault;
    },
  };
}

/** Installs the recorder; call before `provider.callback()`. */
export function recordVendorRequests(provider: Provider) {
  const recorded: RecordedRequest[] = [];
  const faults = createFaultQueue();

  provider.use(async (context, next) => {
    const fault = faults.take(context.path);
    const before = fault?.kind === "answer" || fault?.kind === "drop" || fault?.kind === "hang";
    const body = before ? await readForm(context) : {};
    if (!before) await next();
    if (fault !== undefined) applyFault(context, fault);
    const cut = fault !== undefined && ["drop", "hang", "lose"].includes(fault.kind);
    recorded.push({
      method: context.method,
      path: context.path,
      query: Object.fromEntries(new URLSearchParams(context.querystring)),
      body: before ? body : textMembers(context.oidc?.body ?? {}),
      headers: textMembers(context.req.headers),
      status: cut ? 0 : context.status,
    });
  });

  return { all: (): readonly RecordedRequest[] => [...recorded], faults };
}

function applyFault(context: ProviderContext, fault: Fault): void {
  switch (fault.kind) {
    case "answer":
      context.status = fault.status;
      context.set({ "Content-Type": "application/json", ...fault.headers });
      context.body = fault.body ?? "";
      return;
    case "rewrite":
      context.body = fault.rewrite(Object.assign({}, context.body));
      return;
    case "hang":
      context.respond = false;
      return;
    case "drop":
    case "lose":
      context.respond = false;
      context.req.socket.destroy();
  }
}

async function readForm(context: ProviderContext): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await text(context.req)));
}

function textMembers(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
