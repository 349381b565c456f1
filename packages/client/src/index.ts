export type * from "@signalbox/protocol";
export { defaultAgent } from "@signalbox/protocol";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { ChatOptions, Connection, ConnectionState, ConnectOptions, Outgoing } from "./connection.ts";
export { ClientError, isClientError } from "./errors.ts";
export type { HttpApi } from "./http.ts";
export { newId } from "./id.ts";
export { signInAddress, signInSecret } from "./sign-in-link.ts";
export type { WebSocketConstructor, WebSocketLike } from "./socket.ts";
