import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";
import { printTable, time } from "../table.ts";

/** Length of a session's id in the table. The commands accept any unambiguous beginning. */
const ID_CHARS = 12;

/** `signalbox tokens sessions`: lists the browsers that are signed in. */
export async function list(options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  printTable(options.json, await client.signIns(), {
    none: "No browser is signed in.",
    columns: {
      SESSION: ({ id }) => id.slice(0, ID_CHARS),
      NAME: ({ name }) => name,
      ROLE: ({ role }) => role,
      "SIGN-IN": ({ method = "" }) => method,
      SINCE: ({ createdAt }) => time(createdAt),
      "LAST USED": ({ usedAt }) => time(usedAt),
      ADDRESS: ({ remote = "" }) => remote,
    },
  });
}

/** `signalbox tokens sign-out <session>`: ends one session by the beginning of its id, or all sessions of a name. */
export async function signOut(asked: string, options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const signIns = await client.signIns();
  const ofName = signIns.filter(({ name }) => name === asked);
  const found = ofName.length > 0 ? ofName : signIns.filter(({ id }) => id.startsWith(asked));
  if (found.length === 0)
    throw new GatewayError(
      "failure",
      `There is no session ${asked}. \`signalbox tokens sessions\` shows all sessions.`,
    );
  if (found.length > 1 && ofName.length === 0)
    throw new GatewayError("usage", `Several sessions start with ${asked}. Use more characters of the id.`);
  for (const { id } of found) await client.endSignIn(id);
  print(options.json, { ended: found.map(({ id }) => id) }, () => [
    `Signed ${found.length === 1 ? "1 browser" : `${found.length} browsers`} of ${found[0]?.name} out.`,
  ]);
}
