/** What the bench repeats. */
/** `-oidc`: at a vendor that issues an ID token with each answer. */
export const WORKS = ["flow", "refresh", "flow-oidc", "refresh-oidc"] as const;
export type Work = (typeof WORKS)[number];

/** @returns the same work without OpenID; undefined if it is */
export function plainWorkOf(work: Work): "flow" | "refresh" | undefined {
  if (work === "flow-oidc") return "flow";
  return work === "refresh-oidc" ? "refresh" : undefined;
}
