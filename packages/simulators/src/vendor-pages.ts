/** The pages that the sandbox's OpenID provider sends the browser to: those of every practice vendor. */
import type { Hono } from "hono";
import type { Interaction, InteractionResult, Provider } from "oidc-provider/lib/provider.js";
import type { Consent, ConsentOutcome } from "./vendors/base/consent.ts";
import type { VendorEnv } from "./vendors/base/simulator.ts";

const SCOPE_TEXT: Readonly<Record<string, string>> = {
  openid: "Confirm who you are",
  profile: "See your name",
  email: "See your e-mail address",
  offline_access: "Stay connected while you are away",
  "api:read": "Read your data",
  "api:write": "Change your data",
};

const EXPIRED =
  "This sign-in has expired or belongs to another browser. Go back to where you started and connect again.";

/** Serves `/interaction/:uid`: the sign-in, or the consent, that the provider needs to go on. */
export function serveInteractions(app: Hono<VendorEnv>, provider: Provider, consent: Consent): void {
  app.get("/interaction/:uid", async (c) => {
    const { incoming, outgoing } = c.env;
    const interaction = await provider.interactionDetails(incoming, outgoing).catch(() => undefined);
    if (interaction?.jti !== c.req.param("uid")) return consent.refuse(c, EXPIRED, "invalid_request");
    const { client_id: clientId = "", scope = "" } = interaction.params;
    const client = await provider.Client.find(clientId);
    const isSignIn = interaction.prompt.name === "login";
    // A browser without a session has allowed nothing: both questions are one interaction.
    const asksConsent = !isSignIn || interaction.session === undefined;
    const finish = async (result: InteractionResult): Promise<ConsentOutcome> => {
      const mergeWithLastSubmission = "consent" in result;
      return { redirect: await provider.interactionResult(incoming, outgoing, result, { mergeWithLastSubmission }) };
    };
    return consent.ask(c, {
      app: client?.clientName ?? "An application",
      permissions: scope.split(" ").map((one) => ({ scope: one, text: SCOPE_TEXT[one] ?? "" })),
      selectAccount: isSignIn,
      isAllowedBefore: () => !asksConsent,
      onAllow: async ({ id }) =>
        finish({
          ...(isSignIn ? { login: { accountId: id } } : {}),
          ...(asksConsent ? { consent: { grantId: await allow(interaction, id, provider) } } : {}),
        }),
      onCancel: () => finish({ error: "access_denied", error_description: "The user cancelled" }),
    });
  });
}

/** @returns the id of the grant, which has what was asked for now in addition */
async function allow(
  { session, params, grantId, prompt }: Interaction,
  user: string,
  provider: Provider,
): Promise<string> {
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const accountId = session?.accountId ?? user;
  const grant = known ?? new provider.Grant({ accountId, clientId: params["client_id"] ?? "" });
  const missing = prompt.details.missingOIDCScope?.join(" ") ?? params["scope"] ?? "";
  if (missing !== "") grant.addOIDCScope(missing);
  return grant.save();
}
