/**
 * The attack that key commitment prevents: one AES-GCM ciphertext, with one tag, that opens under
 * two keys and gives two texts. An attacker who knows both keys solves one linear equation over
 * GF(2^128) for one block of ciphertext.
 */
import { createCipheriv } from "node:crypto";
import { associatedData } from "../../crypto/encoding.ts";
import { deriveSubkeys } from "../../crypto/key-commitment.ts";

const BLOCK = 16;
const REDUCTION = 0xe1n << 120n;

/**
 * @returns ciphertext and tag that decrypt under either key with this IV and these associated data
 */
function twoKeyCiphertext(keys: readonly [Buffer, Buffer], iv: Buffer, aad: Buffer): Buffer {
  const firstBlock = Buffer.alloc(BLOCK, 0x5a); // any; the second one makes both tags agree
  const lengths = Buffer.alloc(BLOCK);
  lengths.writeBigUInt64BE(BigInt(aad.length) * 8n, 0);
  lengths.writeBigUInt64BE(BigInt(2 * BLOCK) * 8n, 8);
  const padded = Buffer.concat([aad, Buffer.alloc((BLOCK - (aad.length % BLOCK)) % BLOCK), firstBlock]);
  // tag = GHASH(aad, first, second, lengths) + mask. The second block is multiplied by H twice,
  // everything is linear.
  const parts = keys.map((key) => {
    const hash = encryptBlock(key, Buffer.alloc(BLOCK));
    const mask = encryptBlock(key, Buffer.concat([iv, Buffer.of(0, 0, 0, 1)]));
    const square = multiply(hash, hash);
    let state = 0n;
    for (let at = 0; at < padded.length; at += BLOCK) {
      state = multiply(state ^ toNumber(padded.subarray(at, at + BLOCK)), hash);
    }
    const known = multiply(state, square) ^ multiply(toNumber(lengths), hash) ^ mask;
    return { square, known };
  });
  const [one, two] = [parts[0]!, parts[1]!];
  const second = multiply(one.known ^ two.known, inverse(one.square ^ two.square));
  const tag = one.known ^ multiply(second, one.square);
  return Buffer.concat([firstBlock, toBytes(second), toBytes(tag)]);
}

/** An envelope whose ciphertext decrypts under both keys, and which names one of them. */
export function twoKeyEnvelope(keys: readonly [Buffer, Buffer], named: 0 | 1, context: readonly string[]): string {
  const [one, two] = [deriveSubkeys(keys[0]), deriveSubkeys(keys[1])];
  const iv = Buffer.alloc(12, 3);
  const ciphertext = twoKeyCiphertext([one.encryption, two.encryption], iv, associatedData(1, context));
  return Buffer.concat([Buffer.of(1), [one, two][named]!.commitment, iv, ciphertext]).toString("base64url");
}

function encryptBlock(key: Buffer, block: Buffer): bigint {
  const cipher = createCipheriv("aes-256-ecb", key, null);
  cipher.setAutoPadding(false);
  return toNumber(Buffer.concat([cipher.update(block), cipher.final()]));
}

/** In the bit order of SP 800-38D: the highest bit is the coefficient of x^0. */
function multiply(a: bigint, b: bigint): bigint {
  let product = 0n;
  let shifted = b;
  for (let bit = 127n; bit >= 0n; bit -= 1n) {
    if (((a >> bit) & 1n) === 1n) product ^= shifted;
    shifted = (shifted & 1n) === 1n ? (shifted >> 1n) ^ REDUCTION : shifted >> 1n;
  }
  return product;
}

/** a^(2^128 - 2): in a field of 2^128 elements that is 1/a. */
function inverse(a: bigint): bigint {
  let result = 1n << 127n;
  let power = a;
  for (let bit = 1; bit < 128; bit += 1) {
    power = multiply(power, power);
    result = multiply(result, power);
  }
  return result;
}

function toNumber(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString("hex")}`);
}

function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * BLOCK, "0"), "hex");
}
