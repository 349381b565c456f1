// The parts of the vendor's SDK that the build bundles into this package: its long connection, one percent of it. A
// separate file, so that it is loaded only when an account connects.
export { EventDispatcher, WSClient } from "@larksuiteoapi/node-sdk";
