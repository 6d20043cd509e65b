/**
 * Which certificate authorities outbound TLS believes: the default roots, and those of the operator's `ca_file`.
 * Caller: egress.ts. There is no way to switch verification off.
 */
import { X509Certificate } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Built once and shared, because reading the default roots for each connection costs milliseconds.
 *
 * @param caPem trusted besides the default roots
 * @throws Error when the text holds no certificate, or a damaged one: TLS itself would ignore it silently
 */
export function createTrust(caPem: string | undefined): SecureContext {
  return createSecureContext({
    minVersion: "TLSv1.2",
    ...(caPem === undefined ? {} : { ca: withDefaultRoots(caPem) }),
  });
}

/** The default roots and the operator's own. */
export function withDefaultRoots(caPem: string): string[] {
  const added = (caPem.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem).toString());
  if (added.length === 0) throw new Error("the CA file holds no PEM certificate");
  return [...getCACertificates("default"), ...added];
}
