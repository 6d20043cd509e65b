/** A browser: cookies of the broker, and the pages it shows. Several tabs share one. */
import type { Asker } from "../invariants/promises.ts";
import type { Answer } from "../world/answer.ts";
import type { Sent } from "../world/network.ts";
import type { World } from "../world/world.ts";

export type Browser = ReturnType<typeof createBrowser>;
/** @param options.keepsCookies also those that the broker has ended */
export function createBrowser(
  asker: Asker,
  world: Pick<World, "send">,
  { keepsCookies = false }: { readonly keepsCookies?: boolean } = {},
) {
  const jar = new Map<string, string>();
  const send = async (sent: Sent): Promise<Answer | undefined> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await world.send(asker, cookie === "" ? sent : { ...sent, cookie });
    for (const set of answer?.cookies ?? []) if (!keepsCookies || !isEnd(set)) keep(set, jar);
    return answer;
  };
  return {
    /** @param process that answers; default: any */
    open: (path: string, process?: number) => send(process === undefined ? { path } : { path, process }),
    submit: (path: string, form: Readonly<Record<string, string>>) => send({ path, form }),
    /** By an attacker, in the attacker's own: the cookie of one flow as that of another. */
    copyCookie: (from: string, to: string) => {
      for (const [name, value] of jar) if (name.endsWith(from)) jar.set(name.replace(from, to), value);
    },
  };
}

function keep(set: string, jar: Map<string, string>): void {
  const [pair = ""] = set.split("; ");
  const [name = "", value = ""] = pair.split("=");
  if (isEnd(set)) jar.delete(name);
  else jar.set(name, value);
}

function isEnd(set: string): boolean {
  return set.split("; ").includes("Max-Age=0");
}

/** The hidden fields of the form on a page. */
export function fieldsOf(page: string): Readonly<Record<string, string>> {
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  return Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]));
}

/** Those of the form with this button, on a page with several. @param vendor that the form is for; default: any */
export function formWith(page: string, button: string, vendor?: string): Readonly<Record<string, string>> {
  const forms = page
    .split("<form")
    .slice(1)
    .filter((form) => form.includes(`value="${button}"`));
  return forms.map(fieldsOf).find((fields) => vendor === undefined || fields["vendor"] === vendor) ?? {};
}
