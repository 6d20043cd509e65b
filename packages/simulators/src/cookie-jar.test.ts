import { describe, expect, it } from "vitest";
import { createCookieJar } from "./cookie-jar.ts";

const at = (text: string): URL => new URL(text);

function jarWith(url: string, ...cookies: string[]): ReturnType<typeof createCookieJar> {
  const jar = createCookieJar({ now: () => 1_700_000_000 });
  jar.store(at(url), cookies);
  return jar;
}

describe("cookie jar", () => {
  it("gives one port's cookie to every port of the host", () => {
    expect(jarWith("http://127.0.0.1:1000/", "a=1").header(at("http://127.0.0.1:2000/"))).toBe("a=1");
  });

  it("keeps hosts apart", () => {
    expect(jarWith("http://127.0.0.1/", "a=1").header(at("http://localhost/"))).toBeUndefined();
  });

  it("refuses another host's domain and gives a parent domain's cookie to its children", () => {
    const jar = jarWith(
      "https://a.example.com/",
      "own=1",
      "all=1; Domain=.example.com",
      "foreign=1; Domain=example.org",
    );
    expect(jar.header(at("https://b.example.com/"))).toBe("all=1");
    expect(jar.header(at("https://a.example.com/"))).toBe("own=1; all=1");
  });

  it("matches whole path segments, the longest path first", () => {
    const jar = jarWith("http://h.example/auth/x", "root=1; Path=/", "deep=1; Path=/auth/x", "default=1");
    expect(jar.header(at("http://h.example/auth/x"))).toBe("deep=1; default=1; root=1");
    expect(jar.header(at("http://h.example/auth/xy"))).toBe("default=1; root=1");
    expect(jar.header(at("http://h.example/authority"))).toBe("root=1");
  });

  it("replaces a cookie of the same name and path", () => {
    const jar = jarWith("http://h.example/", "a=1; Path=/", "a=2; Path=/; HttpOnly");
    expect(jar.header(at("http://h.example/"))).toBe("a=2");
  });

  it.each(["a=; Max-Age=0", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=; Max-Age=-1"])(
    "deletes by %s",
    (deletion) => {
      const jar = jarWith("http://h.example/", "a=1", deletion);
      expect(jar.header(at("http://h.example/"))).toBeUndefined();
    },
  );

  it("forgets what has expired, Max-Age before Expires", () => {
    let now = 1_700_000_000;
    const jar = createCookieJar({ now: () => now });
    jar.store(at("http://h.example/"), ["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]);
    now += 59;
    expect(jar.get(at("http://h.example/"), "a")).toBe("1");
    now += 1;
    expect(jar.get(at("http://h.example/"), "a")).toBeUndefined();
  });

  it("keeps Secure and prefixed cookies to https", () => {
    const jar = jarWith("http://h.example/", "s=1; Secure", "__Host-a=1; Path=/", "__Secure-b=1");
    expect(jar.header(at("https://h.example/"))).toBeUndefined();
    jar.store(at("https://h.example/p"), [
      "__Host-a=1; Path=/; Secure",
      "__Host-b=1; Secure; Path=/p",
      "__Host-c=1; Secure; Path=/; Domain=h.example",
    ]);
    expect(jar.header(at("https://h.example/p"))).toBe("__Host-a=1");
    expect(jar.header(at("http://h.example/p"))).toBeUndefined();
  });

  it("copies without a tie", () => {
    const jar = jarWith("http://h.example/", "a=1");
    const copy = jar.copy();
    jar.store(at("http://h.example/"), ["a=2"]);
    expect(copy.get(at("http://h.example/"), "a")).toBe("1");
  });
});
