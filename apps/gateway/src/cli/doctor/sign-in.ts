import { reasonOf } from "@signalbox/agent-core";
import type { Config } from "@signalbox/config";
import { isLoopback } from "@signalbox/home";
import type { Finding } from "./finding.ts";

/** Checks the sign-in at the OpenID provider and through a trusted proxy. */
export async function checkSignIn({ gateway }: Config): Promise<Finding[]> {
  const { oidc, proxy, roles } = gateway.auth;
  if (oidc === undefined && proxy === undefined) return [];
  const hasGroups = Object.values(roles).some((groups) => groups.length > 0);
  return [
    ...(hasGroups ? [] : [NO_GROUPS]),
    ...(oidc === undefined ? [] : await checkProvider(gateway, oidc)),
    ...(proxy === undefined ? [] : [checkProxy(proxy)]),
  ];
}

const PART = "sign-in";

const NO_GROUPS: Finding = {
  part: PART,
  state: "error",
  detail: "no group has a role, so nobody can sign in",
  remedy: "List the groups of the owners in gateway.auth.roles.owner.",
};

async function checkProvider(
  { publicUrl, port }: Config["gateway"],
  oidc: NonNullable<Config["gateway"]["auth"]["oidc"]>,
): Promise<Finding[]> {
  const { checkOidcProvider, OIDC_CALLBACK_PATH } = await import("@signalbox/server");
  const redirectUri = (publicUrl ?? `http://127.0.0.1:${port}`).replace(/\/+$/, "") + OIDC_CALLBACK_PATH;
  const { protocol, hostname } = new URL(redirectUri);
  const findings: Finding[] =
    protocol === "https:" || isLoopback(hostname)
      ? []
      : [
          {
            part: PART,
            state: "warning",
            detail: `browsers return to ${redirectUri} without encryption`,
            remedy:
              "Put a proxy with TLS in front of the gateway, and set gateway.publicUrl to its https address.",
          },
        ];
  const problems = await checkOidcProvider(oidc, redirectUri, Date.now).catch((error: unknown) => [
    { detail: reasonOf(error), remedy: "Check gateway.auth.oidc.issuer." },
  ]);
  findings.push(...problems.map((problem): Finding => ({ part: PART, state: "error", ...problem })));
  if (findings.length > 0) return findings;
  return [{ part: PART, state: "ok", detail: `${oidc.issuer} accepts the redirect URI ${redirectUri}` }];
}

/** Every program that can connect from a trusted address can choose the user. */
function checkProxy({ addresses, secret }: NonNullable<Config["gateway"]["auth"]["proxy"]>): Finding {
  const local = addresses.filter((address) => /^127\.|^::1/.test(address));
  if (secret !== undefined || local.length === 0)
    return { part: PART, state: "ok", detail: `trusts the headers of ${addresses.join(", ")}` };
  return {
    part: PART,
    state: "warning",
    detail: `trusts the headers of every program on this machine (${local.join(", ")})`,
    remedy: "Set gateway.auth.proxy.secret, and let the proxy send it.",
  };
}
