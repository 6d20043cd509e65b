/** What a test reads of the link to `chat`, as a tool's call has it and as the pages show it. */
import type { UserLink } from "../../mode.ts";
import type { Call, Shown } from "./fixture.ts";

export const pathOf = ({ url }: Pick<Shown, "url">): string => url.pathname + url.search;

export async function usableLink({ links }: Call): Promise<UserLink & { readonly state: "usable" }> {
  const read = await links.read("chat");
  if (read.state !== "usable") throw new Error("the link is not usable");
  return read;
}

/** The scopes of the link, sorted. */
export async function scopeOf(call: Call): Promise<readonly string[] | undefined> {
  return (await usableLink(call)).scope?.toSorted((a, b) => (a < b ? -1 : 1));
}

/** The section of a vendor on the page. */
export function sectionOf(html: string, name: string): string {
  return html.split(`<h2>${name}</h2>`)[1]?.split("<h2>")[0] ?? "";
}
