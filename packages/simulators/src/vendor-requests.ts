/**
 * What tests see of the sandbox's vendor, and how they make it fail: every request to its OAuth
 * endpoints is recorded with its secrets, and the next request to a path can be answered wrongly,
 * late or not at all. Sits in front of oidc-provider as one middleware; without a fault the
 * provider's response is unchanged.
 */
import { text } from "node:stream/consumers";
import type { Provider } from "oidc-provider/lib/provider.js";

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

/** What tests have planted for the next request to a place: a path, or the name of an endpoint. */
export function createQueue<Item>() {
  const queued: { readonly at: string; readonly item: Item }[] = [];
  return {
    /** Those of one place happen in the order they were queued. */
    next: (at: string, item: Item): void => void queued.push({ at, item }),
    /** Removes those that have not happened. */
    clear: (): void => void (queued.length = 0),
    /** @returns what is next there, which it has once */
    take(at: string): Item | undefined {
      const index = queued.findIndex((entry) => entry.at === at);
      return index === -1 ? undefined : queued.splice(index, 1)[0]?.item;
    },
  };
}

/** Installs the recorder; call before `provider.callback()`. */
export function recordVendorRequests(provider: Provider) {
  const recorded: RecordedRequest[] = [];
  const faults = createQueue<Fault>();

  provider.use(async (context, next) => {
    const fault = faults.take(context.path);
    const isCut = fault?.kind === "drop" || fault?.kind === "lose";
    const isAnswered = !isCut && fault?.kind !== "hang";
    const isSeen = fault?.kind === "lose" || (isAnswered && fault?.kind !== "answer");
    const form = isSeen ? undefined : Object.fromEntries(new URLSearchParams(await text(context.req)));
    if (isSeen) await next();
    if (fault?.kind === "answer") {
      context.status = fault.status;
      context.set({ "Content-Type": "application/json", ...fault.headers });
      context.body = fault.body ?? "";
    }
    if (fault?.kind === "rewrite") context.body = fault.rewrite(Object.assign({}, context.body));
    context.respond = isAnswered;
    if (isCut) context.req.socket.destroy();
    recorded.push({
      method: context.method,
      path: context.path,
      query: Object.fromEntries(new URLSearchParams(context.querystring)),
      body: form ?? textMembers(context.oidc?.body ?? {}),
      headers: textMembers(context.req.headers),
      status: isAnswered ? context.status : 0,
    });
  });

  return { requests: (): readonly RecordedRequest[] => [...recorded], faults };
}

function textMembers(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
