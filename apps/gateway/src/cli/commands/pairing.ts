import { changeConfig, GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { configOrExit, configuredHome } from "../configured-home.ts";
import { withStore } from "../home-store.ts";
import { getOwnerEdits } from "../init/owner-edits.ts";
import { print } from "../output.ts";
import { printTable, time } from "../table.ts";

interface Person {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
}

/** `signalbox pairing list` */
export async function list(options: CommonOptions): Promise<void> {
  const { pending, peers } = await withStore(options, "read", async (store) => ({
    pending: await store.pairing.pending(),
    peers: await store.pairing.peers(),
  }));
  if (options.json === true) return print(true, { pending, peers }, () => []);
  const asking = pending.map((request) => ({ ...request, state: "asks", until: time(request.expiresAt) }));
  const paired = peers.map((peer) => ({ ...peer, state: "paired", until: "" }));
  printTable(false, [...asking, ...paired], {
    none: "No pending requests or paired people.",
    columns: {
      STATE: ({ state }) => state,
      PERSON: formatPerson,
      NAME: ({ label }) => label ?? "",
      UNTIL: ({ until }) => until,
    },
  });
}

/** `signalbox pairing approve <code>`. With `--owner`, the person also becomes an owner. */
export async function approve(
  code: string,
  options: CommonOptions & { readonly owner?: boolean },
): Promise<void> {
  // An invalid configuration would prevent the second half.
  if (options.owner === true) getOwnerEdits(configuredHome(options).loaded, "");
  const result = await withStore(options, "share", async ({ pairing, audit }) => {
    const approval = await pairing.approve({ code: code.trim().toUpperCase(), approvedBy: "command line" });
    if (approval.outcome === "approved") await audit.append(byHand("approved", approval.peer));
    return approval;
  });
  if (result.outcome === "unknown") {
    throw new GatewayError(
      "failure",
      `No pending request has the code ${code}. A code is valid for ten minutes and five attempts.`,
    );
  }
  const { peer } = result;
  if (options.owner === true) makeOwner(options, `${peer.channel}:${peer.peerId}`);
  const also = options.owner === true ? ", as an owner" : "";
  print(options.json, peer, () => [`Approved ${peer.peerId} on ${peer.channel}/${peer.account}${also}.`]);
}

function makeOwner(options: CommonOptions, person: string): void {
  const { home, loaded, env } = configuredHome(options);
  const edits = getOwnerEdits(loaded, person);
  if (edits.length > 0) configOrExit(() => changeConfig(home, env, edits, new Date()));
}

/** `signalbox pairing revoke <person>`: takes effect with the person's next message. */
export async function revoke(name: string, options: CommonOptions): Promise<void> {
  const person = parsePerson(name);
  const { channel, account, peerId } = person;
  const revoked = await withStore(options, "share", async ({ pairing, audit }) => {
    const wasPaired = await pairing.revoke(channel, account, peerId);
    if (wasPaired) await audit.append(byHand("revoked", person));
    return wasPaired;
  });
  if (!revoked)
    throw new GatewayError(
      "failure",
      `${name} is not paired. \`signalbox pairing list\` shows everyone who is.`,
    );
  print(options.json, person, () => [`Revoked ${peerId} on ${channel}/${account}.`]);
}

function byHand(action: string, person: Person) {
  return {
    at: Date.now(),
    kind: "pairing",
    action,
    actor: "command line",
    subject: formatPerson(person),
  } as const;
}

function formatPerson({ channel, account, peerId }: Person): string {
  return `${channel}:${account}:${peerId}`;
}

/** Parses a person in the format that the list prints. Only the platform's id may contain additional colons. */
function parsePerson(name: string): Person {
  const [channel, account, ...id] = name.split(":");
  const peerId = id.join(":");
  if (channel && account && peerId) return { channel, account, peerId };
  throw new GatewayError(
    "usage",
    `${name} is not a person. Write channel:account:person, as \`signalbox pairing list\` does.`,
  );
}
