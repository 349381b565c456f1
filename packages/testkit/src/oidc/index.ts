export { createTestBrowser, type TestBrowser } from "./browser.ts";
export {
  type FakeOidcProvider,
  type FakeOidcProviderOptions,
  type FakePerson,
  type Forgery,
  startFakeOidcProvider,
} from "./fake-oidc-provider.ts";
