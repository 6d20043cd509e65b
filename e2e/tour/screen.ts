/**
 * The tour's message once everything runs: one screen. docs/tour.md has the same steps with
 * pictures.
 */
import { CONNECTORS, type Tour } from "./tour.ts";

export function screen({
  url,
  brokerUrl,
  folder,
}: Pick<Tour, "url" | "brokerUrl"> & { readonly folder: string }): string {
  return `
  Open  ${url}

  1  Choose a user
     First user.
  2  Connect the hosted server, and cancel
     ${CONNECTORS.hosted}: Connect. At the practice vendor: Sample user, then Cancel. The platform shows the error access_denied.
  3  Connect it
     Connect, and Allow.
  4  Call a tool
     Try: whoami, Call the tool. The answer is the user's account at the vendor.
  5  Connect through the broker
     All connectors, ${CONNECTORS.brokered}: Connect. Sample user, Allow.
  6  Call a tool with the vendor's token
     Try: whoami, Call the tool.
  7  Link a second vendor
     All connectors, ${CONNECTORS.linking}: Connect, Continue to GitHub, Sample user, Allow. Try: account_at_slack, Call the tool.
     Open the address it shows: Allow, Continue to Slack, Sample user, Allow. Back here: Try again.
  8  See what an administrator sees
     Sign out, Administrator, ${CONNECTORS.brokered}: Settings.

  With pictures   docs/tour.md
  Broker          ${brokerUrl}
  Data            ${folder}, which goes at the end

  Stop with Ctrl-C.
`;
}
