import type { ConfiguredPerson } from "@signalbox/protocol";
import type { GatewayService } from "@signalbox/server";
import type { Auditor } from "@signalbox/store/audit";
import type { ServiceStore } from "../messages/service-store.ts";
import { type PersonNames, readPersonNames } from "./person-names.ts";

interface PairingOptions {
  readonly store: ServiceStore;
  readonly audit: Auditor;
  /** Returns the people whom the configuration names, as `channel:id`. */
  readonly getAccess: () => { readonly owners: readonly string[]; readonly allow: readonly string[] };
  readonly onPaired: () => void;
}

/** Lists pairing requests and decides them. Decisions are written to the audit log. */
export function createPairings({
  store,
  audit,
  getAccess,
  onPaired,
}: PairingOptions): Pick<GatewayService, "pairings" | "approvePairing" | "revokePairing"> {
  const { pairing } = store;
  return {
    async pairings() {
      const [pending, paired, names] = await Promise.all([
        pairing.pending(),
        pairing.peers(),
        readPersonNames(store),
      ]);
      const { owners, allow } = getAccess();
      return {
        pending: pending.map(({ peerId: peer, createdAt: _, ...request }) => ({ ...request, peer })),
        paired: paired.map(({ peerId: peer, ...person }) => ({ ...person, peer })),
        owners: owners.map((entry) => toPerson(entry, names)),
        allowed: allow.map((entry) => toPerson(entry, names)),
      };
    },
    async approvePairing(code, approver) {
      const approval = await pairing.approve({ code, approvedBy: approver });
      if (approval.outcome === "unknown") return undefined;
      const { peerId: peer, ...person } = approval.peer;
      audit.pairing("approved", { channel: person.channel, account: person.account, peer }, approver);
      onPaired();
      return { ...person, peer };
    },
    async revokePairing({ channel, account, peer }, revoker) {
      const wasPaired = await pairing.revoke(channel, account, peer);
      if (wasPaired) audit.pairing("revoked", { channel, account, peer }, revoker);
      return wasPaired;
    },
  };
}

function toPerson(entry: string, names: PersonNames): ConfiguredPerson {
  const colon = entry.indexOf(":");
  const label = names.get(entry.slice(0, colon), entry.slice(colon + 1));
  return label === undefined ? { entry } : { entry, label };
}
