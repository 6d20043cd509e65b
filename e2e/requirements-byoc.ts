/** Credentials a caller brings: what of the security bar rests on BYOC. Part of requirements.ts. */
import { elsewhere, type Requirement, row } from "./requirement.ts";

const FLOWS = "apps/broker/src/flows";
const NOT_KEPT = "A BYOC secret comes with each call and is kept nowhere that could be named, read or changed";

export const BYOC: readonly Requirement[] = [
  row("BY-1", "A caller's secret is sealed while its flow waits, shown by nothing, then gone", `${FLOWS}/byoc.test.ts`),
  elsewhere("BY-2", "A secret does not outlive the place it was entered for", NOT_KEPT),
  elsewhere("BY-3", "Another's secret cannot be named", NOT_KEPT),
  row(
    "BY-4",
    "Tokens and secrets go to the hosts and the client they were minted with",
    `${FLOWS}/grants.test.ts`,
    `${FLOWS}/byoc.test.ts`,
    `${FLOWS}/manual-mode.test.ts`,
    "e2e/attacks/custom-vendor.attack.test.ts",
  ),
  row("BY-5", "A vendor that is off is off for refresh and revoke too", `${FLOWS}/byoc.test.ts`),
];
