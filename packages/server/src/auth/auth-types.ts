import type { AccessStore } from "@signalbox/store/types";
import type { Logger } from "../logger.ts";
import type { Access, AuthResult, Peer } from "./access.ts";
import type { BrowserSignIns, SignInEvent } from "./browser-sign-ins.ts";
import type { OidcSignIn } from "./oidc/oidc-sign-in.ts";
import type { RequestHeaders } from "./proxy-identity.ts";
import type { LinkSecret, LinkValues } from "./sign-in-links.ts";
import type { SignInSettings } from "./sign-in-settings.ts";

export type MonitoringResult = "granted" | "refused" | "throttled" | "forbidden";

/** The parts of a request that authenticate it. */
export interface Credentials extends Peer {
  readonly authorization?: string;
  readonly cookie?: string;
  /** The half of a session that is not in the cookie. */
  readonly sessionKey?: string;
  /** All headers, among them those of a trusted proxy. */
  readonly headers?: RequestHeaders;
}

/** Checks tokens and sessions. */
export interface Auth {
  /** Checks an `Authorization` header or both halves of a session. */
  check(credentials: Credentials): Promise<AuthResult>;
  /** Checks a bearer token against `secret`. Without `secret`, it must be an owner's token. */
  checkSecret(
    credentials: Peer & Pick<Credentials, "authorization">,
    secret: string | undefined,
  ): Promise<AuthResult>;
  /** Checks a request for metrics, which needs a token with the role `monitor` or with the scope `read`. */
  checkMonitoring(credentials: Credentials): Promise<MonitoringResult>;
  /** Opens, lists and ends browser sessions. */
  readonly browsers: BrowserSignIns;
  /** Sign-in at the OpenID provider. */
  readonly oidc: OidcSignIn;
  /** Creates a link that signs a browser in once, with the permissions of `access`. */
  issueLink(access: Access): Promise<LinkSecret>;
  /** Checks that a credential is still valid. Does not extend its session. */
  isGood(access: Access): Promise<boolean>;
  /** Extends the session of a credential. */
  used(access: Access): Promise<void>;
  /** Applies changed settings to people whom the provider or a proxy has authenticated. */
  applySettings(): Promise<void>;
}

export interface AuthOptions {
  /** The gateway's own token. */
  readonly token: string;
  readonly store: AccessStore;
  /** Stores sign-in links, unfinished sign-ins, details of sessions and the groups of people. */
  readonly kv: LinkValues;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Called when a browser signs in or out. */
  readonly onSignIn?: (event: SignInEvent) => void;
  /** Returns the current settings. Default: only tokens and links. */
  readonly settings?: () => SignInSettings;
  /** Returns the address at which browsers reach the gateway. The OpenID provider sends them back to it. */
  readonly publicUrl?: () => string;
  readonly logger?: Pick<Logger, "warn">;
  /** Returns numbers in [0, 1), for the throttle. Default `Math.random`. */
  readonly random?: () => number;
}
