/** The page's forms: sign-in, connect, refresh, disconnect. */
import { answer, APP_URL, findSession, goTo, platform, say, signIn, VENDORS } from "../../platform.ts";

export const POST = answer(async (request, { params }: { readonly params: Promise<{ readonly action: string }> }) => {
  // SameSite alone lets in the forms of sibling domains.
  if (request.headers.get("origin") !== APP_URL) return say(`This form is not from ${APP_URL}.`, 403);
  const [{ action }, form, { broker }] = [await params, new URLSearchParams(await request.text()), platform()];
  if (action === "sign-in") return signIn(form.get("user") ?? "");
  const session = await findSession();
  if (session === undefined) return goTo("/");
  const vendor = form.get("vendor") === "slack" ? "slack" : "github";
  const { accessToken, refreshToken, connection = "" } = session.tokens.get(vendor) ?? {};
  if (action === "connect") {
    const { url, session: flow } = await broker.start({ vendor, scope: VENDORS[vendor].scope });
    session.flows.push({ vendor, flow });
    return goTo(url);
  }
  if (action === "refresh") {
    const refreshed = await broker.refresh({ refreshToken, connection });
    if (refreshed.outcome === "ok") session.tokens.set(vendor, refreshed.tokens);
    else if (refreshed.outcome === "reauthorize") session.tokens.delete(vendor);
    else throw refreshed.error;
  } else if (action === "disconnect" && accessToken !== undefined) {
    const revoked = await broker.revoke({ token: accessToken, connection });
    session.tokens.delete(vendor);
    return say(revoked.outcome === "revoked" ? "Disconnected." : revoked.help);
  }
  return goTo("/");
});
