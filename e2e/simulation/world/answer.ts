/** What a request was answered, read whole. */

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
