/**
 * A certificate authority for tests, made in memory, so that TLS faults can be produced without key
 * files in the repository. Just enough DER (X.690) for X.509 v3 (rfc5280) with P-256 keys; never
 * for use outside tests.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

interface TestKeys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface TestAuthority {
  /** What a client has to trust. */
  readonly caPem: string;
  /**
   * @param names host names and IPv4 addresses for subjectAltName
   * @param validUntil `YYYYMMDDHHMMSSZ`, by default far away
   * @param keys whose certificate it is, by default new keys on P-256
   */
  issue(names: readonly string[], validUntil?: string, keys?: TestKeys): TestCertificate;
}

const VALID_FROM = "20200101000000Z";
const FAR_AWAY = "21200101000000Z";
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
};
const OID = {
  commonName: "550403",
  ecdsaWithSha256: "2a8648ce3d040302",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
};

export function createTestAuthority(name = "Test authority, not to be trusted"): TestAuthority {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isAuthority = extension(OID.basicConstraints, sequence(der(TAG.boolean, Buffer.from([0xff]))));
  const own = certificate(name, name, authority.publicKey, authority.privateKey, FAR_AWAY, isAuthority);
  return {
    caPem: own,
    issue(names, validUntil = FAR_AWAY, keys = generateKeyPairSync("ec", { namedCurve: "P-256" })) {
      const { publicKey, privateKey } = keys;
      const alternatives = extension(OID.subjectAltName, sequence(...names.map(generalName)));
      const cert = certificate("Test server", name, publicKey, authority.privateKey, validUntil, alternatives);
      return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    },
  };
}

/** A certificate that is its own authority, as servers make them at their first start. */
export function createSelfSigned(names: readonly string[]): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const alternatives = extension(OID.subjectAltName, sequence(...names.map(generalName)));
  const cert = certificate("Test server", "Test server", publicKey, privateKey, FAR_AWAY, alternatives);
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

function certificate(
  subject: string,
  issuer: string,
  publicKey: KeyObject,
  signer: KeyObject,
  validUntil: string,
  ext: Buffer,
): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const tbs = sequence(
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    distinguishedName(issuer),
    sequence(der(TAG.time, Buffer.from(VALID_FROM)), der(TAG.time, Buffer.from(validUntil))),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(ext)),
  );
  const signature = sign("sha256", tbs, signer);
  const whole = sequence(tbs, algorithm, der(TAG.bits, Buffer.from([0]), signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(TAG.set, sequence(oid(OID.commonName), der(TAG.utf8, Buffer.from(commonName)))));
}

function generalName(name: string): Buffer {
  return isIPv4(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(TAG.octets, value));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(TAG.sequence, ...parts);
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, "hex"));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
