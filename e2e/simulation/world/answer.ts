/** What a request was answered, read whole; and what our code answers with while a world runs. */

export interface Answer {
  readonly status: number;
  /** As it is in the header, … */
  readonly location: string | undefined;
  /** … and as a URL, on any host if it names none. */
  readonly to: URL | undefined;
  readonly cookies: readonly string[];
  readonly text: string;
  /** The body of a JSON answer. */
  readonly body: Readonly<Record<string, unknown>>;
}

export async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const location = headers.get("location") ?? undefined;
  return {
    status,
    location,
    to: location === undefined ? undefined : (URL.parse(location, "https://here.example") ?? undefined),
    cookies: headers.getSetCookie(),
    text,
    body: headers.get("content-type")?.includes("json") === true ? (JSON.parse(text) as Answer["body"]) : {},
  };
}

/** A member of an answer, if it is text. */
export function textIn(body: Answer["body"], name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" ? value : undefined;
}

const NodeResponse = globalThis.Response;

/**
 * A text, or nothing, without the stream that Node.js makes of each, which costs a twentieth
 * of a run. In production the listener replaces `Response`, too.
 */
class TextResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly #text: string;
  #isRead = false;

  constructor(body?: ConstructorParameters<typeof Response>[0], init: ResponseInit = {}) {
    this.status = init.status ?? 200;
    this.headers = new Headers(init.headers);
    this.#text = typeof body === "string" ? body : "";
    // A stream, of the MCP SDK, stays one.
    if (typeof body !== "string" && body) return new NodeResponse(body, init) as unknown as TextResponse;
  }
  get ok(): boolean {
    return this.status < 300;
  }
  get body(): Response["body"] {
    return this.#text === "" ? null : new NodeResponse(this.#text).body;
  }
  async text(): Promise<string> {
    if (this.#isRead) throw new TypeError("Body is unusable: Body has already been read");
    this.#isRead = this.#text !== "";
    return this.#text;
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
  static json(value: unknown, init?: ResponseInit): TextResponse {
    const response = new TextResponse(JSON.stringify(value), init);
    response.headers.set("content-type", "application/json");
    return response;
  }
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof NodeResponse;
  }
}
Object.setPrototypeOf(TextResponse.prototype, NodeResponse.prototype);

/** @returns puts back what was there */
export function withTextResponses(): () => void {
  const before = globalThis.Response;
  const set = (value: unknown): void =>
    void Object.defineProperty(globalThis, "Response", { value, configurable: true });
  set(TextResponse);
  return () => set(before);
}
