import { z } from "zod";
import { names, webAddress } from "./values.ts";

/** Groups of people who get a role. */
const groups = names.default([]);

const ADDRESS = [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()];

/** An address such as `10.0.0.7`, or a network such as `10.0.0.0/8`. A prefix of 0 would trust everyone. */
const proxyAddress = z
  .string()
  .refine(
    (text) => ADDRESS.some((kind) => kind.safeParse(text).success),
    "must be an IP address or a network such as 10.0.0.0/8",
  )
  .refine((text) => !text.endsWith("/0"), "would trust every address; list those of the proxy only");

const headerName = z.string().regex(/^[A-Za-z0-9-]+$/, "must be the name of a header");

const oidcSchema = z
  .strictObject({
    issuer: webAddress
      .refine(isProtected, "must start with https://, except on this machine")
      .describe(
        "The address of the provider. The gateway reads `/.well-known/openid-configuration` below it.",
      ),
    clientId: z.string().min(1).describe("The id of the gateway at the provider."),
    clientSecret: z
      .string()
      .min(1)
      .optional()
      .describe("The secret of the gateway at the provider. Without it, the gateway is a public client."),
    label: z
      .string()
      .min(1)
      .max(60)
      .default("SSO")
      .describe("The name of the provider on the button of the sign-in page."),
    scopes: names
      .default(["openid", "profile", "email"])
      .refine((scopes) => scopes.includes("openid"), "must contain openid")
      .describe("The scopes to request. Some providers need `groups` to send the groups."),
    groupsClaim: z
      .string()
      .min(1)
      .default("groups")
      .describe(
        "The claim with the groups. A name with dots, such as `realm_access.roles`, may lead into an object.",
      ),
    sessionHours: z
      .number()
      .positive()
      .max(168)
      .default(12)
      .describe("Time after which a browser must sign in again, which also reads the groups again."),
    audience: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The audience of access tokens (JWT) of the provider that API clients may send. It must differ from `clientId`. Without it, the gateway accepts none.",
      ),
  })
  .refine(({ audience, clientId }) => audience !== clientId, {
    path: ["audience"],
    message: "must differ from clientId, because ID tokens have the client id as their audience",
  })
  .describe("Sign-in at an OpenID Connect provider.");

const proxySchema = z
  .strictObject({
    addresses: z
      .array(proxyAddress)
      .min(1)
      .describe("The addresses or networks of the proxy. Headers from other addresses are ignored."),
    type: z
      .enum(["oauth2-proxy", "authelia"])
      .default("oauth2-proxy")
      .describe(
        "The default header names: `X-Forwarded-User` and `X-Forwarded-Groups` of `oauth2-proxy`, or `Remote-User` and `Remote-Groups` of `authelia`.",
      ),
    secret: z
      .string()
      .min(16)
      .optional()
      .describe(
        "A secret that the proxy sends in the header `Signalbox-Proxy-Secret`. Set it if other programs can connect from an address of the proxy, as on the same machine.",
      ),
    userHeader: headerName.optional().describe("The header with the name of the user."),
    groupsHeader: headerName.optional().describe("The header with the groups, separated by commas."),
    signOutUrl: webAddress.optional().describe("The address at which the proxy ends its own session."),
  })
  .describe("Sign-in by the headers of a trusted proxy, which must remove these headers from requests.");

/** Credentials that browsers and API clients can use. */
export const authSchema = z.strictObject({
  token: z
    .string()
    .min(16)
    .optional()
    .describe(
      "The token that clients must send; can also be set with `SIGNALBOX_TOKEN`. By default, the first start creates one and stores it in the file `token`.",
    ),
  tokenSignIn: z
    .boolean()
    .default(true)
    .describe(
      "Whether browsers may sign in with a token. Links of `signalbox link` always work, and so do tokens of programs.",
    ),
  roles: z
    .strictObject({ owner: groups, operator: groups, viewer: groups, member: groups, monitor: groups })
    .prefault({})
    .describe(
      "The groups whose people get each role when they sign in at the provider or through the proxy. A person in groups of several roles gets the first one of this order. A person without a role is refused.",
    ),
  oidc: oidcSchema.optional(),
  proxy: proxySchema.optional(),
});

/** Returns true if an address uses TLS or does not leave this machine. */
function isProtected(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
