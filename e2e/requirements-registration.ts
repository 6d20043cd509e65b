/** Clients registered at vendors on a caller's behalf: what of the security bar rests on POST /register. Part of requirements.ts. */
import { elsewhere, type Requirement, row, twin } from "./requirement.ts";

const NOT_READ = "The vendor's answer is the caller's, byte for byte: the broker reads and keeps none of it";

export const REGISTRATION: readonly Requirement[] = [
  twin(
    "DC-1",
    "What is registered has our redirect URI and no other",
    "e2e/attacks/registration.attack.test.ts",
    "packages/oauth-core/src/vendor-client/register-client.test.ts",
  ),
  elsewhere("DC-2", "A registration's own address is asked by its rules", NOT_READ),
  elsewhere("DC-3", "A secret that expires is renewed", NOT_READ),
  elsewhere("DC-4", "What a registration holds is encrypted at rest", NOT_READ),
  elsewhere("DC-5", "A registration ends with its issuer", NOT_READ),
  row("DC-6", "Registrations are limited per client", "apps/broker/src/flows/register-callers.test.ts"),
  elsewhere("DC-7", "A vendor's refusal keeps its code", NOT_READ),
  elsewhere(
    "DC-8",
    "Each registration has a redirect URI of its own",
    "The one redirect URI of the broker is what callers need",
  ),
  elsewhere("DC-9", "Disconnecting ends the registration", NOT_READ),
];
