import type { SIGN_IN_ATTACKS } from "./attacks.ts";

/** A check of the sign-in, the change of the sources that removes it, and the attack that succeeds without it. */
export interface SignInDefence {
  readonly attack: (typeof SIGN_IN_ATTACKS)[number]["name"];
  /** File under `packages/mcp/src/sign-in`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const SIGN_IN_DEFENCES: readonly SignInDefence[] = [
  {
    attack: "a foreign authorization server",
    file: "provider.ts",
    from: "if (isOwn || (",
    to: "if (true || isOwn || (",
  },
  {
    attack: "an issuer that differs",
    file: "provider.ts",
    from: "if (!isOfServer && !isSameIssuer(metadata.issuer, issuer))",
    to: "if (false)",
  },
  {
    attack: "a token endpoint without encryption",
    file: "provider.ts",
    from: "if (endpoint !== undefined) assertSafeEndpoint(new URL(endpoint), serverUrl);",
    to: "void endpoint;",
  },
  {
    attack: "giant metadata",
    file: "oauth-fetch.ts",
    from: "const MAX_RESPONSE_BYTES = 200_000;",
    to: "const MAX_RESPONSE_BYTES = 900_000_000;",
  },
  {
    attack: "metadata of the resource at a private address",
    file: "probe.ts",
    from: "resourceMetadataUrl: isOwn ? resourceMetadataUrl : undefined,",
    to: "resourceMetadataUrl,",
  },
  {
    attack: "mix-up: the code of another authorization server",
    file: "sign-in.ts",
    from: "if (iss === null ? mustName : !isSameIssuer(iss, issuer))",
    to: "if (mustName === undefined)",
  },
  {
    attack: "a state that is used twice",
    file: "sign-in.ts",
    from: "      pending.delete(state);\n      if (found",
    to: "      if (found",
  },
  {
    attack: "endless refresh",
    file: "token-source.ts",
    from: "const MAX_REJECTED = 3;",
    to: "const MAX_REJECTED = 9_999;",
  },
];
