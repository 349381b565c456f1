import type { GatewayService } from "@signalbox/server";
import type { Auditor } from "@signalbox/store/audit";
import type { ServiceStore } from "../messages/service-store.ts";

/** Lists pairing requests and decides them. Decisions are written to the audit log. */
export function createPairings(
  { pairing }: ServiceStore,
  audit: Auditor,
  onPaired: () => void,
): Pick<GatewayService, "pairings" | "approvePairing" | "revokePairing"> {
  return {
    async pairings() {
      const [pending, paired] = await Promise.all([pairing.pending(), pairing.peers()]);
      return {
        pending: pending.map(({ peerId: peer, createdAt: _, ...request }) => ({ ...request, peer })),
        paired: paired.map(({ peerId: peer, ...person }) => ({ ...person, peer })),
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
