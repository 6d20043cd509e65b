/** Options that point a vendor of the registry at its simulator, or at a test's own server. */
import type { VendorSimulator } from "@oauth-broker/simulators/vendors";

export function atSimulator(
  { id, endpoints }: Pick<VendorSimulator, "id" | "endpoints">,
  other: Readonly<Record<string, string>> = {},
): string[] {
  const all = Object.entries({ ...endpoints, ...other });
  return [id, "--loopback", ...all.flatMap(([name, url]) => ["--endpoint", `${name}=${url}`])];
}
