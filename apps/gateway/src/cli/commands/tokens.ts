import { GatewayError } from "@signalbox/home";
import type { TokenRole } from "@signalbox/protocol";
import { getTokenKind } from "@signalbox/server";
import { createToken, isTokenName, OWN_TOKEN } from "../../api/admin/tokens.ts";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { printTable, time } from "../table.ts";

/** `signalbox tokens add <name>`: prints the token once. Only its hash is stored. */
export async function add(
  name: string,
  options: CommonOptions & { readonly role: TokenRole },
): Promise<void> {
  if (!isTokenName(name)) {
    throw new GatewayError(
      "usage",
      `${name} is not a valid token name. Use up to 64 letters, digits, ".", "_" and "-", and not "${OWN_TOKEN}".`,
    );
  }
  const { role } = options;
  const created = await withStore(options, "share", async ({ access, audit }) => {
    const token = await createToken(access, { name, role }, Date.now());
    if (token !== undefined) await audit.append({ ...byHand("added", name), details: { role } });
    return token;
  });
  if (created === undefined)
    throw new GatewayError(
      "failure",
      `A token named ${name} already exists. Revoke it first, or choose another name.`,
    );
  print(options.json, created, () => [`Token for ${name} (${role}), shown only once: ${created.token}`]);
}

/** `signalbox tokens list` */
export async function list(options: CommonOptions): Promise<void> {
  const tokens = await withStore(options, "read", ({ access }) => access.tokens.list());
  const shown = tokens.map(({ hash, ...token }) => ({ ...token, kind: getTokenKind(hash) }));
  printTable(options.json, shown, {
    none: "No tokens besides the gateway's own.",
    columns: {
      NAME: ({ name }) => name,
      ROLE: ({ role }) => role,
      "SIGN-IN": ({ kind }) => kind,
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
