/**
 * One keep-alive connection to a subject, one request at a time. Uses undici's client without its
 * conveniences: the driver shares the machine with what it measures, and a slow driver would leave
 * the server idle between requests.
 */
import { randomBytes } from "node:crypto";
import { Client } from "undici";

export interface Reply {
  readonly status: number;
  header(name: string): string;
  readonly body: string;
}

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Fields;
  readonly body: string | null;
}

type Fields = Readonly<Record<string, string>>;

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** @param always headers of each request */
export function openConnection(url: string, always: Fields = {}): Connection {
  const client = new Client(url, { pipelining: 1 });
  const send = ({ headers, ...request }: Request): Promise<Reply> =>
    new Promise((resolve, reject) => {
      let status = 0;
      let received: Readonly<Record<string, string | string[] | undefined>> = {};
      const chunks: Buffer[] = [];
      client.dispatch(
        { ...request, headers: { ...always, ...headers } },
        {
          onRequestStart() {},
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            received = responseHeaders;
          },
          onResponseData(_controller, chunk) {
            chunks.push(chunk);
          },
          onResponseEnd() {
            const body = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString();
            resolve({ status, body, header: (name) => String(received[name] ?? "") });
          },
          onResponseError(_controller, error) {
            reject(error);
          },
        },
      );
    });
  return connectionOf(send, () => client.close());
}

export type Connection = ReturnType<typeof connectionOf>;
/** A connection whose requests go another way. */
export function connectionOf(send: (request: Request) => Promise<Reply>, close: () => Promise<void>) {
  return {
    send,
    get: (path: string, headers: Fields = {}) => send({ method: "GET", path, headers, body: null }),
    post: (path: string, form: Fields, headers: Fields) =>
      send({ method: "POST", path, headers: { ...headers, ...FORM }, body: new URLSearchParams(form).toString() }),
    close,
  };
}

export function expectStatus(status: number, reply: Reply): Reply {
  if (reply.status !== status) throw unexpected(reply);
  return reply;
}

export function members(reply: Reply, status = 200): Readonly<Record<string, unknown>> {
  return JSON.parse(expectStatus(status, reply).body) as Record<string, unknown>;
}

export function unexpected({ status, body, header }: Reply): Error {
  const location = header("location").slice(0, 200);
  return new Error(`An answer is not as it must be: ${status} ${location} ${body.slice(0, 500)}`);
}

/** 43 characters. */
export function random(): string {
  return randomBytes(32).toString("base64url");
}
