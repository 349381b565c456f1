export {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from "./authorization-server.ts";
export { type FakeMcpServer, type FakeMcpServerOptions, startFakeMcpServer } from "./protected-server.ts";
