import { z } from "zod";
import type { ExternalIdentity } from "../external-people.ts";
import type { OidcSettings } from "../sign-in-settings.ts";

/** The claims of an ID token, an access token or a response of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

const MAX_GROUPS = 1_000;
const groupsSchema = z.union([z.array(z.string()).max(MAX_GROUPS), z.string().transform((group) => [group])]);

/**
 * Returns the groups in a claim, or undefined if it is absent. A claim may have dots in its name, as at Auth0, or be in
 * an object, as `realm_access.roles` at Keycloak.
 */
export function readGroups(claims: Claims, { groupsClaim }: OidcSettings): readonly string[] | undefined {
  const value = claims[groupsClaim] ?? followPath(claims, groupsClaim.split("."));
  return groupsSchema.safeParse(value).data;
}

function followPath(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = Reflect.get(current, step);
  }
  return current;
}

/** Forms the identity from verified claims. */
export function toIdentity(
  claims: Claims & { readonly sub: string },
  settings: OidcSettings,
  { groups, asOf }: { readonly groups: readonly string[]; readonly asOf: number },
): ExternalIdentity {
  const { sub, preferred_username: username, email } = claims;
  const name = [username, email].find((value) => typeof value === "string") ?? "";
  return { kind: "oidc", issuer: settings.issuer, subject: sub, username: String(name), groups, asOf };
}
