import { createServer } from "node:net";
import { listen } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { BrokerClientError } from "../error.ts";
import { brokerFetch } from "./http.ts";

const unavailable = (reason: string) => ({
  code: "temporarily_unavailable",
  details: { reason, retryAfterSeconds: 5 },
});

describe("the way out to the broker", () => {
  it("follows no redirect, and hands on status, headers and body", async () => {
    const asked: RequestInit[] = [];
    const fetch = brokerFetch(async (_url, init = {}) => {
      asked.push(init);
      return new Response("body", { status: 418, headers: { "x-one": "1" } });
    });
    const answer = await fetch("https://broker.example/", { method: "POST", redirect: "follow" });
    expect([answer.status, answer.headers.get("x-one"), await answer.text()]).toEqual([418, "1", "body"]);
    expect(asked[0]).toMatchObject({ method: "POST", redirect: "manual" });
  });

  it("rfc6749#B sends a form under its bare type", async () => {
    const sent: (string | null)[] = [];
    const fetch = brokerFetch(async (url, init) => {
      sent.push(new Request(url, init).headers.get("content-type"));
      return new Response(null, { status: 204 });
    });
    const form = { method: "POST", body: new URLSearchParams({ a: "b" }) };
    await fetch("https://broker.example/", form);
    await fetch("https://broker.example/", {
      ...form,
      headers: new Headers({ "content-type": "application/x-www-form-urlencoded;charset=UTF-8" }),
    });
    await fetch("https://broker.example/", { method: "POST", body: "{}", headers: { "content-type": "text/x" } });
    expect(sent).toEqual(["application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "text/x"]);
  });

  it.each([204, 304])("hands on a %i, which has no body", async (status) => {
    const fetch = brokerFetch(async () => new Response(null, { status }));
    expect((await fetch("https://broker.example/")).status).toBe(status);
  });

  it("takes a megabyte, and reads no further in a longer or byte-by-byte answer", async () => {
    const answered = async (chunk: number, most: number): Promise<number | string> => {
      let pulled = 0;
      const body = new ReadableStream({
        pull: (controller) => {
          pulled += 1;
          if (pulled > most) controller.close();
          else controller.enqueue(new Uint8Array(chunk));
        },
      });
      const answer = brokerFetch(async () => new Response(body))("https://broker.example/");
      const size = await answer.then(
        async (response) => (await response.arrayBuffer()).byteLength,
        ({ code, details }: BrokerClientError) => `${code} ${details.reason}`,
      );
      expect(pulled).toBeLessThan(3_000);
      return size;
    };
    expect(await answered(1_024, 1_024)).toBe(1_048_576);
    expect(await answered(1, 256)).toBe(256);
    expect(await answered(1_024, 1_025)).toBe("invalid_response too_large");
    expect(await answered(1, 1_000_000)).toBe("invalid_response too_large");
  });

  it("times out when the broker does not respond", async () => {
    const silent = brokerFetch(
      (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "TimeoutError")));
        }),
      5,
    );
    await expect(silent("https://broker.example/")).rejects.toMatchObject(unavailable("response_lost"));
  });

  it("says whether the request can have arrived", async () => {
    const closed = await listen(createServer());
    await closed.close();
    const ask = async (url: string): Promise<unknown> => brokerFetch(undefined)(url, { method: "POST" });
    await expect(ask(`http://127.0.0.1:${closed.port}/`)).rejects.toMatchObject(unavailable("broker_unreachable"));
    const hangingUp = await listen(createServer((socket) => socket.once("data", () => socket.destroy())));
    await expect(ask(`http://127.0.0.1:${hangingUp.port}/`)).rejects.toMatchObject(unavailable("response_lost"));
    await hangingUp.close();
    const egress = (sent: boolean) => async () => Promise.reject(Object.assign(new Error("egress"), { sent }));
    for (const [sent, reason] of [
      [false, "broker_unreachable"],
      [true, "response_lost"],
    ] as const) {
      await expect(brokerFetch(egress(sent))("https://broker.example/")).rejects.toMatchObject(unavailable(reason));
    }
  });

  it("treats half a response as a failure, and reports nothing of the request", async () => {
    const half = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"access_token":"half'));
        controller.error(new Error("connection lost with client-secret in it"));
      },
    });
    const fetch = brokerFetch(async () => new Response(half));
    const error: unknown = await fetch("https://broker.example/").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(unavailable("response_lost"));
    expect(error).not.toHaveProperty("cause");
    expect(JSON.stringify(error) + String(error)).not.toContain("client-secret");
  });
});
