import type { ApiRoute } from "./api-route.ts";
import { LoginRequest, Me, OidcLogin, OidcRedirect, SignedIn, SignedOut, SignInMethods } from "./bodies.ts";
import { SignInLink } from "./owner-bodies.ts";

/** Routes of the sign-in of browsers. Part of `API_ROUTES`. */
export const SIGN_IN_ROUTES: readonly ApiRoute[] = [
  {
    method: "POST",
    path: "/api/login",
    summary: "Sign in with a token or a sign-in link. Sets the cookie of the session.",
    access: "public",
    body: LoginRequest,
    response: SignedIn,
  },
  {
    method: "GET",
    path: "/api/sign-in-methods",
    summary: "Return the sign-ins that the gateway offers to browsers.",
    access: "public",
    response: SignInMethods,
  },
  {
    method: "POST",
    path: "/api/login/oidc",
    summary: "Start a sign-in at the OpenID provider. Sets a cookie that binds the sign-in to the browser.",
    access: "public",
    body: OidcLogin,
    response: OidcRedirect,
    errors: {
      404: "No OpenID provider is configured.",
      409: "The page was not opened at the public address of the gateway.",
      503: "The OpenID provider cannot be reached.",
    },
  },
  {
    method: "POST",
    path: "/api/login/proxy",
    summary: "Sign in as the user whom a trusted proxy names. Sets the cookie of the session.",
    access: "public",
    response: SignedIn,
  },
  {
    method: "POST",
    path: "/api/logout",
    summary: "End the session.",
    access: "client",
    response: SignedOut,
  },
  {
    method: "POST",
    path: "/api/sign-in-links",
    summary: "Create a link that signs a browser in once. Requires the token itself, not a session.",
    access: "owner",
    response: SignInLink,
  },
  {
    method: "GET",
    path: "/api/me",
    summary: "Return the authenticated user and the agents.",
    access: "client",
    response: Me,
  },
];
