import { randomBytes } from "node:crypto";
import { isId } from "@signalbox/config";
import type { CreatedToken, NewToken } from "@signalbox/protocol";
import { type AdminService, ApiError, getTokenKind, hashToken } from "@signalbox/server";
import type { AccessStore } from "@signalbox/store/types";
import type { GatewayContext } from "../../context.ts";

type TokenAdmin = Pick<AdminService, "tokens" | "addToken" | "revokeToken">;

/** Name of the gateway's own token. */
export const OWN_TOKEN = "owner";

/** Returns true if a token can have this name. */
export function isTokenName(name: string): boolean {
  return isId(name) && name !== OWN_TOKEN;
}

/** Creates a token and stores its hash. Returns undefined if the name is taken. */
export async function createToken(
  { tokens }: Pick<AccessStore, "tokens">,
  { name, role }: NewToken,
  now: number,
): Promise<CreatedToken | undefined> {
  const token = `sbt_${randomBytes(32).toString("base64url")}`;
  const isNew = await tokens.add({ name, role, hash: hashToken(token), createdAt: now });
  return isNew ? { name, role, token } : undefined;
}

/** Lists, creates and revokes tokens. */
export function createTokenAdmin({ store, audit, now }: GatewayContext): TokenAdmin {
  const { access } = store;
  return {
    async tokens() {
      const tokens = await access.tokens.list();
      return { tokens: tokens.map(({ hash, ...token }) => ({ ...token, kind: getTokenKind(hash) })) };
    },
    async addToken(token, actor) {
      const { name, role } = token;
      if (!isTokenName(name))
        throw new ApiError("bad_request", `${name} is not a valid token name.`, {
          remedy: `Use up to 64 letters, digits, ".", "_" and "-", and not "${OWN_TOKEN}".`,
        });
      const created = await createToken(access, token, now());
      if (created === undefined)
        throw new ApiError("conflict", `A token named ${name} already exists.`, {
          remedy: "Revoke it first, or choose another name.",
        });
      audit.token("added", name, actor, role);
      return created;
    },
    async revokeToken(name, actor) {
      if (!(await access.tokens.revoke(name))) throw new ApiError("not_found", `There is no token ${name}.`);
      audit.token("revoked", name, actor);
    },
  };
}
