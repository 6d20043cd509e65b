/** How a wrong copy of a fact looks, by the shape of the fact. Read by fact-table.ts. */
import type { RevocationFacts } from "./facts.ts";

/** The wrong copies of one value, by what is wrong in them. */
export type Wrong = Readonly<Record<string, unknown>>;

/** @returns each other of all values */
export function others(value: string, all: readonly string[]): Wrong {
  return Object.fromEntries(all.filter((other) => other !== value).map((other) => [`"${other}"`, other]));
}

/** The fact is missing. */
export const GONE: Wrong = { removed: undefined };

/** @returns the object with one of these members changed, for each */
export function members(value: object, changes: Readonly<Record<string, unknown>>): Wrong {
  return Object.fromEntries(Object.entries(changes).map(([name, changed]) => [name, { ...value, [name]: changed }]));
}

/** The same of those members that the object has. */
export function changed(value: object, changes: Readonly<Record<string, unknown>>): Wrong {
  return members(value, Object.fromEntries(Object.entries(changes).filter(([name]) => name in value)));
}

/** @returns the record without each of its members, and with each changed */
export function eachMember(record: Readonly<Record<string, string>>, changed: string): Wrong {
  return Object.fromEntries(
    Object.keys(record).flatMap((name) => {
      const { [name]: _, ...rest } = record;
      return [
        [`without ${name}`, rest],
        [`${name} changed`, { ...record, [name]: changed }],
      ];
    }),
  );
}

/** @returns the table with another meaning of each code */
export function otherMeanings(meanings: Readonly<Record<string, unknown>>): Wrong {
  return Object.fromEntries(
    Object.entries(meanings).map(([code, meaning]) => {
      const [rule] = Array.isArray(meaning) ? (meaning as readonly { means: string }[]) : [];
      const name = typeof meaning === "string" ? meaning : (rule?.means ?? (meaning as { code: string }).code);
      const other = name === "temporarily_unavailable" ? "invalid_scope" : "temporarily_unavailable";
      return [`${code} means ${other}`, { ...meanings, [code]: other }];
    }),
  );
}

/** @returns the expiry in another unit */
export function differentUnit({ unit, ...rest }: { readonly unit: string }): Wrong {
  const other = unit === "seconds" ? "milliseconds" : "seconds";
  return { unit: { ...rest, unit: other } };
}

/** @returns the dialect with one member changed, for each that matters */
export function wrongRevocations(dialect: object): Wrong {
  const { method, authentication, body, ends, goneStatuses } = dialect as RevocationFacts;
  return {
    ...members(dialect, {
      method: method === "POST" ? "DELETE" : "POST",
      authentication: authentication === "basic" ? "none" : "basic",
      body: body === "form" ? "json" : "form",
      ends: ends === "token" ? "grant" : "token",
      ...(body === "none" ? {} : { tokenParameter: "of_another" }),
      ...(goneStatuses.some((status) => status !== 404) ? { goneStatuses: [418] } : {}),
    }),
    ...changed(dialect, {
      goneErrors: [],
      parameters: {},
      headers: {},
      success: { member: "of_another", values: ["true"] },
    }),
  };
}

/** @returns the dialect with one parameter of one of its requests missing or changed, for each */
export function wrongRequests(dialect: Readonly<Record<string, unknown>>): Wrong {
  const wrong = ["exchange", "renewal"].flatMap((name) => {
    const parameters = { ...(dialect[name] as Readonly<Record<string, string>> | undefined) };
    return Object.entries(eachMember(parameters, "of_another")).map(([what, changed]) => [
      `${name} ${what}`,
      { ...dialect, [name]: changed },
    ]);
  });
  return Object.fromEntries(wrong) as Wrong;
}

/** @returns another host, another path, and no query if it has one */
export function wrongUrls(url: string): Wrong {
  const [address = "", query] = url.split("?", 2);
  return {
    host: otherHost(url),
    path: `${address.endsWith("/") ? address : `${address}-`}x${query === undefined ? "" : `?${query}`}`,
    ...(query === undefined ? {} : { query: address }),
  };
}

/** @returns the URL at a host below the vendor's that is not its own */
export function otherHost(url: string): string {
  return url.replace(/^https:\/\//, "https://x-");
}

/** @returns the object with another host, and with another path, in its `endpoint` */
export function urlMember(value: object): Wrong {
  const { host, path } = wrongUrls((value as { endpoint: string }).endpoint);
  return { "endpoint host": { ...value, endpoint: host }, "endpoint path": { ...value, endpoint: path } };
}
