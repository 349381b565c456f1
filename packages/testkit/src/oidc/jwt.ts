import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A signing key with its id. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

export function createSigningKey(kid: string): SigningKey {
  return { kid, privateKey: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey };
}

/** Returns the public part in the format of a JWK Set. */
export function toJwk({ kid, privateKey }: SigningKey): Readonly<Record<string, unknown>> {
  return { ...createPublicKey(privateKey).export({ format: "jwk" }), kid, use: "sig", alg: "RS256" };
}

/**
 * Signs claims as a compact JWS.
 *
 * @param alg `none` omits the signature. `HS256` uses the public key as the secret, as an attacker would.
 */
export function signJwt(
  claims: Readonly<Record<string, unknown>>,
  key: SigningKey,
  { alg = "RS256", typ = "JWT" }: { readonly alg?: "RS256" | "HS256" | "none"; readonly typ?: string } = {},
): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${encode({ alg, typ, kid: key.kid })}.${encode(claims)}`;
  if (alg === "none") return `${input}.`;
  if (alg === "RS256")
    return `${input}.${sign("RSA-SHA256", Buffer.from(input), key.privateKey).toString("base64url")}`;
  const secret = createPublicKey(key.privateKey).export({ format: "pem", type: "spki" });
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}
