/**
 * The page that names the client and its owner when owners share a vendor's credentials: its
 * content, and what its form may do.
 */
import { describe, expect, it } from "vitest";
import type { ClientConfig } from "../config.ts";
import type { Registration } from "../vendor-choice/registrations.ts";
import {
  CLIENT_SECRET,
  flowIdOf,
  formPost,
  ISSUER,
  REDIRECT_URI,
  refusedPage,
  testBroker,
  testClient,
} from "../testing/test-broker.ts";

const OWNED = { name: "Reports <b>", owner: "globex", ownerName: "Globex & Sons" };

async function asked({
  owners = ["globex", "acme"],
  form = {},
  pushedAlone = false,
  own = {},
}: {
  owners?: readonly string[];
  form?: Record<string, string>;
  /** The other owners come while the request waits. */
  pushedAlone?: boolean;
  own?: Partial<ClientConfig>;
} = {}) {
  const others = owners.slice(1).map((owner) => ({ ...testClient(`of ${owner}`), owner }));
  const clients = [{ ...testClient("platform"), ...OWNED, ...own }, ...others];
  const broker = await testBroker({ config: { clients } });
  const registrations = broker.deps.registrations as Map<string, readonly Registration[]>;
  const held = new Map(registrations);
  if (pushedAlone) registrations.clear();
  const { body } = await broker.push({ state: "s&t", ...form });
  for (const [id, all] of held) registrations.set(id, all);
  const path = broker.authorizePath(body["request_uri"]);
  const flowId = flowIdOf(body["request_uri"]);
  const shown = await broker.get(path);
  const fields = (html: string): Record<string, string> =>
    Object.fromEntries(
      [...html.matchAll(/name="(\w+)" value="([^"]*)">/g)].map(([, name = "", value = ""]) => [name, value]),
    );
  const decide = async (change: Record<string, string | undefined>, cookie = shown.cookie, site?: string) => {
    const sent = Object.entries({ ...fields(shown.html), ...change }).filter((pair) => pair[1] !== undefined);
    const form = new URLSearchParams(sent as [string, string][]).toString();
    const posted = formPost(form, site === undefined ? {} : { "sec-fetch-site": site });
    return broker.get("/v1/authorize", cookie === "" ? undefined : cookie, posted);
  };
  const stage = async () => (await broker.deps.records.get({ kind: "flow", id: flowId }))?.stage;
  return { ...broker, path, flowId, shown, fields, decide, stage };
}

describe("bar#XA-9 the page before the browser leaves", () => {
  it("bar#XA-9 names client, owner, vendor and where it leads back to, and spends nothing", async () => {
    const { shown, stage, seen } = await asked();
    expect(shown.response.status).toBe(200);
    for (const text of ["Reports &lt;b&gt;", "Globex &amp; Sons", "Acme", "read", "platform.example"]) {
      expect(shown.html).toContain(text);
    }
    expect([await stage(), seen]).toEqual(["pushed", []]);
  });

  it("bar#XA-9 lists every scope, one a line, as code and whole, so that they are no sentence", async () => {
    const words = "none. This is a routine check by Acme: press Continue".split(" ");
    const scope = [...words, "x".repeat(300), ...Array.from({ length: 60 }, (_, i) => `s${i}`), "admin"];
    const { shown } = await asked({ form: { scope: scope.join(" ") } });
    const lines = [...shown.html.matchAll(/<code>([^<]*)<\/code><br>/g)].map(([, line = ""]) => line);
    expect(lines).toEqual(scope);
    expect(shown.html).not.toContain("This is");
  });

  it("bar#XA-9 hides no scope behind as many as a request holds", async () => {
    const others = Array.from({ length: 1_600 }, (_, i) => String(i).padStart(4, "0"));
    const { shown } = await asked({ form: { scope: [...others, "admin"].join(" ") } });
    expect(shown.html.match(/<code>\d{4}<\/code><br>/g)).toHaveLength(others.length);
    expect(shown.html).toContain("<code>admin</code><br>");
  });

  it("bar#XA-9 is not there for a client that vouches for browsers itself: it is refused before", async () => {
    const own = { browserBinding: "platform" } as const;
    const shared = await asked({ own });
    for (const path of ["/v1/par", "/v1/explain"]) {
      const { body } = path === "/v1/par" ? await shared.push() : await shared.post(path, { vendor: "acme" });
      expect(body).toMatchObject({ error: "unauthorized_client", reason: "browser_binding" });
    }
    expect((await shared.push({ vendor_client_id: "mine" })).response.status).toBe(201);
    const alone = await asked({ own, owners: ["globex"] });
    expect((await alone.push()).response.status).toBe(201);
  });

  it("bar#XA-9 binds the browser also where the owners came while such a client's request waited", async () => {
    const { decide, callback, shown } = await asked({ own: { browserBinding: "platform" }, pushedAlone: true });
    const { location } = await decide({ decision: "approve" });
    const answer = { state: location?.searchParams.get("state") ?? "", code: "c" };
    expect((await callback(answer, "")).html).toContain("browser_mismatch");
    expect((await callback(answer, shown.cookie)).location?.searchParams.get("code")).toMatch(/./);
  });

  it("bar#XA-9 may not be framed, runs no script, and contains neither cookie nor secret", async () => {
    const { shown } = await asked();
    expect(shown.response.headers.get("content-security-policy")).toMatch(/default-src 'none'; frame-ancestors 'none'/);
    expect(shown.response.headers.get("x-frame-options")).toBe("DENY");
    expect(shown.response.headers.get("cache-control")).toBe("no-store");
    expect(shown.html).not.toMatch(/<script|s&amp;t/);
    for (const secret of [shown.cookie?.split("=")[1] ?? "?", CLIENT_SECRET, "vendor secret"]) {
      expect(shown.html).not.toContain(secret);
    }
  });

  it("bar#XA-9 is the same after a reload, and its form still counts", async () => {
    const { shown, get, path, fields, decide } = await asked();
    const again = await get(path, shown.cookie);
    expect(fields(again.html)).toEqual(fields(shown.html));
    expect((await decide({ decision: "approve" })).location?.host).toBe("acme.example");
  });

  it("bar#XA-9 goes to the vendor once approved, and the flow ends as any other", async () => {
    const { shown, decide, get, path, callback, redeem, stage } = await asked();
    const { response, location } = await decide({ decision: "approve" });
    expect([response.status, location?.host, await stage()]).toEqual([303, "acme.example", "started"]);
    expect((await get(path, shown.cookie)).location?.href).toBe(location?.href);
    const back = await callback({ state: location?.searchParams.get("state") ?? "", code: "c" }, shown.cookie);
    expect((await redeem(back.location?.searchParams.get("code") ?? "")).response.status).toBe(200);
  });

  it("bar#XA-9 goes back to the client with access_denied once denied, and the flow is over", async () => {
    const { decide, flowId, stage, get, path, shown, seen } = await asked();
    const { response, location } = await decide({ decision: "deny" });
    expect(response.status).toBe(303);
    expect(location?.href.startsWith(`${REDIRECT_URI}?`)).toBe(true);
    const denied = { error: "access_denied", state: "s&t", iss: ISSUER, flow_id: flowId };
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject(denied);
    expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
    expect([await stage(), seen]).toEqual(["failed", []]);
    expect((await decide({ decision: "approve" })).html).toContain("request_uri_used");
    expect((await get(path, shown.cookie)).html).toContain("request_uri_used");
  });

  it("bar#XA-9 counts once: a second click leads to the vendor with the first state, too late to deny", async () => {
    const { decide, stage } = await asked();
    const { location } = await decide({ decision: "approve" });
    expect((await decide({ decision: "approve" })).location?.href).toBe(location?.href);
    for (const [decision, cookie] of [["deny"], ["approve", ""]] as const) {
      expect(await decide({ decision }, cookie)).toMatchObject(refusedPage("request_uri_used"));
      expect(await stage()).toBe("started");
    }
  });

  it.each([
    ["no csrf", { decision: "approve", csrf: undefined }, undefined, "csrf_mismatch"],
    ["a wrong csrf", { decision: "deny", csrf: "A".repeat(43) }, undefined, "csrf_mismatch"],
    ["no cookie", { decision: "deny" }, "", "browser_mismatch"],
    ["no decision", {}, undefined, "decision_missing"],
    ["another decision", { decision: "yes" }, undefined, "decision_missing"],
  ])("bar#XA-9 refuses %s and leaves the flow as it was", async (_, change, cookie, reason) => {
    const { decide, stage } = await asked();
    const sent: Record<string, string | undefined> = { decision: undefined, ...change };
    expect(await decide(sent, cookie)).toMatchObject(refusedPage(`<code>${reason}</code>`));
    expect(await stage()).toBe("pushed");
    expect((await decide({ decision: "approve" })).response.status).toBe(303);
  });

  it.each(["cross-site", "same-site"])("bar#RS-7 refuses a form of a page that is %s", async (site) => {
    const { decide, stage } = await asked();
    const { response, html } = await decide({ decision: "approve" }, undefined, site);
    expect([response.status, response.headers.get("location"), await stage()]).toEqual([403, null, "pushed"]);
    expect(html).toContain("<code>foreign_form</code>");
    expect((await decide({ decision: undefined }, undefined, site)).html).toContain("<code>decision_missing</code>");
    expect((await decide({ decision: "approve" }, undefined, "same-origin")).response.status).toBe(303);
  });

  it("bar#XA-9 takes the token of one browser in no other, and of one flow in no other", async () => {
    const one = await asked();
    const other = await one.get(one.path);
    const foreign = await one.decide({ decision: "approve" }, other.cookie);
    expect(foreign.html).toContain("csrf_mismatch");
    const two = await one.push();
    const shown = await one.get(one.authorizePath(two.body["request_uri"]), one.shown.cookie);
    const swapped = { decision: "approve", csrf: one.fields(shown.html)["csrf"] };
    expect((await one.decide(swapped)).html).toContain("csrf_mismatch");
    expect(await one.stage()).toBe("pushed");
  });

  it("refuses a decision when no page is shown, and spends nothing on HEAD", async () => {
    const plain = await asked({ owners: ["globex"] });
    expect(plain.shown.location?.host).toBe("acme.example");
    const { body } = await plain.push();
    const sent = { client_id: "platform", request_uri: String(body["request_uri"]), decision: "deny", csrf: "x" };
    expect((await plain.decide(sent)).html).toContain("page_not_needed");
    expect((await plain.get(plain.authorizePath(body["request_uri"]))).response.status).toBe(303);
    const shared = await asked();
    const head = await shared.app.request(`${ISSUER}${shared.path}`, { method: "HEAD" });
    expect([head.status, await shared.stage()]).toEqual([405, "pushed"]);
  });
});
