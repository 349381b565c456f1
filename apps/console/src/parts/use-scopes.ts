import type { Scope } from "@signalbox/client";
import { useGateway } from "../gateway.tsx";

/** Returns the permissions of the signed-in token. */
export function useScopes(): ReadonlySet<Scope> {
  const { role, scopes } = useGateway().me.user;
  // Older gateways have only owners and members.
  return new Set(scopes ?? (role === "member" ? ["chat"] : ["chat", "read", "write", "owner"]));
}
