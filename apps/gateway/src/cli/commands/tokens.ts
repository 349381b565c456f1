import { randomBytes } from "node:crypto";
import { isId } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { type ClientRole, hashToken } from "@signalbox/server";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { printTable, time } from "../table.ts";

/** Name of the gateway's own token. */
const RESERVED = "owner";

/** `signalbox tokens add <name>`: prints the token once. Only its hash is stored. */
export async function add(
  name: string,
  options: CommonOptions & { readonly role: ClientRole },
): Promise<void> {
  if (!isId(name) || name === RESERVED) {
    throw new GatewayError(
      "usage",
      `${name} is not a valid token name. Use up to 64 letters, digits, ".", "_" and "-", and not "${RESERVED}".`,
    );
  }
  const { role } = options;
  const token = `sbt_${randomBytes(32).toString("base64url")}`;
  const added = await withStore(options, "share", async ({ access, audit }) => {
    const isNew = await access.tokens.add({ name, role, hash: hashToken(token), createdAt: Date.now() });
    if (isNew) await audit.append({ ...byHand("added", name), details: { role } });
    return isNew;
  });
  if (!added)
    throw new GatewayError(
      "failure",
      `A token named ${name} already exists. Revoke it first, or choose another name.`,
    );
  print(options.json, { name, role, token }, () => [
    `Token for ${name} (${role}), shown only once: ${token}`,
  ]);
}

/** `signalbox tokens list` */
export async function list(options: CommonOptions): Promise<void> {
  const tokens = await withStore(options, "read", ({ access }) => access.tokens.list());
  const shown = tokens.map(({ hash: _, ...token }) => token);
  printTable(options.json, shown, {
    none: "No tokens besides the gateway's own.",
    columns: {
      NAME: ({ name }) => name,
      ROLE: ({ role }) => role,
      SINCE: ({ createdAt }) => time(createdAt),
      "LAST USED": ({ usedAt }) => (usedAt === undefined ? "never" : time(usedAt)),
    },
  });
}

/** `signalbox tokens revoke <name>`: ends the token's sessions immediately, and its sockets and runs within seconds. */
export async function revoke(name: string, options: CommonOptions): Promise<void> {
  const revoked = await withStore(options, "share", async ({ access, audit }) => {
    const wasThere = await access.tokens.revoke(name);
    if (wasThere) await audit.append(byHand("revoked", name));
    return wasThere;
  });
  if (!revoked)
    throw new GatewayError(
      "failure",
      `There is no token ${name}. \`signalbox tokens list\` shows all tokens.`,
    );
  print(options.json, { name }, () => [`Revoked the token of ${name}.`]);
}

function byHand(action: string, name: string) {
  return { at: Date.now(), kind: "token", action, actor: "command line", subject: name } as const;
}
