/** The certificate authorities that a TLS connection is verified against. */
import { X509Certificate } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @throws Error for a damaged certificate: TLS itself would ignore it silently */
export function certificatesIn(pem: string): X509Certificate[] {
  return Array.from(pem.match(CERTIFICATE) ?? [], (one) => new X509Certificate(one));
}

/**
 * Built once and shared, because reading the default roots for each connection costs milliseconds.
 *
 * @param caPem trusted in addition to the default roots
 * @throws Error when the text holds no certificate, or a damaged one
 */
export function createTrust(caPem: string | undefined): SecureContext {
  const known = trusts.get(caPem);
  if (known !== undefined) return known;
  const roots = caPem === undefined ? {} : { ca: withDefaultRoots(caPem) };
  const made = createSecureContext({ minVersion: "TLSv1.2", ...roots });
  trusts.set(caPem, made);
  return made;
}

/** Of every egress of the process, by the roots of the operator. */
const trusts = new Map<string | undefined, SecureContext>();

/** The default roots and the operator's own. */
export function withDefaultRoots(caPem: string): string[] {
  const added = certificatesIn(caPem).map(String);
  if (added.length === 0) throw new Error("the CA file holds no PEM certificate");
  return [...getCACertificates("default"), ...added];
}
